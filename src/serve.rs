//! The reference server: fifteen tools behind one gate, over stdio and HTTP, in both protocol eras.

pub mod audit;
mod budget;
mod confirm;
pub mod demo;
mod digest;
pub mod gate;
mod git_settings;
pub(crate) use git_settings::apply as isolate_git;
mod grant;
pub mod http;
mod limits;
pub mod mislabel;
mod places;
mod resources;
mod seconds;
mod signals;
pub mod stdio;
pub mod tokens;

use std::{path::PathBuf, sync::Arc};

use clap::Args;
use tokio_util::sync::CancellationToken;

use audit::Audit;
pub(crate) use gate::is_modern;
pub use gate::{Gate, House};
pub use grant::{Grant, Principal};
use http::Bound;
pub use limits::Limits;
use mislabel::{Lie, Lies, Mislabelled};
use resources::Own;
pub use resources::ResourceOptions;
pub use signals::Signals;

/// The options of `candor serve`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    resources: ResourceOptions,

    /// What the caller may do: `all`, `read` (the scopes that end in :read), or scopes with commas
    /// between
    #[arg(long, value_name = "SCOPE,…")]
    grant: Option<Grant>,

    /// Append a line about each call to this file; it must lie outside everything that tools see
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,

    /// Serve protocol 2026-07-28 alone
    #[arg(long)]
    modern_only: bool,

    /// Plant a lie in what tools/list says, and nowhere else
    #[arg(long, value_name = "TOOL.HINT=VALUE")]
    mislabel: Vec<Lie>,

    #[command(flatten)]
    http: http::HttpOptions,

    #[command(flatten)]
    limits: Limits,
}

/// Serve until the client leaves or the process is told to stop.
///
/// # Errors
///
/// Whatever keeps the server from starting, naming the option and what to do.
pub fn run(options: Options) -> Result<(), Box<dyn std::error::Error>> {
    report_panics_without_values();
    git_settings::apply(options.limits.call_seconds.0)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(serve(options));
    // A blocking read of standard input can't be interrupted, and must not hold the process.
    runtime.shutdown_timeout(std::time::Duration::from_millis(100));
    outcome
}

async fn serve(options: Options) -> Result<(), Box<dyn std::error::Error>> {
    let Options { resources, grant, audit, modern_only, http, mislabel, limits } = options;
    let signals = Signals::listen()?;
    // Before the tools are opened: `fetch_url` must know this address to stay away from it.
    let bound = http.bind(grant.as_ref()).await?;
    let files = [("--audit", audit.as_deref()), ("--tokens", http.tokens())];
    let own = Own {
        files: files.into_iter().filter_map(|(option, file)| Some((option, file?))).collect(),
        address: bound.as_ref().map(Bound::address),
        hosts: http.hosts(),
    };
    let resources = resources.open(own)?;
    let audit = match &audit {
        Some(file) => Audit::to_file(file)?,
        None => Audit::default(),
    };
    let lies = Lies::from(mislabel);
    let house = Arc::new(House::new(candor_tools::inventory(), resources.toolbox, audit.clone(), limits, modern_only)?);
    let outcome = match bound {
        Some(bound) => bound.serve(house, lies, signals).await,
        None => on_stdio(house, grant, lies, signals).await,
    };
    audit.flush().await?;
    outcome
}

/// Serve until the client leaves or the process is told to stop. Then running calls may end; told a
/// second time, end at once.
async fn on_stdio(
    house: Arc<House>,
    grant: Option<Grant>,
    lies: Lies,
    mut signals: Signals,
) -> Result<(), Box<dyn std::error::Error>> {
    let caller = Arc::new(Principal::new("local", grant.unwrap_or_else(Grant::read), house.limits()));
    let Limits { message_bytes, drain_seconds, .. } = *house.limits();
    let stop = CancellationToken::new();
    let serving = stdio::serve(
        || Mislabelled::new(Gate::on_stdio(house.clone(), caller.clone()), lies.clone()),
        message_bytes,
        stop.clone(),
    );
    let told = async {
        signals.next().await;
        stop.cancel();
        let _ = tokio::time::timeout(drain_seconds.0, signals.next()).await;
    };
    tokio::select! {
        outcome = serving => Ok(outcome?),
        () = told => Ok(()),
    }
}

/// The default hook prints the message of a panic, which may hold a caller's values, past the log.
fn report_panics_without_values() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "panic");
    }));
}
