//! Every case in every world that it is meant for.

use std::{path::Path, sync::Arc};

use futures::{StreamExt, stream};

use super::{
    IDLE, NOBODY, Options, QUIET,
    progress::Progress,
    roads::Road,
    rung::{self, Rung},
};
use crate::{
    verify::{Case, Observation, Plan, Watch, World, lens::network::Listener, run},
    wire::Era,
};

impl Options {
    /// The first case of a tool over each road in its first two worlds, so that each transport is
    /// seen in both; the other cases over two roads in the first world; and whatever remains over
    /// one road after the other.
    pub(super) async fn trials(&self, cases: &[Case], worlds: &[World], roads: &[Road]) -> Vec<Observation> {
        let mut plans = Vec::new();
        for (number, case) in cases.iter().enumerate() {
            let leads = !cases.iter().take(number).any(|other| other.tool == case.tool);
            for (at, world) in worlds.iter().filter(|world| case.runs_in(&world.name)).enumerate() {
                let over = match (at, leads) {
                    (0 | 1, true) => roads.len(),
                    (0, false) => 2,
                    _ => 1,
                };
                // Calls at once are made over the first road alone.
                let first = if at == 0 { 0 } else { number + at };
                let roads = roads.iter().cycle().skip(first % roads.len().max(1)).take(over.min(roads.len()));
                plans.extend(roads.map(|road| (case, world, road)));
            }
        }
        let progress = Progress::new(plans.len());
        let at_once = std::thread::available_parallelism().map_or(2, usize::from) * 4;
        let trials = plans.into_iter().enumerate().map(|(at, (case, world, road))| {
            let progress = &progress;
            async move {
                let observation = self.trial(case, world, road).await;
                progress.one();
                (at, observation)
            }
        });
        // A slow one keeps no other from its start.
        let mut observations: Vec<_> = stream::iter(trials).buffer_unordered(at_once).collect().await;
        observations.sort_by_key(|(at, _)| *at);
        observations.into_iter().map(|(_, observation)| observation).collect()
    }

    async fn trial(&self, case: &Case, world: &World, road: &Road) -> Observation {
        // A listener of its own, so that a contact is blamed on the call that made it.
        let listener = (case.needs_listener() && !world.offline).then(Listener::start).transpose();
        let listener = listener.map(|listener| listener.map(Arc::new));
        let listener = listener.map_err(|error| format!("no listener for `{{listener}}` can be started: {error}"));
        let rung = road.rung;
        let (origin, mut allow) = match &listener {
            Ok(Some(listener)) => rung.way_to(listener),
            _ => (NOBODY.to_owned(), Vec::new()),
        };
        allow.extend(self.allow.iter().cloned());
        let fresh = || -> Result<Box<dyn Watch>, String> { rung.watch(world, listener.clone()?, allow.clone()) };
        let target = |copy: &Path| rung::target(road, copy, &origin);
        let waits = rung != Rung::Remote;
        run(&Plan {
            case,
            world: &world.name,
            listener: &origin,
            fresh: &fresh,
            target: &target,
            concurrent: road.transport == "stdio" && road.era == Era::Modern,
            era: road.era,
            transport: road.transport,
            limits: &self.limits(),
            idle: if waits { IDLE } else { QUIET },
            quiet: QUIET,
        })
        .await
    }
}
