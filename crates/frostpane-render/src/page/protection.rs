//! The protection and its cost.

use frostpane::numbers::grouped;
use frostpane::{Cost, Key, Release};

use super::escape::escaped;
use crate::numbers::{likelier, one_in, plain};
use crate::privacy::delta_words;
use crate::unit::{UnitWords, not_hidden};

pub fn section<K: Key>(releases: &[Release<K>]) -> String {
    let Some(release) = releases.last() else {
        return String::new();
    };
    protection(release, &Cost::of(releases)) + &facts(releases, release)
}

fn protection<K: Key>(release: &Release<K>, cost: &Cost) -> String {
    let chance = match cost.delta() {
        0.0 => String::new(),
        delta => format!(", but for a chance of {} (delta)", one_in(delta)),
    };
    let UnitWords { whichever, otherwise, several, individuals, subject, .. } = UnitWords::of(release.unit);
    format!(
        "<p><b>Protected</b> is {}, {whichever}. Had {otherwise}, every possible page would have been at \
         most {} as likely or unlikely as it was (e<sup>epsilon</sup>){chance}.{}</p>\n\
         <p><b>Not hidden</b> is {}.{several} \
         And what many {individuals} have in common is what the list shows.</p>\n",
        escaped(&release.unit.to_string()),
        escaped(&likelier(cost.epsilon())),
        verdict(cost.epsilon(), subject),
        escaped(&not_hidden(release.unit)),
    )
}

fn verdict(epsilon: f64, subject: &str) -> String {
    match epsilon {
        strong if strong <= 1.0 => format!(" So anyone who reads it learns next to nothing about {subject}."),
        weak if weak > 10.0 => " That is so much that hardly anything is protected.".to_owned(),
        _ => String::new(),
    }
}

fn facts<K: Key>(releases: &[Release<K>], release: &Release<K>) -> String {
    let lists = releases.len();
    let of_all = release.continual.is_some();
    let each = match lists {
        _ if of_all => " of all lists together",
        1 => "",
        _ => " of each list",
    };
    let mut facts =
        vec![(format!("Epsilon{each}"), epsilon(release)), (format!("Delta{each}"), delta(release))];
    if lists > 1 && !of_all {
        let total = Cost::of(releases);
        facts.push((
            format!("The {} lists together", grouped(lists as u64)),
            format!("epsilon {}, {}", total.epsilon(), delta_words(total.delta())),
        ));
    }
    let mut html = String::from("<p>What that costs, in the numbers of the field:</p>\n<dl>\n");
    for (term, fact) in facts {
        html += &format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(&term), escaped(&fact));
    }
    html + "</dl>\n<p>Each further list of the same events costs epsilon again"
        + if of_all { ", unless it is one of this sequence.</p>\n" } else { ".</p>\n" }
}

fn epsilon<K: Key>(release: &Release<K>) -> String {
    match release.boundaries_epsilon {
        0.0 => release.epsilon.to_string(),
        boundaries => format!("{}, {} of it for where panes end", release.epsilon, plain(boundaries)),
    }
}

fn delta<K: Key>(release: &Release<K>) -> String {
    match release.delta {
        0.0 => "0: the privacy is pure".to_owned(),
        delta => format!("{delta:e}"),
    }
}
