//! Receives signed notifications with axum: verifies the raw body, appends it to a journal on disk, answers 200.
//!
//! Start it with `cargo run --release` (Rust 1.80 or later). Environment: WEBHOOK_SECRET and WEBHOOK_API_KEY (at least
//! one of them; the other check is off), PORT (3000), HOST (127.0.0.1), WEBHOOK_JOURNAL (journal.ndjson).
//! One process only: the known ids are in memory. For several, use a database with a unique key on the id.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode};
use axum::{routing::post, Router};
use base64::{engine::general_purpose::STANDARD, Engine};
use hmac::{Hmac, Mac};
use serde_json::{json, Value};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio::task::spawn_blocking;

static SECRET: LazyLock<String> = LazyLock::new(|| setting("WEBHOOK_SECRET", ""));
static API_KEY: LazyLock<String> = LazyLock::new(|| setting("WEBHOOK_API_KEY", ""));

#[tokio::main]
async fn main() -> io::Result<()> {
    if SECRET.is_empty() && API_KEY.is_empty() {
        eprintln!("Set WEBHOOK_SECRET, WEBHOOK_API_KEY or both: without them anyone could post.");
        std::process::exit(1);
    }
    let journal = Journal::open(&setting("WEBHOOK_JOURNAL", "journal.ndjson"))?;
    let app = Router::new()
        .route("/hooks", post(receive))
        .layer(DefaultBodyLimit::max(1024 * 1024))
        .with_state(Arc::new(Mutex::new(journal)));
    let (host, port) = (setting("HOST", "127.0.0.1"), setting("PORT", "3000"));
    let listener = tokio::net::TcpListener::bind(format!("{host}:{port}")).await?;
    println!("listening on http://{host}:{port}/hooks");
    axum::serve(listener, app).await
}

type SharedJournal = State<Arc<Mutex<Journal>>>;

/// `Bytes` is the raw body, whatever its type; a larger one than the limit is answered 413.
async fn receive(State(journal): SharedJournal, headers: HeaderMap, body: Bytes) -> StatusCode {
    if !is_authentic(&headers, &body) {
        return StatusCode::UNAUTHORIZED;
    }
    let Some((id, text)) = notification(&body) else {
        return StatusCode::BAD_REQUEST;
    };
    // Writing to the disk blocks, and must not block the threads that serve connections.
    match spawn_blocking(move || journal.lock().unwrap().store(id, text)).await {
        Ok(Ok(())) => StatusCode::OK,
        error => {
            eprintln!("not stored: {error:?}");
            StatusCode::SERVICE_UNAVAILABLE // The sender may deliver it again.
        }
    }
}

fn is_authentic(headers: &HeaderMap, body: &[u8]) -> bool {
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).expect("any length is valid");
    mac.update(body);
    let signature = STANDARD.encode(mac.finalize().into_bytes());
    let is_signed = SECRET.is_empty() || is_same(headers, "x-service-signature", &signature);
    is_signed && (API_KEY.is_empty() || is_same(headers, "x-api-key", &API_KEY))
}

/// Exactly one line of the header. Compares digests: in constant time, whatever the lengths.
fn is_same(headers: &HeaderMap, name: &str, expected: &str) -> bool {
    let mut lines = headers.get_all(name).iter();
    let (Some(received), None) = (lines.next(), lines.next()) else {
        return false;
    };
    Sha256::digest(received.as_bytes())
        .ct_eq(&Sha256::digest(expected.as_bytes()))
        .into()
}

/// The id and the text of a notification; `None` when the body is not one. Unknown types and fields are accepted.
fn notification(body: &[u8]) -> Option<(String, String)> {
    let text = std::str::from_utf8(body).ok()?;
    let value: Value = serde_json::from_str(text).ok()?;
    let id = value.get("id")?.as_str()?;
    let is_id = (1..=200).contains(&id.len()) && !id.chars().any(char::is_control);
    let is_notification = value.get("type")?.is_string() && value.get("data")?.is_object();
    (is_id && is_notification).then(|| (id.to_owned(), text.to_owned()))
}

fn setting(name: &str, default: &str) -> String {
    match std::env::var(name) {
        Ok(value) if !value.is_empty() => value,
        _ => default.to_owned(),
    }
}

/// A file with one line of JSON per notification, each of them on disk before `store` returns.
struct Journal {
    file: File,
    size: u64,
    ids: HashSet<String>,
}

impl Journal {
    fn open(path: &str) -> io::Result<Self> {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        let mut content = Vec::new();
        file.read_to_end(&mut content)?;
        // What follows the last line was being written when the process was killed.
        let end = content
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |at| at + 1);
        file.set_len(end as u64)?;
        file.sync_all()?;
        let mut ids = HashSet::new();
        for line in serde_json::Deserializer::from_slice(&content[..end]).into_iter::<Value>() {
            ids.insert(line?["id"].as_str().unwrap_or_default().to_owned());
        }
        Ok(Self {
            file,
            size: end as u64,
            ids,
        })
    }

    /// A copy adds no line.
    fn store(&mut self, id: String, body: String) -> io::Result<()> {
        if self.ids.contains(&id) {
            return Ok(());
        }
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let line = format!(
            "{}\n",
            json!({ "id": id, "receivedAt": now.as_secs(), "body": body })
        );
        if let Err(error) = self.append(line.as_bytes()) {
            self.file.set_len(self.size)?;
            return Err(error);
        }
        self.size += line.len() as u64;
        self.ids.insert(id);
        Ok(())
    }

    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.size))?;
        self.file.write_all(line)?;
        self.file.sync_data()
    }
}
