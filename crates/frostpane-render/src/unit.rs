//! The unit of privacy in words: the meaning of counts, the bounds of users, the limits of the protection.

use frostpane::numbers::grouped;
use frostpane::{Bounds, Key, Release, Unit};

use crate::numbers::{plain, times};

/// The plural of an epoch, as in "several days".
fn epochs(bounds: &Bounds) -> String {
    let name = bounds.epoch_name();
    format!("{}s", name.split(' ').next().unwrap_or(&name))
}

/// The words that depend on the unit of privacy alone.
pub struct UnitWords {
    /// The verb for a key that counts once.
    pub occurs: &'static str,
    /// The verb in "every key that occurred 20 times".
    pub(crate) occurred: &'static str,
    pub(crate) had_occurred: &'static str,
    pub(crate) never: &'static str,
    /// The numbers that intervals contain. Events of users beyond their bounds are not in them.
    pub(crate) counts: &'static str,
    pub(crate) count: &'static str,
    /// One of those that are protected.
    pub(crate) individual: &'static str,
    pub(crate) individuals: &'static str,
    pub(crate) whichever: &'static str,
    /// The difference between neighbouring streams, after "Had".
    pub(crate) otherwise: &'static str,
    /// The subject of which a reader learns next to nothing.
    pub(crate) subject: &'static str,
    /// The limit of the protection of someone with several events.
    pub(crate) several: &'static str,
    /// The part of a stream that has an account.
    pub pane: &'static str,
}

const OF_EVENTS: UnitWords = UnitWords {
    occurs: "occurs",
    occurred: "occurred",
    had_occurred: "had occurred",
    never: "never occurred",
    counts: "every true count",
    count: "the true one",
    individual: "event",
    individuals: "events",
    whichever: "whichever one it is",
    otherwise: "any one event had another key",
    subject: "any one event",
    several: " Someone with several events is protected for each, not for all together.",
    pane: "pane",
};

const OF_USERS: UnitWords = UnitWords {
    occurs: "is counted",
    occurred: "was counted",
    had_occurred: "had been counted",
    never: "was never counted",
    counts: "how often each key was counted",
    count: "the number that was counted",
    individual: "person",
    individuals: "people",
    whichever: "whoever it is",
    otherwise: "any one person not taken part then",
    subject: "what any one person did then",
    several: "",
    pane: "epoch",
};

impl UnitWords {
    /// The words for a unit.
    pub fn of(unit: Unit) -> &'static Self {
        if unit.is_user() { &OF_USERS } else { &OF_EVENTS }
    }
}

/// The things that a window has a number of: events or, of users, their contributions.
pub fn things(unit: Unit) -> String {
    let Some(bounds) = unit.bounds() else {
        return "events".to_owned();
    };
    match (bounds.per_user, bounds.per_key) {
        (1, 1) => person_epochs(&bounds),
        (_, 1) => "contributions".to_owned(),
        _ => "counted events".to_owned(),
    }
}

fn person_epochs(bounds: &Bounds) -> String {
    format!("person-{}", epochs(bounds))
}

/// The number of events that a release covers; of users, about how many contributions.
pub fn how_many<K: Key>(release: &Release<K>) -> String {
    let (events, things) = (release.window.events, things(release.unit));
    match release.window.between {
        None if events == 1 => "1 event".to_owned(),
        None => format!("{} {things}", grouped(events)),
        Some([low, high]) => {
            format!("about {} {things} ({} to {})", grouped(events), grouped(low), grouped(high))
        }
    }
}

/// The meaning of the counts where users are protected, and what is in none of them.
pub fn meaning(unit: Unit) -> Option<String> {
    let bounds = unit.bounds()?;
    let name = bounds.epoch_name();
    let article = if name.starts_with(['h', 'e']) { "an" } else { "a" };
    let epochs = person_epochs(&bounds);
    let counts = match (bounds.per_key, bounds.per_user) {
        (1, 1) => format!("Counts are numbers of people, each counted once {article} {name} ({epochs})."),
        (1, _) => format!(
            "Counts are numbers of people, each counted once {article} {name} ({epochs}); contributions are \
             these, added up over all keys."
        ),
        _ => "Counts are numbers of events within the bounds.".to_owned(),
    };
    let sample = sample(&bounds).unwrap_or_default();
    Some(format!(
        "{counts} What users did beyond the bounds is in no count, and all statements are about what was \
         counted.{sample}"
    ))
}

/// The most that is counted of each user.
pub fn bounded(bounds: &Bounds) -> String {
    let keys = match bounds.per_user {
        1 => "at most 1 key is counted,".to_owned(),
        keys => format!("at most {} keys are counted, each", grouped(keys.into())),
    };
    let often = match bounds.per_key {
        1 => "once".to_owned(),
        often => format!("at most {}", times(often.into())),
    };
    format!("Of each person and {} {keys} {often}.", bounds.epoch_name())
}

/// The share of users whose events are counted, if that is not everybody.
fn sample(bounds: &Bounds) -> Option<String> {
    let share = bounds.sample_users.filter(|share| share.as_f64() < 1.0)?;
    Some(format!(
        " Only {share} of the users are counted, chosen at random: for an estimate of all, multiply counts \
         by {}.",
        plain((1e3 / share.as_f64()).round() / 1e3)
    ))
}

/// The facts that no release hides.
pub fn not_hidden(unit: Unit) -> String {
    match unit.bounds() {
        None => "that an event took place, when, and how many did".to_owned(),
        Some(bounds) => format!(
            "what someone does over several {} (epsilon for each), people with several ids, how others react",
            epochs(&bounds)
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn hours(hours: u64) -> Duration {
        Duration::from_secs(3_600 * hours)
    }

    #[test]
    fn events_are_events_and_users_are_counted_once_an_epoch_that_has_a_name() {
        assert_eq!((meaning(Unit::Event), things(Unit::Event)), (None, "events".to_owned()));
        for (epoch, name, said) in [
            (hours(24), "person-days", "once a day (person-days)"),
            (hours(1), "person-hours", "once an hour (person-hours)"),
            (hours(168), "person-weeks", "once a week (person-weeks)"),
            (Duration::from_secs(60), "person-minutes", "once a minute (person-minutes)"),
            (hours(12), "person-epochs", "once an epoch of 12 hours (person-epochs)"),
        ] {
            let one = Unit::User(Bounds::new(1).epoch(epoch));
            assert_eq!(things(one), name);
            assert!(meaning(one).unwrap().contains(said), "{:?}", meaning(one));
        }
    }

    /// Someone with four keys on one day is one person-day of each, and four contributions.
    #[test]
    fn what_is_added_up_over_several_keys_is_no_number_of_people() {
        assert_eq!(things(Unit::User(Bounds::new(4))), "contributions");
        assert_eq!(things(Unit::User(Bounds::new(4).per_key(3))), "counted events");
        assert_eq!(
            meaning(Unit::User(Bounds::new(4))).unwrap(),
            "Counts are numbers of people, each counted once a day (person-days); contributions are these, \
             added up over all keys. What users did beyond the bounds is in no count, and all statements \
             are about what was counted."
        );
    }

    #[test]
    fn bounds_are_said_as_they_are() {
        for (bounds, said) in [
            (Bounds::new(1), "at most 1 key is counted, once."),
            (Bounds::new(4), "at most 4 keys are counted, each once."),
            (Bounds::new(1).per_key(3), "at most 1 key is counted, at most 3 times."),
            (Bounds::new(1_000).per_key(2), "at most 1,000 keys are counted, each at most 2 times."),
        ] {
            assert_eq!(bounded(&bounds), format!("Of each person and day {said}"));
        }
    }

    #[test]
    fn of_a_sample_it_is_said_what_to_multiply_by() {
        for (share, by) in [("1/4", "4"), ("2/3", "1.5"), ("3/7", "2.333")] {
            let mut bounds = Bounds::new(1);
            bounds.sample_users = Some(share.parse().unwrap());
            let said = meaning(Unit::User(bounds)).unwrap();
            assert!(
                said.ends_with(&format!(
                    "Only {share} of the users are counted, chosen at random: for an estimate of all, \
                     multiply counts by {by}."
                )),
                "{said}"
            );
        }
        let mut all = Bounds::new(1);
        all.sample_users = Some("1/1".parse().unwrap());
        assert_eq!(meaning(Unit::User(all)), meaning(Unit::User(Bounds::new(1))));
    }

    #[test]
    fn what_is_not_hidden_of_people_goes_by_the_epoch() {
        assert_eq!(
            not_hidden(Unit::User(Bounds::new(1))),
            "what someone does over several days (epsilon for each), people with several ids, how others \
             react"
        );
        assert!(not_hidden(Unit::User(Bounds::new(1).epoch(hours(12)))).contains("over several epochs"));
    }
}
