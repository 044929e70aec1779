//! A file with one line of JSON per notification, which is on disk before `store` returns. It is locked while the
//! process lives, because the known ids are in its memory.

use std::collections::HashSet;
use std::fs::{metadata, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{json, Value};

/// Enough for a body of 1 MiB in which JSON escapes each byte as six bytes.
const MAX_LINE_BYTES: u64 = 8 * 1024 * 1024;
const LINE_START: &[u8] = b"{\"id\":";

pub struct Journal {
    path: String,
    file: File,
    opened: Metadata,
    size: u64,
    ids: HashSet<String>,
}

impl Journal {
    pub fn open(path: String) -> io::Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&path)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::other(format!(
                    "{path} is in use by another process"
                )))
            }
            other => other?,
        }
        let opened = file.metadata()?;
        let (size, ids) = read_lines(&path, &file)?;
        // An incomplete last line was being written when the process was killed.
        file.set_len(size)?;
        file.sync_all()?;
        Ok(Self {
            path,
            file,
            opened,
            size,
            ids,
        })
    }

    /// Appends a line and flushes it to disk. A duplicate adds no line.
    pub fn store(&mut self, id: String, body: &str) -> io::Result<()> {
        self.check()?;
        if self.ids.contains(&id) {
            return Ok(());
        }
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs();
        // `json!` would sort the names, but a line must begin with its id.
        let line = format!(
            "{{\"id\":{},\"receivedAt\":{now},\"body\":{}}}\n",
            json!(id),
            json!(body)
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
        if self.file.write(line)? < line.len() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.file.sync_data()
    }

    /// A file that was removed or replaced would be missing at the next start. One of another size has part of a line
    /// that could not be cut off, or lines of another program.
    fn check(&self) -> io::Result<()> {
        let found = metadata(&self.path)?;
        let is_same = found.dev() == self.opened.dev() && found.ino() == self.opened.ino();
        if is_same && found.len() == self.size {
            return Ok(());
        }
        Err(io::Error::other(format!(
            "{} is not the file that this process has written",
            self.path
        )))
    }
}

/// Returns the size of the lines and their ids. Changes nothing, so that a wrong path in WEBHOOK_JOURNAL is harmless.
fn read_lines(path: &str, file: &File) -> io::Result<(u64, HashSet<String>)> {
    let mut reader = BufReader::new(file);
    let (mut size, mut ids, mut line) = (0, HashSet::new(), Vec::new());
    for number in 1.. {
        line.clear();
        let length = reader
            .by_ref()
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', &mut line)? as u64;
        let is_torn =
            length < MAX_LINE_BYTES && !line.ends_with(b"\n") && line.starts_with(LINE_START);
        if length == 0 || is_torn {
            break;
        }
        let entry: Value = match line.strip_suffix(b"\n") {
            Some(line) => serde_json::from_slice(line).unwrap_or_default(),
            None => Value::Null,
        };
        let Some(id) = entry["id"].as_str() else {
            return Err(io::Error::other(format!(
                "{path} line {number} is not a line of a journal"
            )));
        };
        ids.insert(id.to_owned());
        size += length;
    }
    Ok((size, ids))
}
