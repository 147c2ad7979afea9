//! Probes on a thread and a listener of their own: neither load nor limits nor the disk delay them.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tower::ServiceExt;

use crate::http::connections::Connections;
use crate::http::probes;
use crate::http::serve::{accept, hold};
use crate::http::timed_socket::TimedSocket;
use crate::service::Service;

/// The most time for a request, or for the wait for one.
const TIME: Duration = Duration::from_secs(10);
/// The most connections at once; idle ones are closed for new ones.
const CONNECTIONS: usize = 64;

/// Answers probes at an address until the process ends. Returns the address. Metrics, which elsewhere need a
/// token, are served to this machine alone.
pub fn start(address: SocketAddr, service: Arc<Service>) -> Result<SocketAddr, String> {
    let failed = |cause: std::io::Error| format!("{address}: {cause}");
    let socket = std::net::TcpListener::bind(address).map_err(failed)?;
    socket.set_nonblocking(true).map_err(failed)?;
    let local = socket.local_addr().map_err(failed)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
    thread::Builder::new()
        .name("probes".to_owned())
        .spawn(move || runtime.block_on(answer_all(socket, service, local.ip().is_loopback())))
        .map_err(failed)?;
    Ok(local)
}

async fn answer_all(socket: std::net::TcpListener, service: Arc<Service>, with_metrics: bool) {
    let Ok(listener) = TcpListener::from_std(socket) else {
        return;
    };
    let connections = Connections::new(CONNECTIONS);
    let app = probes(service, with_metrics);
    loop {
        let (socket, _) = accept(&listener).await;
        let Some(connection) = connections.admit() else {
            continue;
        };
        let app = app.clone();
        tokio::spawn(async move {
            let answer = service_fn(|request: hyper::Request<hyper::body::Incoming>| {
                let (app, active) = (app.clone(), connection.begin());
                async move {
                    let answered = app.oneshot(request.map(axum::body::Body::new)).await?;
                    Ok::<_, std::convert::Infallible>(hold(answered, active))
                }
            });
            let socket = TimedSocket::for_writes(socket, TIME);
            let served = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(TIME)
                .serve_connection(TokioIo::new(socket), answer);
            tokio::select! {
                _ = served => {}
                () = connection.closed() => {}
            }
        });
    }
}
