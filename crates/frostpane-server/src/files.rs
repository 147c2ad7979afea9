//! How many files, and so how many connections, this process may have open.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Has as many as the machine allows, and returns how many; none if there is no limit.
pub fn most() -> Option<u64> {
    let mut limit = getrlimit(Resource::Nofile);
    let before = limit.current;
    limit.current = limit.maximum;
    match setrlimit(Resource::Nofile, limit) {
        Ok(()) => limit.maximum,
        Err(_) => before,
    }
}

/// Of so many connections those that leave as many files to the streams.
pub fn leave_room(connections: usize, most: Option<u64>) -> usize {
    let half = most.map_or(usize::MAX, |most| usize::try_from(most / 2).unwrap_or(usize::MAX));
    connections.min(half.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_to_the_streams() {
        assert_eq!(leave_room(4_096, Some(1_024)), 512);
        assert_eq!(leave_room(4_096, Some(65_536)), 4_096);
        assert_eq!(leave_room(4_096, None), 4_096);
    }
}
