//! Limits of time: between two requests, of headers, and of a client that has stopped reading.

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

/// A connection with limits of time, on requests or on writes.
pub struct TimedSocket<S> {
    socket: S,
    phase: Phase,
    /// The most time for headers.
    head: Duration,
    /// The most time until the next request begins.
    idle: Duration,
    /// The most time for which a write may wait.
    write: Duration,
    /// The end of the present phase, and that phase.
    phase_timer: Option<(u8, Pin<Box<Sleep>>)>,
    /// The end of the present wait of a write.
    write_timer: Option<Pin<Box<Sleep>>>,
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

impl<S> TimedSocket<S> {
    /// A connection that may wait for the next request longer than its headers may take once they have begun.
    /// The first request has to begin within the time of its headers.
    pub fn for_requests(socket: S, head: Duration, idle: Duration) -> (Self, Phase) {
        let phase = Phase(Arc::new(AtomicU8::new(HEAD)));
        (Self { head, idle, phase: phase.clone(), ..Self::for_writes(socket, Duration::MAX) }, phase)
    }

    /// A connection with a limit on each write, below TLS: there every byte that leaves is progress.
    pub fn for_writes(socket: S, write: Duration) -> Self {
        let (head, idle) = (Duration::MAX, Duration::MAX);
        let phase = Phase(Arc::new(AtomicU8::new(ANSWER)));
        Self { socket, phase, head, idle, write, phase_timer: None, write_timer: None }
    }

    /// Returns true if the present phase has lasted too long.
    fn is_over(&mut self, context: &mut Context<'_>, phase: u8) -> bool {
        if phase == ANSWER {
            self.phase_timer = None;
            return false;
        }
        let time = if phase == HEAD { self.head } else { self.idle };
        self.phase_timer.take_if(|(of, _)| *of != phase);
        let (_, timer) = self.phase_timer.get_or_insert_with(|| (phase, Box::pin(sleep(time))));
        has_passed(timer, context)
    }

    /// Fails a write that waits for too long.
    fn check<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.write_timer = None;
            return written;
        }
        let time = self.write;
        let timer = self.write_timer.get_or_insert_with(|| Box::pin(sleep(time)));
        if has_passed(timer, context) {
            Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
        } else {
            Poll::Pending
        }
    }
}

fn has_passed(timer: &mut Pin<Box<Sleep>>, context: &mut Context<'_>) -> bool {
    timer.deadline() <= Instant::now() || timer.as_mut().poll(context).is_ready()
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedSocket<S> {
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
        match phase {
            _ if !self.is_over(context, phase) => read,
            // As if the client had closed the connection.
            IDLE => Poll::Ready(Ok(())),
            _ => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimedSocket<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.socket).poll_write(context, bytes);
        self.check(context, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.socket).poll_flush(context);
        self.check(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let closed = Pin::new(&mut self.socket).poll_shutdown(context);
        self.check(context, closed)
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
        let (mut connection, phase) = TimedSocket::for_requests(here, SHORT, LONG);
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
        assert_eq!(connection.read_exact(&mut [0; 5]).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        later.await.unwrap();
    }

    #[tokio::test]
    async fn a_first_request_that_does_not_begin_ends_a_connection() {
        let (here, _there) = tokio::io::duplex(16);
        let (mut connection, _) = TimedSocket::for_requests(here, SHORT, LONG);
        assert_eq!(connection.read_exact(&mut [0; 5]).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn a_connection_without_a_next_request_comes_to_its_end() {
        let (here, _there) = tokio::io::duplex(16);
        let (mut connection, phase) = TimedSocket::for_requests(here, LONG, SHORT);
        phase.idle();
        assert_eq!(connection.read(&mut [0; 5]).await.unwrap(), 0);
    }

    #[tokio::test]
    async fn a_client_that_stops_reading_is_disconnected() {
        let (here, mut there) = tokio::io::duplex(16);
        let mut socket = TimedSocket::for_writes(here, 2 * SHORT);
        socket.write_all(&[0; 16]).await.unwrap();
        // The client reads after all, and then stops.
        let reader = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            there.read_exact(&mut [0; 16]).await.unwrap();
            there
        });
        socket.write_all(&[0; 16]).await.unwrap();
        let _there = reader.await.unwrap();
        assert_eq!(socket.write_all(&[0; 16]).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
