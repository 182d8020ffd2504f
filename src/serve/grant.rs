use std::{collections::BTreeSet, str::FromStr, sync::Arc};

use candor_tools::Scope;

use super::budget::Budget;

/// What a caller may do: a set of scopes that the operator wrote down. No hint is consulted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant(BTreeSet<Scope>);

impl Grant {
    /// The scopes whose names end in `:read`: what a caller gets who was granted nothing else.
    #[must_use]
    pub fn read() -> Self {
        Self(Scope::ALL.into_iter().filter(|scope| scope.reads_only()).collect())
    }

    /// Every scope.
    #[must_use]
    pub fn all() -> Self {
        Self(Scope::ALL.into_iter().collect())
    }

    /// Whether a tool that needs `scope` may run. The gate asks this before every call, and the
    /// HTTP transport asks it too, to answer 403 early.
    #[must_use]
    pub fn allows(&self, scope: Scope) -> bool {
        self.0.contains(&scope)
    }

    /// The scopes, in the order of the tools that need them.
    pub fn iter(&self) -> impl Iterator<Item = Scope> {
        self.0.iter().copied()
    }
}

impl FromIterator<Scope> for Grant {
    fn from_iter<I: IntoIterator<Item = Scope>>(scopes: I) -> Self {
        Self(scopes.into_iter().collect())
    }
}

/// `all`, `read`, or scopes with commas between.
impl FromStr for Grant {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Self::all()),
            "read" => Ok(Self::read()),
            scopes => scopes.split(',').map(|scope| scope.trim().parse()).collect(),
        }
    }
}

/// Who calls.
#[derive(Clone, Debug)]
pub struct Principal {
    /// Unique name; sessions, questions and budgets belong to it.
    pub name: String,
    /// Which token spoke for it: the first eight digits of the token's digest. None on stdio.
    pub token: Option<String>,
    /// What this caller may do.
    pub grant: Grant,
    /// What this caller may spend, shared by all tokens of the name.
    pub(crate) budget: Arc<Budget>,
}

impl Principal {
    /// A caller with a budget of its own.
    #[must_use]
    pub fn new(name: &str, grant: Grant, limits: &super::Limits) -> Self {
        Self { name: name.into(), token: None, grant, budget: Arc::new(Budget::new(limits)) }
    }
}
