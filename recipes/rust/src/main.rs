//! Receives signed notifications with axum: verifies the raw body, appends it to a journal on disk, and answers 200.
//!
//! Start it with `cargo run --release` (Rust 1.89 or later, on Linux, macOS or another Unix). Environment:
//! WEBHOOK_SECRET and WEBHOOK_API_KEY (at least one of them; the other check is off), PORT (3000), HOST (127.0.0.1),
//! WEBHOOK_JOURNAL (journal.ndjson).
//! Run one process only: the known ids are in memory. For several, use a database with a unique key on the id.

mod journal;

use std::io;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::{routing::post, Router};
use base64::{engine::general_purpose::STANDARD, Engine};
use hmac::{Hmac, Mac};
use http_body_util::BodyExt;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use journal::Journal;
use serde_json::Value;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

const MAX_BODY_BYTES: usize = 1024 * 1024;
/// Each can make the process hold one body.
const MAX_CONNECTIONS: usize = 512;
const MAX_HEAD_TIME: Duration = Duration::from_secs(30);
const MAX_BODY_TIME: Duration = Duration::from_secs(30);

/// During a rotation, the previous secret is also valid.
static SECRETS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let both = ["WEBHOOK_SECRET", "WEBHOOK_PREVIOUS_SECRET"].map(|name| setting(name, ""));
    both.into_iter()
        .filter(|secret| !secret.is_empty())
        .collect()
});
static API_KEY: LazyLock<String> = LazyLock::new(|| setting("WEBHOOK_API_KEY", ""));

#[tokio::main]
async fn main() -> io::Result<()> {
    if SECRETS.is_empty() && API_KEY.is_empty() {
        eprintln!("Set WEBHOOK_SECRET, WEBHOOK_API_KEY or both: without them anyone could post.");
        std::process::exit(1);
    }
    let journal =
        Journal::open(setting("WEBHOOK_JOURNAL", "journal.ndjson")).unwrap_or_else(|error| {
            eprintln!("{error}");
            std::process::exit(1);
        });
    let app = Router::new()
        .route("/hooks", post(receive))
        .with_state(Arc::new(Mutex::new(journal)));
    let (host, port) = (setting("HOST", "127.0.0.1"), setting("PORT", "3000"));
    let listener = tokio::net::TcpListener::bind(format!("{host}:{port}")).await?;
    println!("listening on http://{host}:{port}/hooks");
    serve(listener, app).await
}

/// Replaces `axum::serve`, which limits neither the connections nor the time for a head.
async fn serve(listener: tokio::net::TcpListener, app: Router) -> io::Result<()> {
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let slot = slots
            .clone()
            .acquire_owned()
            .await
            .map_err(io::Error::other)?;
        let Ok((stream, _)) = listener.accept().await else {
            sleep(Duration::from_millis(100)).await; // For example, there is no free file descriptor.
            continue;
        };
        let service = TowerToHyperService::new(app.clone());
        tokio::spawn(async move {
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(MAX_HEAD_TIME)
                .max_buf_size(32 * 1024)
                .serve_connection(TokioIo::new(stream), service);
            let _ = connection.await; // The client disconnected, or did not send HTTP.
            drop(slot);
        });
    }
}

async fn receive(State(journal): State<Arc<Mutex<Journal>>>, request: Request) -> StatusCode {
    let (head, body) = request.into_parts();
    let body = match timeout(MAX_BODY_TIME, read(body)).await {
        Ok(Ok(body)) => body,
        Ok(Err(status)) => return status,
        Err(_) => return StatusCode::REQUEST_TIMEOUT,
    };
    if !is_authentic(&head.headers, &body) {
        return StatusCode::UNAUTHORIZED;
    }
    let Some((id, text)) = notification(body) else {
        return StatusCode::BAD_REQUEST;
    };
    // Disk writes block, and must not block the threads that serve connections.
    match spawn_blocking(move || journal.lock().unwrap().store(id, &text)).await {
        Ok(Ok(())) => StatusCode::OK,
        error => {
            eprintln!("not stored: {error:?}");
            StatusCode::SERVICE_UNAVAILABLE // The sender can deliver it again.
        }
    }
}

/// Reads the raw body into one buffer. The extractor `Bytes` keeps an object for each chunk, however small.
async fn read(mut body: Body) -> Result<Vec<u8>, StatusCode> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| StatusCode::BAD_REQUEST)?;
        let Some(data) = frame.data_ref() else {
            continue;
        };
        if bytes.len() + data.len() > MAX_BODY_BYTES {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        bytes.extend_from_slice(data);
    }
    Ok(bytes)
}

fn is_authentic(headers: &HeaderMap, body: &[u8]) -> bool {
    let mut is_signed = SECRETS.is_empty();
    for secret in SECRETS.iter() {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any length is valid");
        mac.update(body);
        let signature = STANDARD.encode(mac.finalize().into_bytes());
        is_signed |= is_same(headers, "x-service-signature", &signature);
    }
    is_signed && (API_KEY.is_empty() || is_same(headers, "x-api-key", &API_KEY))
}

/// Requires exactly one line of the header. Compares digests, so that the time does not depend on the lengths.
fn is_same(headers: &HeaderMap, name: &str, expected: &str) -> bool {
    let mut lines = headers.get_all(name).iter();
    let (Some(received), None) = (lines.next(), lines.next()) else {
        return false;
    };
    Sha256::digest(received.as_bytes())
        .ct_eq(&Sha256::digest(expected.as_bytes()))
        .into()
}

/// Returns the id and the text; `None` when the body is not a notification. Unknown types and fields are accepted.
fn notification(body: Vec<u8>) -> Option<(String, String)> {
    let text = String::from_utf8(body).ok()?;
    let value: Value = serde_json::from_str(&text).ok()?;
    let id = value.get("id")?.as_str()?;
    let is_id = (1..=200).contains(&id.len()) && !id.chars().any(char::is_control);
    let is_notification = value.get("type")?.is_string() && value.get("data")?.is_object();
    (is_id && is_notification).then(|| (id.to_owned(), text))
}

fn setting(name: &str, default: &str) -> String {
    match std::env::var(name) {
        Ok(value) if !value.is_empty() => value,
        _ => default.to_owned(),
    }
}
