//! The reference server: fifteen tools behind one gate, over stdio and HTTP, in both protocol eras.

pub mod audit;
mod budget;
mod confirm;
pub mod demo;
mod digest;
pub mod gate;
mod git_settings;
mod grant;
mod limits;
pub mod mislabel;
mod places;
mod resources;
pub mod stdio;
pub mod tokens;

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use clap::Args;

use audit::Audit;
pub(crate) use gate::is_modern;
pub use gate::{Gate, House};
pub use grant::{Grant, Principal};
pub use limits::Limits;
use mislabel::{Lie, Lies, Mislabelled};
pub use resources::ResourceOptions;

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

    /// Serve HTTP at <http://ADDR/mcp> instead of stdio; port 0 takes a free one
    #[arg(long, value_name = "ADDR")]
    http: Option<SocketAddr>,

    /// Plant a lie in what tools/list says, and nowhere else
    #[arg(long, value_name = "TOOL.HINT=VALUE")]
    mislabel: Vec<Lie>,

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
    git_settings::apply(options.limits.call_seconds)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(serve(options));
    // A blocking read of standard input can't be interrupted, and must not hold the process.
    runtime.shutdown_timeout(std::time::Duration::from_millis(100));
    outcome
}

async fn serve(options: Options) -> Result<(), Box<dyn std::error::Error>> {
    let Options { resources, grant, audit, modern_only, http, mislabel, limits } = options;
    let resources = resources.open()?;
    let audit = match &audit {
        Some(file) => Audit::to_file(file)?,
        None => Audit::default(),
    };
    let lies = Lies::from(mislabel);
    let caller = Arc::new(Principal::new("local", grant.unwrap_or_else(Grant::read), &limits));
    let house = Arc::new(House::new(candor_tools::inventory(), resources.toolbox, audit.clone(), limits, modern_only)?);
    let _ = http;
    let message_bytes = house.limits().message_bytes;
    let serving =
        stdio::serve(|| Mislabelled::new(Gate::on_stdio(house.clone(), caller.clone()), lies.clone()), message_bytes);
    let outcome = tokio::select! {
        outcome = serving => outcome,
        () = told_to_stop() => Ok(()),
    };
    audit.flush().await?;
    Ok(outcome?)
}

/// Resolves when the process is asked to end.
async fn told_to_stop() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}

/// The default hook prints the message of a panic, which may hold a caller's values, past the log.
fn report_panics_without_values() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(place, "panic");
    }));
}
