//! Threads for long work, at a lower priority than those that answer requests.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use tokio::sync::oneshot;

use crate::sync;

/// Added to the niceness of a thread with long work.
const LOWER: i32 = 10;

type Job = Box<dyn FnOnce() + Send>;

/// Runs jobs in the order of arrival. The threads end when this is dropped.
#[derive(Debug)]
pub struct WorkerPool(Sender<Job>);

impl WorkerPool {
    pub fn start(count: usize) -> io::Result<Self> {
        let (jobs, waiting) = channel::<Job>();
        let waiting = Arc::new(Mutex::new(waiting));
        for number in 0..count {
            let waiting = waiting.clone();
            let thread = thread::Builder::new().name(format!("worker {number}"));
            thread.spawn(move || {
                give_way();
                let next = || sync::lock(&waiting).recv();
                while let Ok(job) = next() {
                    job();
                }
            })?;
        }
        Ok(Self(jobs))
    }

    /// Runs a job, even if the caller stops waiting. Returns `None` if the job panics.
    pub async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (reply, done) = oneshot::channel();
        let job = move || {
            if let Ok(outcome) = catch_unwind(AssertUnwindSafe(work)) {
                let _ = reply.send(outcome);
            }
        };
        self.0.send(Box::new(job)).ok()?;
        done.await.ok()
    }
}

/// Lowers the priority of this thread for good. Where that is not allowed, it stays as it is.
pub fn give_way() {
    let _ = rustix::process::setpriority_process(None, LOWER);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_is_done_and_one_that_panics_takes_no_thread_along() {
        let workers = WorkerPool::start(1).unwrap();
        assert_eq!(workers.run(|| 7).await, Some(7));
        assert_eq!(workers.run(|| -> u8 { panic!("on purpose") }).await, None);
        assert_eq!(workers.run(|| 8).await, Some(8));
        let here = rustix::process::getpriority_process(None).unwrap();
        let there = workers.run(|| rustix::process::getpriority_process(None).unwrap()).await;
        assert_eq!(there, Some((here + LOWER).min(LOWER.max(here))));
    }
}
