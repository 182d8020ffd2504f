//! What a server's tools return tells which arguments others take. So that cases can be made for a
//! server that nobody wrote cases for, each tool is called in an order that follows from the
//! schemas, and what it returned is kept.

use serde_json::Value;

use super::{Failure, NOBODY, Options, roads::Road, rung};
use crate::{
    hints::DeclaredTool,
    verify::{
        Case, Grade, Reply, Watch, World,
        case::Places,
        lens::network::Listener,
        sandbox::Allowed,
        synthesis::{self, Inventory},
    },
    wire::{Answer, Connection, Question, WireError},
};

/// Calls of one tool, of which one may succeed.
const TRIES: usize = 3;

/// A server at work in a copy that is as it was at first.
struct Scene {
    connection: Connection,
    watch: Box<dyn Watch>,
}

impl Options {
    /// Cases for tools, in the order in which they were made, and the tools that none can be made
    /// for.
    ///
    /// # Errors
    ///
    /// If the world can't be used. A server that breaks a call off is started anew.
    pub(super) async fn explore(
        &self,
        tools: &[DeclaredTool],
        world: &World,
        road: &Road,
    ) -> Result<(Vec<Case>, Vec<(String, String)>), Failure> {
        let inventory = Inventory::of(world.fresh()?.path())?;
        let listener = if world.offline { None } else { Some(Listener::start()?) };
        let way = listener.as_ref().map(|listener| road.rung.way_to(listener));
        let (origin, mut allow) = way.unwrap_or_else(|| (NOBODY.to_owned(), Vec::new()));
        allow.extend(self.allow.iter().cloned());
        let (mut cases, mut uncalled, mut known) = (Vec::new(), Vec::new(), Vec::new());
        let mut scene = None;
        for tool in synthesis::order(tools).into_iter().filter_map(|at| tools.get(at)) {
            let made = match synthesis::synthesise(tool, &inventory, &known) {
                Ok(made) => made,
                Err(why) => {
                    uncalled.push((tool.name.clone(), why));
                    continue;
                }
            };
            let mut is_silent = false;
            for case in made.iter().take(TRIES) {
                let mut at_work = match scene.take() {
                    Some(scene) => scene,
                    None => self.enter(world, road, &origin, &allow).await?,
                };
                let place = at_work.watch.path().to_string_lossy().into_owned();
                let arguments = case.arguments_at(&Places { world: &place, listener: &origin });
                let nothing = |_: &Question| std::future::ready(());
                let called = at_work.connection.call(&case.tool, &arguments, Answer::Accept, nothing).await;
                if called.is_ok() && self.is_unchanged(&mut at_work).await {
                    scene = Some(at_work);
                } else {
                    at_work.connection.close().await;
                }
                match called {
                    Ok(called) if called.reply == Reply::Success => {
                        known.push(elsewhere(called.result, &place));
                        break;
                    }
                    Err(WireError::Silent { .. }) => {
                        is_silent = true;
                        break;
                    }
                    _ => {}
                }
            }
            // To wait for each of them would take the rest of the day.
            let most = if is_silent { 1 } else { made.len() };
            cases.extend(made.into_iter().take(most));
        }
        if let Some(Scene { connection, .. }) = scene {
            connection.close().await;
        }
        Ok((cases, uncalled))
    }

    async fn enter(&self, world: &World, road: &Road, origin: &str, allow: &[Allowed]) -> Result<Scene, Failure> {
        let mut watch = road.rung.watch(world, None, allow.to_vec())?;
        let target = watch.seen(rung::target(road, watch.path(), origin))?;
        let connection = Connection::open(&target, road.era, &self.limits()).await?;
        watch.look(&connection.processes())?;
        Ok(Scene { connection, watch })
    }

    async fn is_unchanged(&self, scene: &mut Scene) -> bool {
        tokio::time::sleep(super::QUIET).await;
        let server = scene.connection.processes();
        scene.watch.look(&server).is_ok_and(|effects| effects.iter().all(|effect| effect.grade == Grade::None))
    }
}

/// A result that speaks of another copy by the name that stands for each.
fn elsewhere(value: Value, copy: &str) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace(copy, "{world}")),
        Value::Array(values) => values.into_iter().map(|value| elsewhere(value, copy)).collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(key, value)| (key, elsewhere(value, copy)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other,
    }
}
