//! The ways to the server: transport, protocol era and target.

use std::fs;

use tempfile::TempDir;

use super::{
    Failure, NOBODY, Options, boxed,
    rung::{self, Rung},
    runners::Runner,
};
use crate::{
    hints::DeclaredTool,
    serve::{Grant, tokens::New},
    verify::{World, ours, report::Server},
    wire::{Connection, Era, Target, WireError},
};

/// One way to reach the server.
#[derive(Clone, Debug)]
pub(super) struct Road {
    pub(super) transport: &'static str,
    pub(super) era: Era,
    pub(super) target: Target,
    /// How much is seen on it.
    pub(super) rung: Rung,
}

impl Options {
    /// The ways to try. A server of somebody else speaks one era or the other; ours speaks both.
    pub(super) async fn roads(&self, tokens: &TempDir, rung: Rung) -> Result<Vec<Road>, Failure> {
        let both = |transport, target: Target| {
            let road = |era| Road { transport, era, target: target.clone(), rung };
            Ok([Era::Legacy, Era::Modern].map(road).to_vec())
        };
        if let Some(url) = &self.url {
            return both("http", Target::Http { url: url.clone(), headers: self.header.clone() });
        }
        if self.command.is_empty() {
            return self.ours(tokens, rung);
        }
        let env = match Runner::of(&self.command) {
            Some(runner) if matches!(rung, Rung::Box { .. }) => runner.prepare().await?,
            _ => Vec::new(),
        };
        both("stdio", Target::Stdio { command: self.command.clone(), env, dir: None })
    }

    fn ours(&self, tokens: &TempDir, rung: Rung) -> Result<Vec<Road>, Failure> {
        let candor = std::env::current_exe()?.to_string_lossy().into_owned();
        let grant = self.served.value("--grant").unwrap_or("all");
        let file = tokens.path().join("tokens.toml");
        let token = New::lasting("verify", grant.parse::<Grant>()?).make()?;
        fs::write(&file, &token)?;
        let secret = token.lines().find_map(|line| line.strip_prefix("# candor_")).ok_or("no token")?;
        let mut words = if self.served.names_resources() { Vec::new() } else { ours::demo() };
        words.extend(self.served.words());
        let stdio = ours::on_stdio(&candor, &words, grant);
        let stdio = |era| Road { transport: "stdio", era, target: stdio.clone(), rung };
        let port = if matches!(rung, Rung::Box { .. }) { boxed::SERVED } else { 0 };
        let target = ours::on_http(&candor, &words, port, &file, &format!("candor_{secret}"));
        let mut roads = vec![stdio(Era::Modern), Road { transport: "http", era: Era::Modern, target, rung }];
        if !self.served.has("--modern-only") {
            roads.push(stdio(Era::Legacy));
        }
        Ok(roads)
    }

    /// Start the server once, to learn its name, its tools, and which ways lead to it.
    pub(super) async fn introduce(
        &self,
        mut roads: Vec<Road>,
        world: &World,
    ) -> Result<(Server, Vec<DeclaredTool>, Vec<Road>), Failure> {
        let mut first = roads.first().ok_or("no way to the server")?;
        let seen = |road: &Road| -> Result<_, String> {
            let mut watch = road.rung.watch(world, None, self.allow.clone())?;
            let target = watch.seen(rung::target(road, watch.path(), NOBODY))?;
            Ok((watch, target))
        };
        let (mut watch, target) = seen(first)?;
        let mut opened = Connection::open(&target, first.era, &self.limits()).await;
        if let (Err(WireError::Era { .. } | WireError::Status { .. }), false, Some(second)) =
            (&opened, self.is_ours(), roads.get(1))
            && let (again, target) = seen(second)?
            && let Ok(connection) = Connection::open(&target, second.era, &self.limits()).await
        {
            (first, opened, watch) = (second, Ok(connection), again);
        }
        let mut connection = match opened {
            Ok(connection) => connection,
            // Why there is no box says more than that nobody answered.
            Err(error) => return Err(watch.look(&[]).err().unwrap_or_else(|| error.to_string()).into()),
        };
        let tools = connection.list().await;
        let name = connection.server().clone();
        connection.close().await;
        let command = match &first.target {
            Target::Stdio { command, .. } | Target::Serving { command, .. } => command.join(" "),
            Target::Http { url, .. } => without_secrets(url),
        };
        if !self.is_ours() {
            let era = first.era;
            roads.retain(|road| road.era == era);
        }
        let known = |text: String| Some(text).filter(|text| !text.is_empty());
        Ok((Server { name: known(name.name), version: known(name.version), command }, tools?, roads))
    }
}

/// An address without what may be a password or a key.
fn without_secrets(url: &str) -> String {
    let Ok(mut url) = reqwest::Url::parse(url) else { return String::new() };
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}
