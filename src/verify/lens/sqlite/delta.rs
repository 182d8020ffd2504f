//! Which rows can differ, from which pages do: so that a comparison costs what the change costs.
//!
//! A leaf with the same number and the same bytes, that belongs to the same table before and
//! after, holds the same rows, unless a large value goes on in another page. So each changed page
//! must be known to be something else than the rest of a value of an unchanged leaf: a page of a
//! tree, a free one, one that its place explains, or the rest of a value of a changed leaf. If a
//! single page is not accounted for, everything is compared.

use std::{
    collections::{BTreeMap, HashSet},
    path::Path,
};

use super::{
    pages::Pages,
    tree::{Node, Tree},
};

/// Where rows of a table have to be looked at.
pub(super) enum Reach {
    /// Nowhere: its pages are the same.
    Nowhere,
    /// Between these row numbers, before and after.
    Between([Vec<(i64, i64)>; 2]),
    /// Everywhere.
    Everywhere,
}

/// The pages of two states of one database that differ, and whose they are.
pub(super) struct Delta {
    changed: HashSet<u32>,
    sides: [Side; 2],
    /// Whether each changed page is accounted for.
    is_complete: bool,
}

struct Side {
    pages: Pages,
    trees: BTreeMap<String, Tree>,
}

impl Delta {
    /// Compare two files, given the root page of each table and index. `None` if the files can't
    /// be compared page by page.
    pub(super) fn between(files: [&Path; 2], roots: [&BTreeMap<String, u32>; 2]) -> Option<Self> {
        let [before, after] = files.map(Pages::open);
        let (mut before, mut after) = (before?, after?);
        let changed = before.is_like(&after).then(|| before.difference(&mut after))??;
        let [before_roots, after_roots] = roots;
        let sides = [Side::read(before, before_roots)?, Side::read(after, after_roots)?];
        let mut delta = Self { changed, sides, is_complete: false };
        delta.is_complete = delta.accounts_for(0).is_some() && delta.accounts_for(1).is_some();
        Some(delta)
    }

    /// Whether the files hold the same bytes.
    pub(super) fn is_empty(&self) -> bool {
        self.changed.is_empty()
    }

    /// Where the rows of a table can differ that both states have.
    pub(super) fn reach(&mut self, table: &str) -> Reach {
        self.find(table).unwrap_or(Reach::Everywhere)
    }

    fn find(&mut self, table: &str) -> Option<Reach> {
        if self.changed.is_empty() {
            return Some(Reach::Nowhere);
        }
        let [before, after] = self.sides.each_ref().map(|side| side.trees.get(table));
        let (before, after) = (before?, after?);
        if !self.is_complete {
            return None;
        }
        if before == after && !before.all().any(|page| self.changed.contains(&page)) {
            return Some(Reach::Nowhere);
        }
        if !(before.has_row_numbers && after.has_row_numbers) {
            return None;
        }
        let stale = [stale(&self.changed, before, Some(after)), stale(&self.changed, after, Some(before))];
        let [before, after] = &mut self.sides;
        let [stale_before, stale_after] = stale;
        Some(Reach::Between([before.row_numbers(&stale_before)?, after.row_numbers(&stale_after)?]))
    }

    /// Whether each changed page that one side has is known for what it is there, and for one
    /// thing only.
    fn accounts_for(&mut self, which: usize) -> Option<()> {
        let [before, after] = &mut self.sides;
        let (side, other) = if which == 0 { (before, after) } else { (after, before) };
        let Side { pages, trees } = side;
        let is_open = |page: &u32| *page != 1 && *page <= pages.count() && !pages.is_fixed(*page);
        let mut open: HashSet<u32> = self.changed.iter().copied().filter(is_open).collect();
        let expected = open.clone();
        let mut is_clear = true;
        let mut account = |page: u32| is_clear &= !expected.contains(&page) || open.remove(&page);
        for (name, tree) in trees.iter() {
            tree.all().for_each(&mut account);
            for page in stale(&self.changed, tree, other.trees.get(name)) {
                for first in Node::read(pages, page)?.overflows(pages.usable())? {
                    pages.each_overflow(first, &mut account)?;
                }
            }
        }
        pages.each_free(&mut account)?;
        (is_clear && open.is_empty()).then_some(())
    }
}

impl Side {
    fn read(mut pages: Pages, roots: &BTreeMap<String, u32>) -> Option<Self> {
        let mut trees = BTreeMap::new();
        for (name, root) in roots {
            trees.insert(name.clone(), Tree::read(&mut pages, *root)?);
        }
        Some(Self { pages, trees })
    }

    fn row_numbers(&mut self, leaves: &[u32]) -> Option<Vec<(i64, i64)>> {
        let mut ranges = Vec::new();
        for page in leaves {
            ranges.extend(Node::read(&mut self.pages, *page)?.row_numbers()?);
        }
        Some(ranges)
    }
}

/// The pages of a tree whose content is not known to be that of the other state's tree.
fn stale(changed: &HashSet<u32>, tree: &Tree, other: Option<&Tree>) -> Vec<u32> {
    if Some(tree) == other {
        return tree.contents().filter(|page| changed.contains(page)).collect();
    }
    let kept: HashSet<u32> = other.into_iter().flat_map(Tree::contents).collect();
    tree.contents().filter(|page| changed.contains(page) || !kept.contains(page)).collect()
}
