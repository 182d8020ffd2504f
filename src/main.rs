//! Arguments, logging to standard error, and which instrument plays.
#![expect(clippy::print_stderr, reason = "what keeps a command from running is told on standard error")]

use std::{
    ffi::OsString,
    io::{ErrorKind, Write},
    path::PathBuf,
    process::ExitCode,
};

use candor::{
    approval, catalog, serve,
    verify::{self, listener, world::databases},
};
use clap::{Args, CommandFactory, Parser, Subcommand};
use tracing_subscriber::EnvFilter;

/// MCP tool annotations that tell the truth
#[derive(Parser)]
#[command(name = "candor", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve the fifteen annotated tools over stdio, or over HTTP with --http
    Serve(Box<serve::Options>),
    /// Call a server's tools in copies of a world, and compare what changes with its hints
    Verify(Box<verify::Options>),
    /// Print the tools with their annotations, scopes and files
    Tools(ToolsArgs),
    /// Lay out the demo workspace in a directory of your own
    Demo {
        /// A directory that is empty or does not exist yet
        dir: PathBuf,
    },
    /// Make tokens for --tokens
    #[command(subcommand)]
    Token(TokenCommand),
    /// Print a shell's completions to standard output
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual to standard output, in roff
    Man,
    /// Hold a lock on a database until standard input ends: for worlds of `verify`
    #[command(name = "__hold-lock", hide = true)]
    HoldLock { database: PathBuf },
    /// Become a server whose system calls are seen: for `verify`
    #[command(name = "__listen", hide = true)]
    Listen {
        socket: PathBuf,
        #[arg(last = true)]
        command: Vec<OsString>,
    },
}

#[derive(Args)]
struct ToolsArgs {
    /// As JSON: each tool as clients see it, with its scope and its file, what a client should do
    /// with it, and what known clients would do if one of its hints were false
    #[arg(long)]
    json: bool,
    /// As the table in the README
    #[arg(long, conflicts_with_all = ["json", "decisions"])]
    markdown: bool,
    /// What a client should do with each combination of hints, and what known clients do; with
    /// --json for programs
    #[arg(long)]
    decisions: bool,
}

#[derive(Subcommand)]
enum TokenCommand {
    /// Print a new token, and the lines for the tokens file that let it in
    New(serve::tokens::New),
}

fn main() -> ExitCode {
    // While there is one thread: a box leaves namespaces, and forks.
    #[cfg(target_os = "linux")]
    if verify::sandbox::is_wanted() {
        return verify::sandbox::enter(listener::install);
    }
    let cli = Cli::parse();
    log_to_stderr();
    match run(cli.command) {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            eprintln!("candor: {error}");
            ExitCode::from(2)
        }
    }
}

/// Returns the exit status.
fn run(command: Command) -> Result<u8, Box<dyn std::error::Error>> {
    match command {
        Command::Verify(options) => {
            return verify::verify(&options).map_err(|error| -> Box<dyn std::error::Error> { error });
        }
        Command::Serve(options) => serve::run(*options),
        Command::Tools(ToolsArgs { json, markdown, decisions }) => {
            let (_, tools) = candor_tools::inventory();
            print(&match (json, markdown, decisions) {
                (true, _, true) => format!("{:#}\n", approval::json()),
                (_, _, true) => approval::table(),
                (true, ..) => format!("{:#}\n", catalog::json(&tools)),
                (_, true, _) => catalog::markdown(&tools),
                _ => catalog::table(&tools),
            })
        }
        Command::Demo { dir } => print(&serve::demo::lay_out(&dir)?.to_string()),
        Command::Token(TokenCommand::New(new)) => print(&new.make()?),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "candor", &mut script);
            print(&String::from_utf8(script)?)
        }
        Command::Man => print(&manual()?),
        Command::HoldLock { database } => databases::hold(&database),
        Command::Listen { socket, command } => Err(listener::enter(&socket, &command).into()),
    }?;
    Ok(0)
}

/// One page for candor, and one for each of its commands after it.
fn manual() -> Result<String, Box<dyn std::error::Error>> {
    let mut pages = Vec::new();
    let mut command = Cli::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(&mut pages)?;
    for part in command.get_subcommands().filter(|part| !part.is_hide_set() && part.get_name() != "help") {
        clap_mangen::Man::new(part.clone()).render(&mut pages)?;
    }
    Ok(String::from_utf8(pages)?)
}

/// To standard output; a reader who has seen enough is no failure.
fn print(text: &str) -> Result<(), Box<dyn std::error::Error>> {
    let mut output = std::io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Standard output belongs to the transport. `CANDOR_LOG` takes a filter such as `debug`; rmcp
/// logs whole messages from `debug` on and answers that repeat a caller's text as warnings, so it
/// stays at errors unless named.
fn log_to_stderr() {
    let filter = EnvFilter::try_from_env("CANDOR_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let filter = match "rmcp=error".parse() {
        Ok(quiet) if std::env::var("CANDOR_LOG").is_ok_and(|filter| filter.contains("rmcp")) => {
            let _: tracing_subscriber::filter::Directive = quiet;
            filter
        }
        Ok(quiet) => filter.add_directive(quiet),
        Err(_) => filter,
    };
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .without_time()
        .with_target(false)
        .init();
}
