//! The caller of a request, and its permissions.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};

use super::token::{Scope, Token};
use crate::http::App;
use crate::http::connection_limit::{Holder, network};
use crate::http::guard::Address;
use crate::name::check_stream;
use crate::problem::{Problem, Result};
use crate::stream::StreamHandle;

/// The client that sent a request: the holder of a token, or anyone.
#[derive(Clone)]
pub struct Caller {
    token: Option<Arc<Token>>,
    /// Looked up again where an answer takes long: the token may have been revoked.
    text: Option<String>,
    app: App,
}

impl FromRequestParts<App> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        match parts.extensions.get::<Self>() {
            Some(caller) => Ok(caller.clone()),
            None => Self::of(app, &parts.headers),
        }
    }
}

impl Caller {
    pub fn of(app: &App, headers: &HeaderMap) -> Result<Self> {
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        let text = match (given.next(), given.next()) {
            (None, _) => None,
            (Some(value), None) => {
                Some(value.to_str().ok().and_then(bearer).ok_or_else(no_token)?.to_owned())
            }
            _ => return Err(no_token()),
        };
        let token = text.as_ref().map(|text| app.tokens.find(text).ok_or_else(no_token)).transpose()?;
        Ok(Self { token, text, app: app.clone() })
    }

    pub fn stream(&self, name: &str, scope: Scope) -> Result<Arc<StreamHandle>> {
        check_stream(name)?;
        self.must(scope, Some(name))?;
        self.app.known(name)
    }

    pub fn reads(&self, name: &str) -> Result<Arc<StreamHandle>> {
        check_stream(name)?;
        match self.app.stream(name) {
            Some(stream) if stream.settings().public => Ok(stream),
            None if self.app.has_failed_in_public(name) => self.app.known(name),
            _ => {
                self.may_read(name)?;
                self.app.known(name)
            }
        }
    }

    fn may_read(&self, name: &str) -> Result<()> {
        if self.may(Scope::Admin, Some(name)) {
            return Ok(());
        }
        self.must(Scope::Read, Some(name))
    }

    pub fn still_reads(&self, stream: &StreamHandle) -> bool {
        let token = self.text.as_deref().and_then(|text| self.app.tokens.find(text));
        let now = Self { token, ..self.clone() };
        stream.settings().public || now.may_read(&stream.shared.name).is_ok()
    }

    pub fn must_have_token(&self) -> Result<()> {
        self.token.as_ref().map(|_| ()).ok_or_else(no_token)
    }

    pub fn has_token(&self) -> bool {
        self.token.is_some()
    }

    pub fn may(&self, scope: Scope, stream: Option<&str>) -> bool {
        self.token.as_ref().is_some_and(|token| token.may(scope, stream))
    }

    /// Fails without this scope. Without a token, nobody learns if a stream exists.
    pub fn must(&self, scope: Scope, stream: Option<&str>) -> Result<()> {
        if self.may(scope, stream) {
            return Ok(());
        }
        self.must_have_token()?;
        Err(Problem::new(
            StatusCode::FORBIDDEN,
            format!("the token is for another stream, or not for this ({scope:?})").to_lowercase(),
            "ask the operator for one that may do this",
        ))
    }

    pub fn holder(&self, address: Option<Address>) -> Option<Holder> {
        match &self.token {
            Some(token) => Some(Holder::Token(token.id.clone())),
            None => address.map(|Address(address)| Holder::Network(network(address))),
        }
    }

    /// The name under which repeated requests of the caller are recognized.
    pub fn producer(&self) -> &str {
        self.token.as_ref().map_or("", |token| &token.producer)
    }
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

fn no_token() -> Problem {
    Problem::new(
        StatusCode::UNAUTHORIZED,
        "there is no valid token in the request",
        "send Authorization: Bearer TOKEN; `frostpane-server token` makes one",
    )
}
