//! Connections: how many, how long, and their orderly end.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tower::ServiceExt;

use crate::certificates::Certificates;
use crate::connections::{Connection, Room};
use crate::crowd::{Crowd, Who, network};
use crate::deadline::Deadline;
use crate::head::HeadDeadline;
use crate::held::hold;
use crate::log::tell;
use crate::service::Service;

/// How long those that go on may take when the service stops.
const FAREWELL: Duration = Duration::from_secs(10);
/// How long streams may take to let go of their states.
const LETTING_GO: Duration = Duration::from_secs(40);
/// How long the headers may take of whoever comes when only places are left that are kept for others.
const SCARCE_TIME: Duration = Duration::from_secs(1);
/// The most bytes of the headers of a request.
const HEADER_BYTES: usize = 64 << 10;

/// Marks an answer to a request that had a token.
#[derive(Clone)]
pub struct HadToken(pub Who);

/// Answers until it is told to stop; then what was begun is finished, and nothing new is taken.
pub async fn serve(
    listener: TcpListener,
    tls: Option<Arc<Certificates>>,
    app: Router,
    service: Arc<Service>,
    stop: impl Future<Output = ()>,
) {
    let graceful = GracefulShutdown::new();
    let crowd = Crowd::default();
    tokio::pin!(stop);
    loop {
        let (socket, address) = tokio::select! {
            accepted = accept(&listener) => accepted,
            () = &mut stop => break,
        };
        // Whoever comes when all places are taken is turned away, not kept waiting.
        let Some(connection) = service.connections.enter() else {
            continue;
        };
        let most = most_of_one(&service, address.ip());
        let Some(own) = crowd.enter(network(address.ip()), most) else {
            continue;
        };
        let _ = socket.set_nodelay(true);
        let socket = Deadline::new(socket, service.limits.time);
        let tls = tls.as_ref().map(|tls| tls.acceptor());
        let (app, service) = (app.clone(), service.clone());
        let watcher = graceful.watcher();
        tokio::spawn(async move {
            let _own = own;
            let header_time = match connection.room {
                Room::Free => service.limits.header_time,
                _ => service.limits.header_time.min(SCARCE_TIME),
            };
            let idle_time = match connection.room {
                Room::Free => service.limits.idle_time,
                _ => header_time,
            };
            let both = (app, service.clone());
            let times = (header_time, idle_time);
            let answering = async {
                match tls {
                    None => answer_all(socket, times, watcher, both, &connection, address).await,
                    Some(tls) => {
                        let greeted = tokio::time::timeout(header_time, tls.accept(socket)).await;
                        if let Ok(Ok(socket)) = greeted {
                            answer_all(socket, times, watcher, both, &connection, address).await;
                        }
                    }
                }
            };
            tokio::select! {
                () = answering => {}
                () = connection.closed() => {}
            }
        });
    }
    drop(listener);
    service.close_listeners();
    let _ = tokio::time::timeout(FAREWELL, graceful.shutdown()).await;
    if tokio::time::timeout(LETTING_GO, service.stop()).await.is_err() {
        tell("the disk hangs, and is not waited for: what was acknowledged is kept");
    }
}

/// How many connections one address may have: a quarter, unless all come through this machine or a proxy.
fn most_of_one(service: &Service, address: IpAddr) -> usize {
    match address.is_loopback() || service.limits.behind_proxy {
        true => usize::MAX,
        false => service.limits.connections.div_ceil(4),
    }
}

async fn answer_all(
    socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    (header_time, idle_time): (Duration, Duration),
    watcher: hyper_util::server::graceful::Watcher,
    (app, service): (Router, Arc<Service>),
    connection: &Arc<Connection>,
    address: SocketAddr,
) {
    let (socket, phase) = HeadDeadline::new(socket, header_time, idle_time);
    let answer = hyper::service::service_fn(|request: hyper::Request<Incoming>| {
        phase.answer();
        let (answering, phase) = (
            answer(request, app.clone(), service.clone(), connection.clone(), address),
            phase.clone(),
        );
        async move {
            let answered = answering.await;
            phase.idle();
            answered
        }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        // The connection knows the times of its own; these are for both together.
        .header_read_timeout(header_time + idle_time)
        .max_buf_size(HEADER_BYTES)
        .serve_connection(TokioIo::new(socket), answer);
    // Whoever hangs up, or does not speak HTTP, is nobody's concern.
    let _ = watcher.watch(served).await;
}

/// Answers a request; its connection is busy until the answer has been sent.
async fn answer(
    mut request: hyper::Request<Incoming>,
    app: Router,
    service: Arc<Service>,
    connection: Arc<Connection>,
    address: SocketAddr,
) -> Result<Response, std::convert::Infallible> {
    let busy = connection.begin();
    request.extensions_mut().insert(ConnectInfo(address));
    request.extensions_mut().insert(connection.room);
    let mut answered = app.oneshot(request.map(axum::body::Body::new)).await?;
    let most = service.limits.connections.div_ceil(4);
    if let Some(HadToken(who)) = answered.extensions().get()
        && !connection.belongs_to(who, &service.connected, most)
    {
        let close = HeaderValue::from_static("close");
        answered.headers_mut().insert(header::CONNECTION, close);
    }
    Ok(hold(answered, busy))
}

/// The next connection; a failure is of one of them, or of the machine, and passes.
pub async fn accept(listener: &TcpListener) -> (tokio::net::TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(cause) if cause.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}
