//! An interrupt, told in time to finish what was begun.

use std::io;

use crate::failure::{Failure, Result};

/// Calls `end` on the first SIGINT or SIGTERM, on a thread of its own, with the code to exit with. A second
/// one ends the program at once.
pub fn on_first(end: impl FnOnce(i32) + Send + 'static) -> Result<()> {
    wait(end).map_err(|cause| Failure::Message(format!("interrupts cannot be waited for: {cause}")))
}

#[cfg(unix)]
fn wait(end: impl FnOnce(i32) + Send + 'static) -> io::Result<()> {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::{flag, iterator::Signals};

    const SIGNALS: [i32; 2] = [SIGINT, SIGTERM];
    // As shells report those that a signal ended.
    let code = |signal: i32| 128 + signal;
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in SIGNALS {
        // In this order: the first one finds the flag down.
        flag::register_conditional_shutdown(signal, code(signal), Arc::clone(&interrupted))?;
        flag::register(signal, Arc::clone(&interrupted))?;
    }
    let mut signals = Signals::new(SIGNALS)?;
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            end(code(signal));
        }
    });
    Ok(())
}

/// Elsewhere an interrupt ends the program as it always does.
#[cfg(not(unix))]
fn wait(_: impl FnOnce(i32) + Send + 'static) -> io::Result<()> {
    Ok(())
}
