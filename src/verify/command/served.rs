//! The options of `candor serve` that `candor verify` takes too, and hands on as they are written.

use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches, parser::ValueSource};

use crate::serve;

/// What `verify` decides by itself; and a log that all trials would write.
const UNTAKEN: [&str; 5] = ["http", "tokens", "allow_host", "allow_origin", "audit"];

/// What a resource is called in a copy of a world, by its option.
const PLACES: [(&str, &str); 4] =
    [("--repo", "repo"), ("--notes", "notes"), ("--database", "database.db"), ("--reports", "reports.db")];

/// Options with their values, in the order of the help.
#[derive(Clone, Debug, Default)]
pub(super) struct Served(Vec<(String, Option<String>)>);

impl Served {
    /// The last value of an option.
    pub(super) fn value(&self, option: &str) -> Option<&str> {
        self.0.iter().rev().find(|(name, _)| name == option)?.1.as_deref()
    }

    pub(super) fn has(&self, option: &str) -> bool {
        self.0.iter().any(|(name, _)| name == option)
    }

    /// Whether something is named for the tools to act on.
    pub(super) fn names_resources(&self) -> bool {
        PLACES.iter().any(|(option, _)| self.has(option))
    }

    /// The repository that the branch tools act on, if they have one, as the server will be told.
    pub(super) fn repository(&self) -> Option<String> {
        match self.value("--repo") {
            Some(place) if place.contains("{world}") => Some(place.to_owned()),
            None if self.names_resources() => None,
            _ => Some("{world}/repo".to_owned()),
        }
    }

    /// What is named without `{world}`, and so has to be copied: the name in the copy, and the
    /// place.
    pub(super) fn outside(&self) -> Vec<(&'static str, &str)> {
        let named = PLACES.iter().filter_map(|(option, name)| Some((*name, self.value(option)?)));
        named.filter(|(_, place)| !place.contains("{world}")).collect()
    }

    /// As they are handed on, without the grant. What [`outside`](Self::outside) names is meant in
    /// the copy.
    pub(super) fn words(&self) -> Vec<String> {
        let word = |(option, value): &(String, Option<String>)| {
            let copied = PLACES.iter().find(|(resource, _)| resource == option);
            match (copied, value) {
                (Some((_, name)), Some(place)) if !place.contains("{world}") => format!("{option}={{world}}/{name}"),
                (_, Some(value)) => format!("{option}={value}"),
                (_, None) => option.clone(),
            }
        };
        self.0.iter().filter(|(option, _)| option != "--grant").map(word).collect()
    }
}

fn taken() -> Vec<Arg> {
    let serve = serve::Options::augment_args(Command::new("serve"));
    serve.get_arguments().filter(|argument| !UNTAKEN.contains(&argument.get_id().as_str())).cloned().collect()
}

impl Args for Served {
    fn augment_args(command: Command) -> Command {
        taken().into_iter().fold(command, |command, argument| {
            let heading = "Our own server, as for `candor serve`";
            let is_limit = !argument.get_default_values().is_empty();
            let argument = argument.conflicts_with_all(["command", "url"]).help_heading(heading);
            command.arg(argument.hide_short_help(is_limit))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Served {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut options = Vec::new();
        for argument in taken() {
            let id = argument.get_id().as_str();
            if matches.value_source(id) != Some(ValueSource::CommandLine) {
                continue;
            }
            let option = format!("--{}", argument.get_long().unwrap_or(id));
            if argument.get_action().takes_values() {
                let values = matches.get_raw(id).into_iter().flatten();
                options.extend(values.map(|value| (option.clone(), Some(value.to_string_lossy().into_owned()))));
            } else {
                options.push((option, None));
            }
        }
        Ok(Self(options))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
