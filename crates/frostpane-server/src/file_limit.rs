//! The number of files, and so of connections, that this process may have open.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Raises the limit as far as the machine allows and returns it; `None` if there is no limit.
pub fn raise() -> Option<u64> {
    let mut limit = getrlimit(Resource::Nofile);
    let before = limit.current;
    limit.current = limit.maximum;
    match setrlimit(Resource::Nofile, limit) {
        Ok(()) => limit.maximum,
        Err(_) => before,
    }
}

/// Reduces a number of connections so that half of the files are left to the streams.
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
