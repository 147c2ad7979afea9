//! Limits on the time between two requests, and on the time of the headers of a request.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

const HEAD: u8 = 0;
const ANSWER: u8 = 1;
const IDLE: u8 = 2;

/// A connection that may wait for the next request longer than its headers may take once they have begun. The
/// first request has to begin within the time of its headers.
pub struct HeadDeadline<S> {
    socket: S,
    phase: Phase,
    /// The most time for headers.
    head: Duration,
    /// The most time until the next request begins.
    idle: Duration,
    /// The end of the present phase, and that phase.
    timer: Option<(u8, Pin<Box<Sleep>>)>,
}

/// The phase of a connection: headers of a request, its answer, or idle.
#[derive(Clone, Debug)]
pub struct Phase(Arc<AtomicU8>);

impl Phase {
    pub fn answer(&self) {
        self.0.store(ANSWER, Ordering::Relaxed);
    }

    pub fn idle(&self) {
        self.0.store(IDLE, Ordering::Relaxed);
    }
}

impl<S> HeadDeadline<S> {
    pub fn new(socket: S, head: Duration, idle: Duration) -> (Self, Phase) {
        let phase = Phase(Arc::new(AtomicU8::new(HEAD)));
        let connection = Self { socket, phase: phase.clone(), head, idle, timer: None };
        (connection, phase)
    }

    /// Returns true if the present phase has lasted too long.
    fn is_over(&mut self, context: &mut Context<'_>, phase: u8) -> bool {
        if phase == ANSWER {
            self.timer = None;
            return false;
        }
        if self.timer.as_ref().is_none_or(|(of, _)| *of != phase) {
            let time = if phase == HEAD { self.head } else { self.idle };
            self.timer = Some((phase, Box::pin(sleep(time))));
        }
        let Some((_, timer)) = &mut self.timer else {
            return false;
        };
        timer.deadline() <= Instant::now() || timer.as_mut().poll(context).is_ready()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for HeadDeadline<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.socket).poll_read(context, buffer);
        let mut phase = self.phase.0.load(Ordering::Relaxed);
        if phase == IDLE && buffer.filled().len() > before {
            phase = HEAD;
            self.phase.0.store(HEAD, Ordering::Relaxed);
        }
        if !self.is_over(context, phase) {
            return read;
        }
        if phase == IDLE {
            // As if the client had closed the connection.
            return Poll::Ready(Ok(()));
        }
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for HeadDeadline<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const SHORT: Duration = Duration::from_millis(50);
    const LONG: Duration = Duration::from_secs(3_600);

    #[tokio::test]
    async fn headers_that_take_too_long_end_a_connection() {
        let (here, mut there) = tokio::io::duplex(16);
        let (mut connection, phase) = HeadDeadline::new(here, SHORT, LONG);
        // The body and the answer of a request may take as long as they do.
        there.write_all(b"first").await.unwrap();
        connection.read_exact(&mut [0; 5]).await.unwrap();
        phase.answer();
        tokio::time::sleep(2 * SHORT).await;
        there.write_all(b"body").await.unwrap();
        connection.read_exact(&mut [0; 4]).await.unwrap();
        phase.idle();
        // The next request begins much later, and is never complete.
        let later = tokio::spawn(async move {
            tokio::time::sleep(2 * SHORT).await;
            there.write_all(b"s").await.unwrap();
            there
        });
        connection.read_exact(&mut [0; 1]).await.unwrap();
        let failed = connection.read_exact(&mut [0; 5]).await.unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::TimedOut);
        later.await.unwrap();
    }

    #[tokio::test]
    async fn a_first_request_that_does_not_begin_ends_a_connection() {
        let (here, _there) = tokio::io::duplex(16);
        let (mut connection, _) = HeadDeadline::new(here, SHORT, LONG);
        let failed = connection.read_exact(&mut [0; 5]).await.unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn a_connection_without_a_next_request_comes_to_its_end() {
        let (here, _there) = tokio::io::duplex(16);
        let (mut connection, phase) = HeadDeadline::new(here, LONG, SHORT);
        phase.idle();
        assert_eq!(connection.read(&mut [0; 5]).await.unwrap(), 0);
    }
}
