//! What counts are numbers of, and what is said of people where they are protected.

use super::numbers::{grouped, plain, spoken, times};
use crate::key::Key;
use crate::release::Release;
use crate::spec::{Bounds, Unit};

/// What an epoch is called.
pub(super) struct Epoch {
    /// With what comes before it: "on one day".
    pub during: String,
    /// "a day".
    pub every: String,
    /// "day".
    pub name: String,
    /// "days".
    pub several: &'static str,
}

impl Epoch {
    pub fn of(bounds: &Bounds) -> Self {
        let (preposition, article, name, several) = match bounds.epoch.as_secs_f64() {
            60.0 => ("in", "a", "minute", "minutes"),
            3_600.0 => ("in", "an", "hour", "hours"),
            86_400.0 => ("on", "a", "day", "days"),
            604_800.0 => ("in", "a", "week", "weeks"),
            _ => ("within", "an", "epoch", "epochs"),
        };
        let name = match name {
            "epoch" => format!("epoch of {}", spoken(bounds.epoch)),
            name => name.to_owned(),
        };
        Self {
            during: format!("{preposition} one {name}"),
            every: format!("{article} {name}"),
            name,
            several,
        }
    }
}

/// How a count comes about: "every key that occurred" so often.
pub(super) fn occurred(unit: Unit) -> &'static str {
    match unit {
        Unit::Event => "occurred",
        Unit::User(_) => "was counted",
    }
}

/// What lies between the two numbers beside a count: of people what was counted, which may be less than there was.
pub(super) fn counted(unit: Unit) -> &'static str {
    match unit {
        Unit::Event => "every true count",
        Unit::User(_) => "how often each key was counted",
    }
}

/// That it has not come about.
pub(super) fn never(unit: Unit) -> &'static str {
    match unit {
        Unit::Event => "never occurred",
        Unit::User(_) => "was never counted",
    }
}

/// What a window has so many of: events or, where people are protected, what was counted of theirs.
pub fn things(unit: Unit) -> String {
    match unit {
        Unit::Event => "events".to_owned(),
        Unit::User(Bounds {
            per_user: 1,
            per_key: 1,
            ..
        }) => person_epochs(unit),
        Unit::User(Bounds { per_key: 1, .. }) => "contributions".to_owned(),
        Unit::User(_) => "counted events".to_owned(),
    }
}

fn person_epochs(unit: Unit) -> String {
    let bounds = unit.bounds().unwrap_or_default();
    format!("person-{}", Epoch::of(&bounds).several)
}

/// How many events a release covers, where people are protected about how many of what was counted.
pub fn how_many<K: Key>(release: &Release<K>) -> String {
    let (events, things) = (release.window.events, things(release.unit));
    match release.window.between {
        None if events == 1 => "1 event".to_owned(),
        None => format!("{} {things}", grouped(events)),
        Some([low, high]) => format!(
            "about {} {things} ({} to {})",
            grouped(events),
            grouped(low),
            grouped(high)
        ),
    }
}

/// What the counts of people are, and what is in none of them.
pub fn meaning(unit: Unit) -> Option<String> {
    let bounds = unit.bounds()?;
    let counts = match bounds.per_key {
        1 => {
            let sum = match bounds.per_user {
                1 => "",
                _ => "; contributions are these, added up over all keys",
            };
            format!(
                "Counts are numbers of people, each counted once {} ({}){sum}.",
                Epoch::of(&bounds).every,
                person_epochs(unit)
            )
        }
        _ => "Counts are numbers of events within the bounds.".to_owned(),
    };
    let sample = sample(&bounds).map_or_else(String::new, |sample| format!(" {sample}"));
    Some(format!(
        "{counts} What people did beyond the bounds is in no count, and all statements are about what was counted.{sample}"
    ))
}

/// How much of each person is counted.
pub fn bounded(bounds: &Bounds) -> String {
    let keys = match bounds.per_user {
        1 => "at most 1 key is counted,".to_owned(),
        keys => format!("at most {} keys are counted, each", grouped(keys.into())),
    };
    let often = match bounds.per_key {
        1 => "once".to_owned(),
        often => format!("at most {}", times(often.into())),
    };
    format!("Of each person and {} {keys} {often}.", Epoch::of(bounds).name)
}

/// Whose events are counted, if not everybody's.
fn sample(bounds: &Bounds) -> Option<String> {
    let share = bounds.sample_users.filter(|share| share.as_f64() < 1.0)?;
    Some(format!(
        "Only {share} of the users are counted, chosen at random: for an estimate of all, multiply counts by {}.",
        plain((1e3 / share.as_f64()).round() / 1e3)
    ))
}

/// What no release hides.
pub fn not_hidden(unit: Unit) -> String {
    match unit {
        Unit::Event => "that an event took place, when, and how many did".to_owned(),
        Unit::User(bounds) => format!(
            "what someone does over several {} (epsilon for each), people with several ids, how others react",
            Epoch::of(&bounds).several
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn unit(bounds: Bounds) -> Unit {
        Unit::User(bounds)
    }

    fn hours(hours: u64) -> Duration {
        Duration::from_secs(3_600 * hours)
    }

    #[test]
    fn events_have_no_bounds_to_speak_of() {
        assert_eq!(meaning(Unit::Event), None);
        assert_eq!(things(Unit::Event), "events");
    }

    #[test]
    fn people_are_counted_once_an_epoch_and_it_has_a_name() {
        for (epoch, name, said) in [
            (hours(24), "person-days", "once a day (person-days)"),
            (hours(1), "person-hours", "once an hour (person-hours)"),
            (hours(168), "person-weeks", "once a week (person-weeks)"),
            (
                Duration::from_secs(60),
                "person-minutes",
                "once a minute (person-minutes)",
            ),
            (
                hours(12),
                "person-epochs",
                "once an epoch of 12 hours (person-epochs)",
            ),
        ] {
            let one = unit(Bounds::new(1).epoch(epoch));
            assert_eq!(things(one), name);
            assert!(meaning(one).unwrap().contains(said), "{:?}", meaning(one));
        }
    }

    /// Someone with four keys on one day is one person-day of each, and four contributions.
    #[test]
    fn what_is_added_up_over_several_keys_is_no_number_of_people() {
        assert_eq!(things(unit(Bounds::new(4))), "contributions");
        assert_eq!(things(unit(Bounds::new(4).per_key(3))), "counted events");
        assert_eq!(
            meaning(unit(Bounds::new(4))).unwrap(),
            "Counts are numbers of people, each counted once a day (person-days); contributions are these, added up over all keys. \
             What people did beyond the bounds is in no count, and all statements are about what was counted."
        );
    }

    #[test]
    fn bounds_are_said_as_they_are() {
        for (bounds, said) in [
            (Bounds::new(1), "at most 1 key is counted, once."),
            (Bounds::new(4), "at most 4 keys are counted, each once."),
            (
                Bounds::new(1).per_key(3),
                "at most 1 key is counted, at most 3 times.",
            ),
            (
                Bounds::new(1_000).per_key(2),
                "at most 1,000 keys are counted, each at most 2 times.",
            ),
        ] {
            assert_eq!(bounded(&bounds), format!("Of each person and day {said}"));
        }
    }

    #[test]
    fn of_a_sample_it_is_said_what_to_multiply_by() {
        for (share, by) in [("1/4", "4"), ("2/3", "1.5"), ("3/7", "2.333")] {
            let mut bounds = Bounds::new(1);
            bounds.sample_users = Some(share.parse().unwrap());
            let said = meaning(unit(bounds)).unwrap();
            assert!(
                said.ends_with(&format!(
                    "Only {share} of the users are counted, chosen at random: for an estimate of all, multiply counts by {by}."
                )),
                "{said}"
            );
        }
        let mut all = Bounds::new(1);
        all.sample_users = Some("1/1".parse().unwrap());
        assert_eq!(meaning(unit(all)), meaning(unit(Bounds::new(1))));
    }

    #[test]
    fn what_is_not_hidden_of_people_goes_by_the_epoch() {
        assert_eq!(
            not_hidden(unit(Bounds::new(1))),
            "what someone does over several days (epsilon for each), people with several ids, how others react"
        );
        assert!(not_hidden(unit(Bounds::new(1).epoch(hours(12)))).contains("over several epochs"));
    }
}
