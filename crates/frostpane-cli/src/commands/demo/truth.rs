//! The true numbers of the searches in the window.

use std::borrow::Cow;
use std::collections::HashMap;

use super::searches::MadeUpUser;

#[derive(Default)]
pub struct WindowSearches {
    /// Days, users and searches.
    searches: Vec<(u64, MadeUpUser, Cow<'static, str>)>,
}

#[derive(Default)]
pub struct TrueNumbers {
    pub searches: u64,
    /// Users, each counted once a day.
    pub users: u64,
    /// The mean of users within their bounds: which searches of a user count is chosen at random.
    pub bounded: f64,
}

pub type Truth<'a> = HashMap<&'a str, TrueNumbers>;

impl WindowSearches {
    pub fn push(&mut self, day: u64, user: MadeUpUser, search: Cow<'static, str>) {
        self.searches.push((day, user, search));
    }

    pub fn truth(&mut self, per_user: u32) -> Truth<'_> {
        self.searches.sort_unstable();
        let mut truth = Truth::new();
        for day in self.searches.chunk_by(|(day, user, _), next| (day, user) == (&next.0, &next.1)) {
            let different = || day.chunk_by(|(.., search), (.., next)| search == next);
            let counted = f64::min(1.0, f64::from(per_user) / different().count() as f64);
            for same in different() {
                let numbers = truth.entry(same[0].2.as_ref()).or_default();
                numbers.searches += same.len() as u64;
                numbers.users += 1;
                numbers.bounded += counted;
            }
        }
        truth
    }

    /// The most often that one user made a search.
    pub fn most_by_one(&self, search: &str) -> u64 {
        let mut users: HashMap<MadeUpUser, u64> = HashMap::new();
        for (_, user, _) in self.searches.iter().filter(|(.., made)| made == search) {
            *users.entry(*user).or_default() += 1;
        }
        users.into_values().max().unwrap_or(0)
    }
}
