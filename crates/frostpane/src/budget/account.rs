//! In how many releases the events of a pane have been.

/// The account of a pane. Every event in it has been in no more releases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    releases: u32,
}

impl Account {
    /// Whether one more release stays within as many as are allowed.
    pub fn can_pay(self, most: u32) -> bool {
        self.releases < most
    }

    /// How many there were.
    #[cfg(test)]
    pub fn releases(self) -> u32 {
        self.releases
    }

    /// One more release.
    pub fn charge(&mut self) {
        self.releases += 1;
    }

    /// Of panes that become one: as much as the one that has paid most.
    pub fn merged(accounts: impl Iterator<Item = Self>) -> Self {
        let releases = accounts.map(|account| account.releases).max().unwrap_or(0);
        Self { releases }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(releases: u32) -> Account {
        let mut account = Account::default();
        (0..releases).for_each(|_| account.charge());
        account
    }

    #[test]
    fn an_account_pays_for_as_many_releases_as_are_allowed_and_no_more() {
        for most in 0..5 {
            for releases in 0..=most {
                assert_eq!(after(releases).releases(), releases);
                assert_eq!(after(releases).can_pay(most), releases < most);
            }
        }
    }

    #[test]
    fn panes_that_become_one_have_paid_as_much_as_the_one_that_has_paid_most() {
        let merged = |releases: &[u32]| Account::merged(releases.iter().map(|releases| after(*releases)));
        assert_eq!(merged(&[1, 3, 2]), after(3));
        assert_eq!(merged(&[0, 0]), after(0));
        assert_eq!(merged(&[]), after(0));
    }
}
