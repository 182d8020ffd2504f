//! The only place that decides whether a tool runs.
//!
//! In this order: the tool is known, the caller's grant covers it, the arguments and the caller's
//! rate are within limits, the intent of a destructive call is on the disk; then the tool runs
//! inside a time limit and a panic barrier, asks its user if it must and runs again; then the
//! result is within its limit and the outcome is recorded. No tool checks a permission itself.

mod run;

use std::{borrow::Cow, sync::Arc};

use candor_tools::{Confirmed, Scope, Toolbox};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    handler::server::router::tool::ToolRouter,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult,
        ErrorCode, Implementation, InputRequiredResult, JsonObject, ListToolsResult, MetaObject,
        PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};

use super::{
    Grant, Limits, Principal,
    audit::{Audit, Outcome, Record},
    confirm::{Answer, Asked, Desk},
    digest,
};
use run::Ran;

/// What all gates of one server share.
#[derive(Debug)]
pub struct House {
    toolbox: Toolbox,
    router: ToolRouter<Toolbox>,
    /// In reading order. The only list.
    tools: Vec<Entry>,
    desk: Desk,
    audit: Audit,
    limits: Limits,
    /// Serve protocol 2026-07-28 alone.
    modern_only: bool,
}

#[derive(Debug)]
struct Entry {
    tool: Tool,
    scope: Scope,
    /// From the tool's own annotations, as written in its file: `--mislabel` comes later.
    destructive: bool,
}

impl House {
    /// A house with the tools of an inventory, such as [`candor_tools::inventory`]'s, as far as
    /// the toolbox has something for them.
    ///
    /// # Errors
    ///
    /// If a tool names no scope: such a tool could never be granted, or worse.
    pub fn new(
        (router, tools): (ToolRouter<Toolbox>, Vec<Tool>),
        toolbox: Toolbox,
        audit: Audit,
        limits: Limits,
        modern_only: bool,
    ) -> Result<Self, String> {
        let mut entries = Vec::with_capacity(tools.len());
        for tool in tools {
            let scope = Scope::of(&tool).ok_or_else(|| {
                format!("tool `{}` names no scope in its `meta`; add `Scope::….required()`", tool.name)
            })?;
            let hints = tool.annotations.clone().unwrap_or_default();
            let destructive = hints.read_only_hint != Some(true) && hints.destructive_hint != Some(false);
            entries.push(Entry { tool, scope, destructive });
        }
        Ok(Self { toolbox, router, tools: entries, desk: Desk::new(&limits), audit, limits, modern_only })
    }

    /// The scope that a tool needs; `None` for a name that is no tool.
    #[must_use]
    pub fn scope_of(&self, tool: &str) -> Option<Scope> {
        self.entry(tool).map(|entry| entry.scope)
    }

    /// The scope that a grant lacks for a tool of this house: lets a transport refuse early, in its
    /// own words. The gate looks again.
    pub(crate) fn lacks(&self, grant: &Grant, tool: &str) -> Option<Scope> {
        let scope = self.scope_of(tool)?;
        (self.toolbox.serves(scope) && !grant.allows(scope)).then_some(scope)
    }

    /// Put on record that a transport refused a call.
    pub(crate) async fn record_denied(&self, who: &Principal, tool: &str, arguments: Option<&JsonObject>) {
        let record = self.audit.begin(who, tool, || digest::of_arguments(arguments)).await;
        record.end(Outcome::Denied).await;
    }

    /// The scopes that reading callers need here.
    pub(crate) fn read_scopes(&self) -> String {
        let served =
            Grant::read().iter().filter(|scope| self.toolbox.serves(*scope)).map(Scope::name).collect::<Vec<_>>();
        served.join(" ")
    }

    /// Whether this house serves protocol 2026-07-28 alone.
    pub(crate) fn modern_only(&self) -> bool {
        self.modern_only
    }

    /// The limits that this house keeps.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    fn entry(&self, tool: &str) -> Option<&Entry> {
        self.tools.iter().find(|entry| entry.tool.name == tool)
    }
}

/// One caller's door to the house, or over HTTP the door of all callers.
#[derive(Clone, Debug)]
pub struct Gate {
    house: Arc<House>,
    /// Who calls, on stdio. Over HTTP every request carries its own.
    local: Option<Arc<Principal>>,
}

impl Gate {
    /// For the one caller on stdio.
    #[must_use]
    pub fn on_stdio(house: Arc<House>, caller: Arc<Principal>) -> Self {
        Self { house, local: Some(caller) }
    }

    /// For callers whom the HTTP transport has put into each request's extensions.
    #[must_use]
    pub fn on_http(house: Arc<House>) -> Self {
        Self { house, local: None }
    }

    fn caller(&self, context: &RequestContext<RoleServer>) -> Result<Arc<Principal>, ErrorData> {
        let parts = context.extensions.get::<axum::http::request::Parts>();
        let remote = parts.and_then(|parts| parts.extensions.get::<Arc<Principal>>());
        match (&self.local, remote) {
            (Some(caller), None) | (None, Some(caller)) => Ok(caller.clone()),
            _ => {
                tracing::error!("a request reached the gate without its caller");
                Err(internal())
            }
        }
    }

    /// The checks before anything runs; in the order of the module's first paragraph.
    fn admit(&self, who: &Principal, call: &CallToolRequestParams) -> Result<&Entry, Box<(Outcome, Verdict)>> {
        let Some(entry) = self.house.entry(&call.name) else {
            let text = format!("unknown tool `{}`; `tools/list` names the tools", clip(&call.name));
            return Err(Box::new((Outcome::Unknown, Err(ErrorData::invalid_params(text, None)))));
        };
        let refuse = |outcome, text: String| Err(Box::new((outcome, Ok(refusal(text)))));
        if !self.house.toolbox.serves(entry.scope) {
            let text = format!("`{}` has nothing to act on: this server was started without it", call.name);
            return Err(Box::new((Outcome::Unknown, Err(ErrorData::invalid_params(text, None)))));
        }
        if !who.grant.allows(entry.scope) {
            let text = format!(
                "`{}` needs the scope `{}`, which `{}` was not granted; only the server's operator can grant it",
                call.name, entry.scope, who.name
            );
            return refuse(Outcome::Denied, text);
        }
        let (bytes, most) = (json_bytes(call), self.house.limits.argument_bytes);
        if bytes > most {
            let text = format!("the arguments take {bytes} bytes and may take {most}; send less in one call");
            return refuse(Outcome::Limited, text);
        }
        if !who.budget.spend() {
            let most = self.house.limits.calls_per_second;
            let text = format!("more than {most} calls a second; wait a second and call again");
            return refuse(Outcome::Limited, text);
        }
        Ok(entry)
    }

    /// From an admitted call to its end, asking the user on the way if the tool wants that.
    async fn conduct(
        &self,
        who: &Principal,
        mut call: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
        entry: &Entry,
        record: &mut Record,
    ) -> (Outcome, Verdict) {
        let (mut confirmed, mut round) = match self.house.desk.read(who, &mut call) {
            Answer::None => (None, 0),
            Answer::Yes { subject, round } => (Some(Confirmed(subject)), round),
            Answer::No(why) => return (Outcome::Unconfirmed, Ok(refusal(why))),
        };
        if entry.destructive
            && let Err(error) = record.intent().await
        {
            tracing::error!(%error, tool = %call.name, "refused: its intent could not be recorded");
            let text =
                format!("`{}` is refused while its audit record can't be written; nothing was changed", call.name);
            return (Outcome::Failed, Ok(refusal(text)));
        }
        loop {
            let question = match self.run(who, &call, context, confirmed.take()).await {
                Ran::Ended(outcome, verdict) => return (outcome, verdict),
                Ran::Asks(question) => question,
            };
            round += 1;
            let asked = self.house.desk.ask(who, &call, context, question, round);
            let Some(asked) = context.ct.run_until_cancelled(asked).await else {
                let text = "the user gave no answer before the call was stopped; nothing was changed";
                return (Outcome::Cancelled, Ok(refusal(text.into())));
            };
            match asked {
                Ok(Asked::Later(questions)) => return (Outcome::Asked, Ok(questions.into())),
                Ok(Asked::Now(Answer::Yes { subject, .. })) => confirmed = Some(Confirmed(subject)),
                Ok(Asked::Now(Answer::No(why))) => return (Outcome::Unconfirmed, Ok(refusal(why))),
                Ok(Asked::Now(Answer::None)) => return (Outcome::Failed, Err(internal())),
                Err(error) => return (Outcome::Unconfirmed, Err(error)),
            }
        }
    }
}

type Verdict = Result<CallToolResponse, ErrorData>;

impl ServerHandler for Gate {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build()).with_server_info(server_info())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        if self.house.modern_only {
            Cow::Borrowed(&[ProtocolVersion::V_2026_07_28])
        } else {
            Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS)
        }
    }

    /// Lets the HTTP transport check a request's headers against the tool's schema.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.house.entry(name).map(|entry| entry.tool.clone())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let who = self.caller(&context)?;
        let house = &self.house;
        let callable =
            house.tools.iter().filter(|entry| house.toolbox.serves(entry.scope) && who.grant.allows(entry.scope));
        let mut list = ListToolsResult::with_all_items(callable.map(|entry| entry.tool.clone()).collect());
        if is_modern(&context) {
            list.ttl_ms = Some(0);
            list.cache_scope = Some(CacheScope::Private); // filtered by the caller's grant
            list.meta = Some(stamp(list.meta.take()));
        }
        Ok(list)
    }

    /// Everything that is no method of the protocol.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let text = format!("unknown method `{}`; this server has `tools/list` and `tools/call`", clip(&request.method));
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None))
    }

    async fn call_tool(&self, call: CallToolRequestParams, context: RequestContext<RoleServer>) -> Verdict {
        let who = self.caller(&context)?;
        let mut record =
            self.house.audit.begin(&who, &call.name, || digest::of_arguments(call.arguments.as_ref())).await;
        let (outcome, mut verdict) = match self.admit(&who, &call) {
            Ok(entry) => self.conduct(&who, call, &context, entry, &mut record).await,
            Err(refused) => *refused,
        };
        if is_modern(&context) {
            match &mut verdict {
                Ok(CallToolResponse::Complete(result)) => result.meta = Some(stamp(result.meta.take())),
                Ok(CallToolResponse::InputRequired(InputRequiredResult { meta, .. })) => {
                    *meta = Some(stamp(meta.take()));
                }
                _ => {}
            }
        }
        record.end(outcome).await;
        verdict
    }
}

/// Whether this request is of the stateless era, 2026-07-28 and later.
pub(crate) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| !version.has_initialize())
}

fn server_info() -> Implementation {
    Implementation::new("candor", env!("CARGO_PKG_VERSION"))
}

/// Who answers, in each result (specification 2026-07-28, basic/index).
fn stamp(meta: Option<MetaObject>) -> MetaObject {
    let mut meta = meta.unwrap_or_default();
    meta.insert("io.modelcontextprotocol/serverInfo".into(), serde_json::json!(server_info()));
    meta
}

/// A result that tells the model why not.
fn refusal(text: String) -> CallToolResponse {
    CallToolResult::error(vec![ContentBlock::text(text)]).into()
}

fn internal() -> ErrorData {
    ErrorData::internal_error("internal error", None)
}

fn json_bytes(call: &CallToolRequestParams) -> usize {
    struct Count(usize);
    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, &call.arguments) {
        Ok(()) => count.0,
        Err(_) => usize::MAX,
    }
}

/// A name from outside, short and printable enough for an error text.
fn clip(name: &str) -> String {
    name.chars().take(64).flat_map(char::escape_debug).collect()
}
