//! The listener: connections are admitted, limited, and closed in order.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tower::ServiceExt;

use crate::http::certificates::Certificates;
use crate::http::connection_limit::{ConnectionLimit, Holder, network};
use crate::http::connections::{Connection, ConnectionUse};
use crate::http::timed_socket::TimedSocket;
use crate::log::tell;
use crate::service::Service;

/// The most time for open requests when the service stops.
const REQUESTS_TIME: Duration = Duration::from_secs(10);
/// The most time for streams to close their states.
const STREAMS_TIME: Duration = Duration::from_secs(40);
/// The most time for headers on a connection that got one of the last places.
const SCARCE_TIME: Duration = Duration::from_secs(1);
const HEADER_BYTES: usize = 64 << 10;

/// Marks the response to a request with a token.
#[derive(Clone)]
pub struct HadToken(pub Holder);

/// Serves until `stop`; then finishes open requests and accepts no connection.
pub async fn serve(
    listener: TcpListener,
    tls: Option<Arc<Certificates>>,
    app: Router,
    service: Arc<Service>,
    stop: impl Future<Output = ()>,
) {
    let graceful = GracefulShutdown::new();
    let address_limit = ConnectionLimit::default();
    tokio::pin!(stop);
    loop {
        let (socket, address) = tokio::select! {
            accepted = accept(&listener) => accepted,
            () = &mut stop => break,
        };
        // When all places are taken, a client is refused rather than kept waiting.
        let Some(connection) = service.connections.admit() else {
            continue;
        };
        // One address has a quarter of the connections, unless all come through this machine or a proxy.
        let is_shared = address.ip().is_loopback() || service.limits.behind_proxy;
        let most = if is_shared { usize::MAX } else { service.limits.connections.div_ceil(4) };
        let Some(own) = address_limit.acquire(Holder::Network(network(address.ip())), most) else {
            continue;
        };
        let _ = socket.set_nodelay(true);
        let socket = TimedSocket::for_writes(socket, service.limits.time);
        let tls = tls.as_ref().map(|tls| tls.acceptor());
        let (app, service) = (app.clone(), service.clone());
        let watcher = graceful.watcher();
        tokio::spawn(async move {
            let _own = own;
            let times = times_of(&service, connection.admits);
            let both = (app, service);
            let answering = async {
                match tls {
                    None => answer_all(socket, times, watcher, both, &connection, address).await,
                    Some(tls) => {
                        let greeted = tokio::time::timeout(times.0, tls.accept(socket)).await;
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
    let _ = tokio::time::timeout(REQUESTS_TIME, graceful.shutdown()).await;
    if tokio::time::timeout(STREAMS_TIME, service.stop()).await.is_err() {
        tell("the disk hangs, and is not waited for: what was acknowledged is kept");
    }
}

/// The most time for headers, and until the next request begins.
fn times_of(service: &Service, admits: ConnectionUse) -> (Duration, Duration) {
    let limits = &service.limits;
    let short = limits.header_time.min(SCARCE_TIME);
    match admits {
        ConnectionUse::Any => (limits.header_time, limits.idle_time),
        ConnectionUse::Tokens | ConnectionUse::Probes => (short, short),
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
    let (socket, phase) = TimedSocket::for_requests(socket, header_time, idle_time);
    let answer = hyper::service::service_fn(|request: hyper::Request<Incoming>| {
        phase.answer();
        let (answering, phase) =
            (answer(request, app.clone(), service.clone(), connection.clone(), address), phase.clone());
        async move {
            let answered = answering.await;
            phase.idle();
            answered
        }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        // `TimedSocket` has the limits of each; this is for both together.
        .header_read_timeout(header_time + idle_time)
        .max_buf_size(HEADER_BYTES)
        .serve_connection(TokioIo::new(socket), answer);
    // A client that hangs up, or does not speak HTTP, is not an error of the service.
    let _ = watcher.watch(served).await;
}

/// Answers a request; its connection is active until the answer has been sent.
async fn answer(
    mut request: hyper::Request<Incoming>,
    app: Router,
    service: Arc<Service>,
    connection: Arc<Connection>,
    address: SocketAddr,
) -> Result<Response, std::convert::Infallible> {
    let active = connection.begin();
    request.extensions_mut().insert(ConnectInfo(address));
    request.extensions_mut().insert(connection.admits);
    let mut answered = app.oneshot(request.map(Body::new)).await?;
    let most = service.limits.connections.div_ceil(4);
    if let Some(HadToken(holder)) = answered.extensions().get()
        && !connection.belongs_to(holder, &service.token_limit, most)
    {
        answered.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    Ok(hold(answered, active))
}

/// Holds a value until the body of the response has been sent or given up.
pub fn hold(response: Response, held: impl Send + 'static) -> Response {
    response.map(|body| {
        Body::new(body.map_err(move |cause| {
            let _held = &held;
            cause
        }))
    })
}

/// Accepts the next connection. A failure is of one connection, or of the machine, and passes.
pub async fn accept(listener: &TcpListener) -> (tokio::net::TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(cause) if cause.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}
