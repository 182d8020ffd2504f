//! From credentials to a caller.

use std::{
    collections::HashMap,
    net::IpAddr,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use chrono::Utc;
use hyper::{
    StatusCode,
    header::{AUTHORIZATION, HeaderValue},
    http::request::Parts,
};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::{
    guesses::Guesses,
    refusal::Refusal,
    sessions::{Door, Hall},
};
use crate::serve::{
    Grant, Principal, digest,
    tokens::{Token, Watched},
};

/// How often an open stream looks whether its token still counts.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Somebody who may come in.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) who: Arc<Principal>,
    pub(super) door: Arc<Door>,
    /// Digest of the token that was shown.
    pub(super) token: Option<[u8; 32]>,
}

/// Everybody who may come in.
pub(super) enum Callers {
    /// Without a tokens file: one local caller, who may read.
    Local(Caller),
    /// Those whose token is in the file.
    Holders(Holders),
}

pub(super) struct Holders {
    ledger: Mutex<Ledger>,
    guesses: Guesses,
    /// For challenges.
    scopes: String,
}

/// The tokens file as it was read last.
struct Ledger {
    file: Watched,
    hall: Arc<Hall>,
    /// None while the file can't be read: it may have been changed to shut somebody out, so then
    /// nobody comes in.
    holders: Option<Arc<[(Token, Caller)]>>,
    /// One caller for each name, without a grant: what several tokens of a name share.
    names: HashMap<String, Caller>,
    complaint: String,
}

enum Found {
    Caller(Caller),
    Expired,
    Nobody,
}

impl Callers {
    pub(super) fn local(hall: &Arc<Hall>, grant: Grant) -> Self {
        let who = Arc::new(Principal::new("local", grant, hall.limits()));
        Self::Local(Caller { who, door: hall.door(), token: None })
    }

    /// # Errors
    ///
    /// If the tokens file can't be read now.
    pub(super) fn from_file(hall: &Arc<Hall>, file: PathBuf) -> Result<Self, String> {
        let mut ledger = Ledger {
            file: Watched::new(file),
            hall: hall.clone(),
            holders: None,
            names: HashMap::new(),
            complaint: String::new(),
        };
        ledger.update();
        if ledger.holders.is_none() {
            return Err(ledger.complaint);
        }
        let guesses = Guesses::new(hall.limits().wrong_tokens_per_minute);
        Ok(Self::Holders(Holders { ledger: Mutex::new(ledger), guesses, scopes: hall.house().read_scopes() }))
    }

    /// Who sends this request (RFC 6750, sections 2 and 3.1).
    pub(super) fn identify(&self, head: &Parts, peer: IpAddr) -> Result<Caller, Refusal> {
        let query = head.uri.query().unwrap_or_default();
        let in_query =
            form_urlencoded::parse(query.as_bytes()).any(|(key, _)| key.eq_ignore_ascii_case("access_token"));
        let mut credentials = head.headers.get_all(AUTHORIZATION).iter();
        let (first, second) = (credentials.next(), credentials.next());
        match self {
            Self::Local(_) if in_query => Err(Refusal::new(StatusCode::BAD_REQUEST, "a URL is no place for a token")),
            Self::Local(caller) => Ok(caller.clone()),
            Self::Holders(holders) => match first {
                Some(_) if in_query || second.is_some() => {
                    let text = "one token, in one `Authorization` header";
                    Err(Refusal::new(StatusCode::BAD_REQUEST, text).challenge(Some("invalid_request"), ""))
                }
                Some(credentials) => holders.identify(credentials, peer),
                None => {
                    let text = "show your token: `Authorization: Bearer TOKEN`";
                    Err(Refusal::new(StatusCode::UNAUTHORIZED, text).challenge(None, &holders.scopes))
                }
            },
        }
    }

    /// Resolves when this token no longer lets anybody in.
    pub(super) async fn shut_out(&self, token: Option<[u8; 32]>) {
        let (Self::Holders(holders), Some(token)) = (self, token) else { return std::future::pending().await };
        loop {
            tokio::time::sleep(LOOK_AGAIN).await;
            if !matches!(holders.find(&token), Ok(Found::Caller(_))) {
                return;
            }
        }
    }
}

impl Holders {
    fn identify(&self, credentials: &HeaderValue, peer: IpAddr) -> Result<Caller, Refusal> {
        let found = match bearer(credentials) {
            Some(token) => self.find(&Sha256::digest(token).into())?,
            None => Found::Nobody,
        };
        let refuse = |text: &str| {
            Err(Refusal::new(StatusCode::UNAUTHORIZED, text).challenge(Some("invalid_token"), &self.scopes))
        };
        match found {
            Found::Caller(caller) => Ok(caller),
            Found::Expired => refuse("this token has expired"),
            Found::Nobody => match self.guesses.note(peer) {
                Ok(()) => refuse("this is no token of this server"),
                Err(wait) => {
                    tracing::warn!(%peer, "too many wrong tokens");
                    let text = "too many wrong tokens from this address; wait";
                    Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, text).later(wait.as_secs() + 1))
                }
            },
        }
    }

    /// Compares with every entry, in a time that tells nothing.
    fn find(&self, token: &[u8; 32]) -> Result<Found, Refusal> {
        let holders = {
            let mut ledger = self.ledger.lock().unwrap_or_else(PoisonError::into_inner);
            ledger.update();
            ledger.holders.clone()
        };
        let holders = holders.ok_or_else(|| {
            let text = "the server can't tell who may come in; its operator must repair the tokens file";
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, text).later(10)
        })?;
        let mut found = Found::Nobody;
        for (entry, caller) in holders.iter() {
            if bool::from(entry.sha256.ct_eq(token)) {
                let expired = entry.expires.is_some_and(|end| end <= Utc::now());
                found = if expired { Found::Expired } else { Found::Caller(caller.clone()) };
            }
        }
        Ok(found)
    }
}

impl Ledger {
    /// Catch up with the file.
    fn update(&mut self) {
        let Some(news) = self.file.news() else { return };
        let tokens = match news {
            Ok(tokens) => tokens,
            Err(complaint) => {
                if self.complaint != complaint {
                    tracing::error!("{complaint}; nobody is let in until it is repaired");
                }
                self.complaint = complaint;
                self.holders = None;
                return;
            }
        };
        if !std::mem::take(&mut self.complaint).is_empty() {
            tracing::info!("the tokens file is in order again");
        }
        self.names.retain(|name, caller| {
            let stays = tokens.iter().any(|token| token.name == *name);
            if !stays {
                caller.door.close();
            }
            stays
        });
        let holders: Vec<_> = tokens.into_iter().map(|token| self.admit(token)).collect();
        self.holders = Some(holders.into());
    }

    fn admit(&mut self, token: Token) -> (Token, Caller) {
        let shared = self.names.entry(token.name.clone()).or_insert_with(|| {
            let who = Principal::new(&token.name, Grant::from_iter([]), self.hall.limits());
            Caller { who: Arc::new(who), door: self.hall.door(), token: None }
        });
        let who = Principal {
            token: Some(digest::hex(&token.sha256).chars().take(8).collect()),
            grant: token.grant.clone(),
            ..shared.who.as_ref().clone()
        };
        let caller = Caller { who: Arc::new(who), door: shared.door.clone(), token: Some(token.sha256) };
        (token, caller)
    }
}

/// The token in `Bearer TOKEN`. The scheme's case is free (RFC 9110, section 11.1).
fn bearer(credentials: &HeaderValue) -> Option<&str> {
    let (scheme, token) = credentials.to_str().ok()?.split_once(' ')?;
    Some(token.trim()).filter(|token| scheme.eq_ignore_ascii_case("bearer") && !token.is_empty())
}
