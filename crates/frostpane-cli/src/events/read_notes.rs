//! Notes for the operator about files that were read.

use frostpane_events::{ReadReport, Schema, Source};

use crate::settings::values::grouped;

pub fn read_notes(source: &Source) -> Vec<String> {
    let (report, schema) = (source.report(), source.schema());
    let notes = [
        unreadable(report, schema),
        without_users(report, schema),
        empty_files(report),
        sorted_by_path(report, schema),
        repeated_headers(report),
        cut(report),
    ];
    notes.into_iter().flatten().collect()
}

fn unreadable(report: &ReadReport, schema: &Schema) -> Option<String> {
    let first = report.tally.first.as_ref()?;
    let headless = first.number == 1 && report.is_delimited && !schema.has_header();
    let advice = if headless { "; if it names the columns, use --header" } else { "" };
    Some(format!(
        "{} of {} events could not be read and have no key; the first is in {first}{advice}",
        grouped(report.tally.unreadable),
        grouped(report.tally.events)
    ))
}

fn cut(report: &ReadReport) -> Option<String> {
    let name = report.cut.as_ref()?;
    Some(format!(
        "the last line of {name} has no end, so it was left out: give all of it again when it has one, under the same name or --id, and what was taken is \
         passed over; if it is complete as it is say so, with --whole"
    ))
}

/// Where no event has a user, the column is wrong.
fn without_users(report: &ReadReport, schema: &Schema) -> Option<String> {
    let user = schema.user.as_ref()?;
    let tally = &report.tally;
    (tally.events > 0 && tally.with_user == 0)
        .then(|| format!("warning: none of the events has a user: is --user {} right?", user.text()))
}

fn empty_files(report: &ReadReport) -> Option<String> {
    match &report.empty[..] {
        [] => None,
        [only] => Some(format!("warning: {only} is empty")),
        [first, ..] => Some(format!("warning: {} files are empty; the first is {first}", report.empty.len())),
    }
}

fn sorted_by_path(report: &ReadReport, schema: &Schema) -> Option<String> {
    (report.tally.key_of_path && !schema.by_clock).then(|| {
        "warning: the key is part of the paths, so the files are sorted by it, and a window by count is not private then: take a window by time"
            .to_owned()
    })
}

fn repeated_headers(report: &ReadReport) -> Option<String> {
    match report.tally.repeated_headers {
        0 => None,
        1 => Some("1 line repeats the header; it counts as an event without a key".to_owned()),
        lines => {
            Some(format!("{} lines repeat the header; each counts as an event without a key", grouped(lines)))
        }
    }
}
