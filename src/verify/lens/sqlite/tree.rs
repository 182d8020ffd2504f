//! B-trees of a database file: which pages belong to which, and what their cells point at.

use super::pages::{Pages, u16_at, u32_at, varint_at};

const INTERIOR_INDEX: u8 = 2;
const INTERIOR_TABLE: u8 = 5;
const LEAF_INDEX: u8 = 10;
const LEAF_TABLE: u8 = 13;

/// The pages of one b-tree.
#[derive(PartialEq, Eq)]
pub(super) struct Tree {
    /// Pages above the leaves.
    pub(super) interior: Vec<u32>,
    /// Leaves, in the order of their keys.
    pub(super) leaves: Vec<u32>,
    /// Whether rows are found by a number: an ordinary table. An index and a table without row
    /// numbers keep cells in all their pages.
    pub(super) has_row_numbers: bool,
}

impl Tree {
    /// All leaves are equally deep, so none of them is read but the first.
    pub(super) fn read(pages: &mut Pages, root: u32) -> Option<Self> {
        let mut tree = Self { interior: Vec::new(), leaves: vec![root], has_row_numbers: false };
        let mut kind = Node::read(pages, root)?.kind;
        tree.has_row_numbers = matches!(kind, INTERIOR_TABLE | LEAF_TABLE);
        let (interior, leaf) =
            if tree.has_row_numbers { (INTERIOR_TABLE, LEAF_TABLE) } else { (INTERIOR_INDEX, LEAF_INDEX) };
        while kind == interior {
            let mut below = Vec::new();
            for page in std::mem::take(&mut tree.leaves) {
                let node = Node::read(pages, page)?;
                if node.kind != interior {
                    return None;
                }
                node.each_child(|child| below.push(child))?;
                tree.interior.push(page);
            }
            // A page that is its own descendant would go on for ever.
            if tree.interior.len() + below.len() > usize::try_from(pages.count()).ok()? {
                return None;
            }
            kind = Node::read(pages, *below.first()?)?.kind;
            tree.leaves = below;
        }
        (kind == leaf).then_some(tree)
    }

    /// Pages with cells that carry content.
    pub(super) fn contents(&self) -> impl Iterator<Item = u32> {
        let interior: &[u32] = if self.has_row_numbers { &[] } else { &self.interior };
        interior.iter().chain(&self.leaves).copied()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = u32> {
        self.interior.iter().chain(&self.leaves).copied()
    }
}

/// One page of a b-tree.
pub(super) struct Node {
    kind: u8,
    bytes: Vec<u8>,
    /// Where its own header begins; the first page begins with that of the file.
    start: usize,
    cells: u16,
}

impl Node {
    pub(super) fn read(pages: &mut Pages, page: u32) -> Option<Self> {
        let bytes = pages.read(page)?;
        let start = if page == 1 { 100 } else { 0 };
        Some(Self { kind: *bytes.get(start)?, cells: u16_at(&bytes, start + 3)?, start, bytes })
    }

    fn cell(&self, index: u16) -> Option<usize> {
        let header = if matches!(self.kind, INTERIOR_INDEX | INTERIOR_TABLE) { 12 } else { 8 };
        u16_at(&self.bytes, self.start + header + 2 * usize::from(index)).map(usize::from)
    }

    fn each_child(&self, mut tell: impl FnMut(u32)) -> Option<()> {
        for index in 0..self.cells {
            tell(u32_at(&self.bytes, self.cell(index)?)?);
        }
        tell(u32_at(&self.bytes, self.start + 8)?);
        Some(())
    }

    /// The least and the greatest row number of a leaf of a table, if it has rows.
    pub(super) fn row_numbers(&self) -> Option<Vec<(i64, i64)>> {
        let number = |index| {
            let (_, after_size) = varint_at(&self.bytes, self.cell(index)?)?;
            varint_at(&self.bytes, after_size).map(|(number, _)| number.cast_signed())
        };
        match (self.kind, self.cells.checked_sub(1)) {
            (LEAF_TABLE, None) => Some(Vec::new()),
            (LEAF_TABLE, Some(last)) => Some(vec![(number(0)?, number(last)?)]),
            _ => None,
        }
    }

    /// The first page of each chain that holds the rest of a cell (section 1.6 of the format).
    pub(super) fn overflows(&self, usable: u32) -> Option<Vec<u32>> {
        let usable = u64::from(usable);
        let least = (usable - 12) * 32 / 255 - 23;
        let most = if self.kind == LEAF_TABLE { usable - 35 } else { (usable - 12) * 64 / 255 - 23 };
        let mut found = Vec::new();
        for index in 0..self.cells {
            let cell = self.cell(index)? + if self.kind == INTERIOR_INDEX { 4 } else { 0 };
            let (size, mut content) = varint_at(&self.bytes, cell)?;
            if self.kind == LEAF_TABLE {
                (_, content) = varint_at(&self.bytes, content)?;
            }
            if size > most {
                let local = Some(least + (size - least) % (usable - 4)).filter(|local| *local <= most);
                let local = usize::try_from(local.unwrap_or(least)).ok()?;
                found.push(u32_at(&self.bytes, content.checked_add(local)?)?);
            }
        }
        Some(found)
    }
}
