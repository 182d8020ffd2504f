//! The tools of a server: as it lists them now, and as they were when the user trusted them.

use std::collections::HashMap;

use candor::hints::DeclaredTool;

/// Everything of a tool that the user goes by, as it was first seen.
type Seen = String;

/// The list, and what it is compared with.
#[derive(Default)]
pub(crate) struct Tools {
    now: Vec<DeclaredTool>,
    seen: Option<HashMap<String, Seen>>,
    changed: Vec<String>,
}

impl Tools {
    /// Take a new list. What is not as it was first seen, or is new, counts as changed until the user
    /// has been asked about it. So does a tool that one list describes twice.
    pub(crate) fn replace(&mut self, list: Vec<DeclaredTool>, compares: bool) {
        let mut first: HashMap<String, Seen> = HashMap::new();
        let mut twice = Vec::new();
        self.now.clear();
        for tool in list {
            match first.get(&tool.name) {
                None => {
                    first.insert(tool.name.clone(), seen(&tool));
                    self.now.push(tool);
                }
                // An announcement may stand on two pages, while the list moves under the cursor.
                Some(before) if *before == seen(&tool) => {}
                Some(_) if compares => twice.push(tool.name),
                Some(_) => {
                    self.now.retain(|known| known.name != tool.name);
                    self.now.push(tool);
                }
            }
        }
        let known = self.seen.get_or_insert_with(|| first.clone());
        if compares {
            self.changed = first
                .iter()
                .filter(|(name, now)| known.get(*name) != Some(now))
                .map(|(name, _)| name.clone())
                .collect();
            self.changed.extend(twice);
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&DeclaredTool> {
        self.now.iter().find(|tool| tool.name == name)
    }

    pub(crate) fn all(&self) -> &[DeclaredTool] {
        &self.now
    }

    pub(crate) fn has_changed(&self, name: &str) -> bool {
        self.changed.iter().any(|changed| changed == name)
    }

    /// The user has seen it as it is now.
    pub(crate) fn accept(&mut self, name: &str) {
        self.changed.retain(|changed| changed != name);
        if let (Some(tool), Some(seen_before)) = (self.now.iter().find(|tool| tool.name == name), &mut self.seen) {
            seen_before.insert(name.to_owned(), seen(tool));
        }
    }
}

fn seen(tool: &DeclaredTool) -> Seen {
    format!("{tool:?}")
}
