//! One conversation: list, decide, ask, call, and what to do when a reply is lost.

use std::time::{Duration, Instant};

use candor::approval::{Context, Decision, Hints, History, Output, Trust};
use serde_json::{Value, json};

use crate::{
    approval::User,
    link::{Link, Outcome, Stopped},
    policy::Policy,
    task::{Fault, Task, Wanted},
    tools::Tools,
};

/// Do what the user wants, call by call.
pub(crate) async fn hold(task: &Task, policy: &Policy) -> Result<(), Fault> {
    let http = crate::link::http()?;
    let user = User { http: http.clone(), url: task.approval_url.clone(), patience: task.patience() };
    let link = Link::open(http, task, policy).await?;
    let tools = Tools::default();
    let mut conversation =
        Conversation { task, policy, user, link, tools, history: History::default(), fresh_until: None };
    for wanted in &task.tool_calls {
        if wanted.reconnect {
            conversation.reconnect().await?;
        }
        match conversation.call(wanted).await? {
            Some(result) => println!("{}: {result}", wanted.name),
            None => println!("{}: not run, or nobody knows", wanted.name),
        }
    }
    conversation.link.close().await;
    Ok(())
}

pub(crate) struct Conversation<'a> {
    task: &'a Task,
    policy: &'a Policy,
    user: User,
    link: Link,
    tools: Tools,
    history: History,
    /// Until when the list may be used without asking for it again.
    fresh_until: Option<Instant>,
}

impl Conversation<'_> {
    /// Run one call as far as user and hints allow. None if it was not run, or its outcome is unknown.
    async fn call(&mut self, wanted: &Wanted) -> Result<Option<Value>, Fault> {
        let mut sent = 0;
        loop {
            // Decide each time anew: the list may be another, and so may the tool.
            self.refresh().await?;
            let Some(tool) = self.tools.get(&wanted.name) else { return Ok(None) };
            let approval = (self.policy.decide)(&Hints::from(tool), self.context(&wanted.name));
            if sent > 0 && !(approval.retry && sent <= self.policy.habits.repeats) {
                return Ok(None); // The outcome is unknown; the user has to know that.
            }
            if approval.decision == Decision::Refuse {
                return Ok(None);
            }
            if approval.decision != Decision::Run && sent == 0 {
                let title = (self.policy.heading)(tool, self.tools.all());
                let warning = (self.policy.warning)(&approval);
                let shown = (self.policy.arguments)(&wanted.arguments);
                let said = self.user.approves(&wanted.name, &title, &shown, warning.as_deref()).await;
                if !(self.policy.agrees)(said.as_deref()) {
                    return Ok(None);
                }
                self.tools.accept(&wanted.name);
            }
            sent += 1;
            match self.send(wanted).await? {
                Outcome::Result(result) => {
                    if approval.output == Output::Untrusted && self.policy.habits.remembers {
                        self.history.untrusted_content = true;
                    }
                    return Ok(Some(result));
                }
                // The user stopped it.
                Outcome::Stopped(Stopped::ByUser) => return Ok(None),
                Outcome::Stopped(Stopped::Lost) => {}
                Outcome::Stopped(Stopped::NoSession) => self.reconnect().await?,
            }
        }
    }

    fn context(&self, tool: &str) -> Context {
        let trusted = (self.policy.trusts)(&self.task.trusted_servers, &self.task.url, &self.link.server);
        let trust = match (trusted, self.tools.has_changed(tool)) {
            (_, true) => Trust::Changed,
            (true, false) => Trust::Trusted,
            (false, false) => Trust::Untrusted,
        };
        Context { trust, history: self.history, ..Context::default() }
    }

    /// Send it, and answer what the server asks meanwhile.
    async fn send(&mut self, wanted: &Wanted) -> Result<Outcome, Fault> {
        let mut params = json!({"name": wanted.name, "arguments": wanted.arguments});
        let stop = wanted.stop_after_ms.map(Duration::from_millis);
        loop {
            // By the name that the user knows it under; one that it gives itself may be anything.
            let known = self.task.trusted_servers.iter().find(|server| server.url == self.task.url);
            let name = known.map_or(&self.link.server, |server| &server.name);
            let asker = (self.policy.asker)(name, &self.task.url);
            let (user, relay) = (&self.user, self.policy.relay);
            let ask = async |message: &Value| relay(user.answers(&asker, message).await);
            let outcome = self.link.request("tools/call", params.clone(), stop, &ask).await?;
            let Outcome::Result(result) = outcome else { return Ok(outcome) };
            match result.get("resultType").and_then(Value::as_str) {
                Some("input_required") => {
                    let mut answers = serde_json::Map::new();
                    for (key, request) in result.get("inputRequests").and_then(Value::as_object).into_iter().flatten() {
                        let message = request.pointer("/params/message").unwrap_or(&Value::Null);
                        answers.insert(key.clone(), ask(message).await);
                    }
                    // On the repetition of this call alone, and the state unread.
                    params["inputResponses"] = Value::Object(answers);
                    params["requestState"] = result.get("requestState").cloned().unwrap_or_default();
                }
                None | Some("complete") => return Ok(Outcome::Result(result)),
                Some(other) => return Err(format!("unknown result type `{other}`").into()),
            }
        }
    }

    /// Read the list, unless what was read is still good.
    async fn refresh(&mut self) -> Result<(), Fault> {
        let told = self.link.was_told_of_change() && self.policy.habits.reads_again;
        if !told && self.policy.habits.keeps_fresh && self.fresh_until.is_some_and(|until| Instant::now() < until) {
            return Ok(());
        }
        if !self.policy.habits.reads_again && self.fresh_until.is_some() && self.policy.habits.keeps_fresh {
            return Ok(());
        }
        let (mut list, mut cursor) = (Vec::new(), None::<String>);
        let mut lifetime = Duration::MAX;
        loop {
            let params = cursor.map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
            let (bytes, ttl) = self.link.list(params).await?;
            let (page, next) = (self.policy.read)(&bytes)?;
            list.extend(page);
            lifetime = lifetime.min(ttl);
            match next {
                Some(next) if self.policy.habits.all_pages => cursor = Some(next),
                _ => break,
            }
        }
        self.tools.replace(list, self.policy.habits.compares);
        self.fresh_until = Some(Instant::now() + lifetime.min(Duration::from_secs(86_400)));
        Ok(())
    }

    /// A new connection, which may lead to another server: nothing of the list is taken over.
    async fn reconnect(&mut self) -> Result<(), Fault> {
        self.link = Link::open(crate::link::http()?, self.task, self.policy).await?;
        if self.policy.habits.reads_again {
            self.fresh_until = None;
        }
        Ok(())
    }
}
