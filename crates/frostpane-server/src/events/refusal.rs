//! Refusals of requests, with the line and without a part of it.

use axum::http::StatusCode;
use frostpane_events::{Error, EventFault, Format};

use super::{ParseRules, too_large};
use crate::problem::Problem;

pub fn of(error: Error, rules: &ParseRules) -> Problem {
    match error {
        Error::Invalid(place) => match place.number {
            0 => invalid(place.fault, rules),
            number => invalid(place.fault, rules).at(number),
        },
        Error::Column { column, .. } => no_column(&column, rules.format),
        Error::TooMany(most) => Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the request has more than {most} events: nothing of it was taken"),
            "send them in several requests, each with an Idempotency-Key of its own",
        ),
        Error::TooLarge(most) => too_large(most),
        error => {
            let message = error.to_string();
            let (wrong, then) = message.rsplit_once(": ").unwrap_or((&message, "correct them"));
            Problem::invalid(format!("{wrong}: nothing of the request was taken"), then)
        }
    }
}

fn no_column(column: &str, format: Format) -> Problem {
    let (place, then) = match format {
        Format::Arrow => ("stream", "give it one"),
        _ => ("header", "name the columns in the first line"),
    };
    let problem = Problem::invalid(
        format!("the {place} has no column {column:?}: nothing of the request was taken"),
        then,
    );
    if format == Format::Arrow { problem } else { problem.at(1) }
}

fn invalid(fault: EventFault, rules: &ParseRules) -> Problem {
    let columns = &rules.columns;
    let (key, user) = (&columns.key, &columns.user);
    let time = columns.time.as_deref().unwrap_or("time");
    let (error, then) = match fault {
        EventFault::MissingKey => {
            (format!("an event has no field {key:?} for its key"), "give it one; null if it has no key")
        }
        EventFault::MissingTime => (
            format!("an event has no field {time:?} for its time"),
            "give it one: as in RFC 3339, with Z or an offset, or a number since 1970; or have the time of arrival taken, by creating the stream with ?time=arrival",
        ),
        EventFault::NoTime => (
            format!("the field {time:?} of an event is no time"),
            "give one as in RFC 3339, with Z or an offset, or a number since 1970",
        ),
        EventFault::MissingUser => {
            (format!("users are protected, but an event has no field {user:?} for its user"), "give it one")
        }
        EventFault::Twice => ("an event has a field twice".to_owned(), "give each once"),
        _ => ("an event is not written as Content-Type says".to_owned(), "correct it"),
    };
    Problem::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        format!("{error}: nothing of the request was taken"),
        format!("{then}, or have what cannot be read counted without a key, with ?wrong=skip"),
    )
}
