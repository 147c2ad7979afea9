//! Whoever asks, and what they may do.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};

use super::App;
use super::guard::Address;
use crate::crowd::{Who, network};
use crate::name::check_stream;
use crate::problem::{Problem, Result};
use crate::stream::Stream;
use crate::token::{Scope, Token};

/// Whoever asks: with a token, or anyone.
#[derive(Clone)]
pub struct Caller {
    token: Option<Arc<Token>>,
    /// To look again later, where an answer takes long.
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
    /// By the headers of a request.
    pub fn of(app: &App, headers: &HeaderMap) -> Result<Self> {
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        let text = match (given.next(), given.next()) {
            (None, _) => None,
            (Some(value), None) => Some(
                value
                    .to_str()
                    .ok()
                    .and_then(bearer)
                    .ok_or_else(no_token)?
                    .to_owned(),
            ),
            _ => return Err(no_token()),
        };
        let token = match &text {
            None => None,
            Some(text) => Some(app.tokens.find(text).ok_or_else(no_token)?),
        };
        Ok(Self {
            token,
            text,
            app: app.clone(),
        })
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

impl Caller {
    /// The stream, for whoever may do this with it.
    pub fn stream(&self, name: &str, scope: Scope) -> Result<Arc<Stream>> {
        check_stream(name)?;
        self.must(scope, Some(name))?;
        self.app.known(name)
    }

    /// The stream, for whoever may read what is published of it.
    pub fn reads(&self, name: &str) -> Result<Arc<Stream>> {
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
        match self.may(Scope::Admin, Some(name)) {
            true => Ok(()),
            false => self.must(Scope::Read, Some(name)),
        }
    }

    /// Whether a stream that was read may still be.
    pub fn still_reads(&self, stream: &Stream) -> bool {
        let token = self.text.as_deref().and_then(|text| self.app.tokens.find(text));
        let now = Self {
            token,
            ..self.clone()
        };
        stream.settings().public || now.may_read(stream.name()).is_ok()
    }

    /// That they have a token, whatever it is for.
    pub fn must_be_known(&self) -> Result<()> {
        self.token.as_ref().map(|_| ()).ok_or_else(no_token)
    }

    /// Whether they have a token.
    pub fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// Whether they may do this.
    pub fn may(&self, scope: Scope, stream: Option<&str>) -> bool {
        self.token.as_ref().is_some_and(|token| token.may(scope, stream))
    }

    /// That they may do this. Without a token nobody learns whether a stream is there.
    pub fn must(&self, scope: Scope, stream: Option<&str>) -> Result<()> {
        match (&self.token, self.may(scope, stream)) {
            (_, true) => Ok(()),
            (None, _) => Err(no_token()),
            (Some(_), false) => Err(Problem::new(
                StatusCode::FORBIDDEN,
                format!("the token is for another stream, or not for this ({scope:?})").to_lowercase(),
                "ask the operator for one that may do this",
            )),
        }
    }

    /// Whose share their requests are of, as far as that is known.
    pub fn who(&self, address: Option<Address>) -> Option<Who> {
        match &self.token {
            Some(token) => Some(Who::Token(token.id.clone())),
            None => address.map(|Address(address)| Who::Network(network(address))),
        }
    }

    /// Who sends events: what they sent is known again by this name.
    pub fn producer(&self) -> &str {
        self.token.as_ref().map_or("", |token| &token.producer)
    }
}
