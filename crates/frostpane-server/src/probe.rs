//! Probes on a thread and a listener of their own: no load, no limit and no disk of the service holds them up.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tower::ServiceExt;

use crate::api::probes;
use crate::connections::Connections;
use crate::deadline::Deadline;
use crate::held::hold;
use crate::serve::accept;
use crate::service::Service;

/// How long a request, or the wait for one, may take.
const TIME: Duration = Duration::from_secs(10);
/// The most connections at once: those that wait give way.
const CONNECTIONS: usize = 64;

/// Answers probes at an address until the process ends. Returns the address. Metrics, which need a token, are on this machine alone.
pub fn start(address: SocketAddr, service: Arc<Service>) -> Result<SocketAddr, String> {
    let failed = |cause: std::io::Error| format!("{address}: {cause}");
    let socket = std::net::TcpListener::bind(address).map_err(failed)?;
    socket.set_nonblocking(true).map_err(failed)?;
    let local = socket.local_addr().map_err(failed)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(failed)?;
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
        let Some(connection) = connections.enter() else {
            continue;
        };
        let app = app.clone();
        tokio::spawn(async move {
            let answer = service_fn(|request: hyper::Request<hyper::body::Incoming>| {
                let (app, busy) = (app.clone(), connection.begin());
                async move {
                    let answered = app.oneshot(request.map(axum::body::Body::new)).await?;
                    Ok::<_, std::convert::Infallible>(hold(answered, busy))
                }
            });
            let served = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(TIME)
                .serve_connection(TokioIo::new(Deadline::new(socket, TIME)), answer);
            tokio::select! {
                _ = served => {}
                () = connection.closed() => {}
            }
        });
    }
}
