//! Which calls are made.

use super::{Failure, Options, roads::Road};
use crate::{
    hints::DeclaredTool,
    verify::{Case, World, builders, case, ours},
};

/// The calls of a run, and the tools that nothing is called with, with the reason.
pub(super) type Calls = (Vec<Case>, Vec<(String, String)>);

impl Options {
    /// Those of the case files, if there are any, or else our own for our own server in our own
    /// worlds. For what is left, arguments are made; but never for a server elsewhere.
    pub(super) async fn cases(
        &self,
        tools: &[DeclaredTool],
        worlds: &[World],
        roads: &[Road],
    ) -> Result<Calls, Failure> {
        if self.lint {
            return Ok(Calls::default());
        }
        let mut cases = self.written(tools, worlds)?;
        let named: Vec<String> = cases.iter().map(|case| case.tool.clone()).collect();
        cases.retain(|case| worlds.iter().any(|world| case.runs_in(&world.name)));
        let left = |tool: &&DeclaredTool| !cases.iter().any(|case| case.tool == tool.name);
        let left: Vec<DeclaredTool> = tools.iter().filter(left).cloned().collect();
        if !self.case.is_empty() || self.url.is_some() {
            let why = |tool: &DeclaredTool| {
                if named.contains(&tool.name) { "its cases are for other worlds" } else { "no case names it" }
            };
            let uncalled = left.iter().map(|tool| (tool.name.clone(), why(tool).to_owned())).collect();
            return Ok((cases, uncalled));
        }
        let (Some(world), Some(road), false) = (worlds.first(), roads.first(), left.is_empty()) else {
            return Ok((cases, Vec::new()));
        };
        let (made, uncalled) = self.explore(&left, world, road).await?;
        cases.extend(made);
        Ok((cases, uncalled))
    }

    fn written(&self, tools: &[DeclaredTool], worlds: &[World]) -> Result<Vec<Case>, Failure> {
        if self.case.is_empty() {
            let ours = self.is_ours() && !self.served.names_resources();
            return if ours { Ok(ours::cases()?) } else { Ok(Vec::new()) };
        }
        let mut cases = Vec::new();
        // A case may be meant for a world of ours that this run doesn't go to.
        let known: Vec<String> = builders::builders().into_iter().map(|world| world.name).collect();
        let names = worlds.iter().map(|world| world.name.as_str());
        let names: Vec<&str> =
            if self.is_ours() { names.chain(known.iter().map(String::as_str)).collect() } else { names.collect() };
        for path in &self.case {
            let file = case::read(path)?;
            file.check(tools, &names)?;
            cases.extend(file.cases);
        }
        Ok(cases)
    }
}
