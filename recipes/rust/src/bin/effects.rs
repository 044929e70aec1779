//! Prints what the receiver stored, from its journal (WEBHOOK_JOURNAL). For test environments only.
//! `cargo run --release --bin effects notification=ID,ID` or `cargo run --release --bin effects transaction=ID`

use std::error::Error;

use percent_encoding::percent_decode_str;
use serde_json::{json, Map, Value};

const DECIMALS: [(&str, usize); 5] = [
    ("BTC", 8),
    ("ETH", 18),
    ("USDC", 6),
    ("GUSD", 2),
    ("NEO", 0),
];

fn main() -> Result<(), Box<dyn Error>> {
    let query = std::env::args().nth(1).unwrap_or_default();
    let (name, given) = match query.split_once('=') {
        Some((name @ ("notification" | "transaction"), given)) if !given.is_empty() => {
            (name, given)
        }
        _ => return Err("Give notification=ID,ID or transaction=ID.".into()),
    };
    let ids: Vec<_> = given
        .split(',')
        .map(|id| percent_decode_str(id).decode_utf8_lossy())
        .collect();
    let path = std::env::var("WEBHOOK_JOURNAL").unwrap_or("journal.ndjson".to_owned());
    let journal = std::fs::read(path)?;
    let mut all = Vec::new();
    // An incomplete last line is still being written.
    for line in journal
        .split_inclusive(|&byte| byte == b'\n')
        .filter(|line| line.ends_with(b"\n"))
    {
        let entry: Value = serde_json::from_slice(line)?;
        all.push(handling(&serde_json::from_str(
            entry["body"].as_str().ok_or("no body")?,
        )?));
    }
    let total = all.len();
    all.retain(|one| {
        one.get(name)
            .is_some_and(|id| ids.iter().any(|asked| id == asked.as_ref()))
    });
    println!("{}", json!({ "total": total, "handled": all }));
    Ok(())
}

fn handling(notification: &Value) -> Map<String, Value> {
    let data = &notification["data"];
    // Returns the first of these fields that is filled.
    let first = |paths: &[&str]| {
        let found = paths.iter().filter_map(|path| data.pointer(path)?.as_str());
        found
            .filter(|text| !text.is_empty())
            .map(str::to_owned)
            .next()
    };
    let kind = match (notification["type"].as_str(), data["type"].as_str()) {
        (Some("CAAS"), Some(kind)) if !kind.is_empty() => Some(format!("CAAS_{kind}")),
        (kind, _) => kind.map(str::to_owned),
    };
    let currency = first(&[
        "/metadata/asset/currency",
        "/metadata/currency",
        "/metadata/blockchainData/currency",
        "/assetId",
    ]);
    let amount = match first(&["/metadata/asset/amount"]) {
        Some(atomic) => display_amount(&atomic, currency.as_deref()),
        None => first(&["/metadata/amount"]),
    };
    let hash = first(&[
        "/metadata/blockchainData/blockchainTransactionId",
        "/metadata/blockchainTransactionId",
        "/metadata/blockchainData/blockchainTransctionId",
        "/metadata/blockchainTransctionId",
    ]);
    let values = [
        (
            "notification",
            notification["id"].as_str().map(str::to_owned),
        ),
        ("kind", kind),
        (
            "status",
            first(&[
                "/metadata/orderStatus",
                "/metadata/providerTransactionStatus",
                "/status",
            ]),
        ),
        (
            "transaction",
            first(&["/transactionId", "/partnerTransactionId"]),
        ),
        ("customer", first(&["/customerId", "/accountId"])),
        ("paymentMethod", first(&["/paymentMethodId"])),
        ("address", first(&["/walletAddress"])),
        ("hash", hash),
        ("amount", amount),
        ("currency", currency),
        ("errorCode", first(&["/errorData/code", "/errorCode"])),
    ];
    let filled = values
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.into())));
    filled.collect()
}

/// Moves the decimal point in the string, because a float would lose digits. An asset whose decimals are unknown has no
/// amount.
fn display_amount(atomic: &str, currency: Option<&str>) -> Option<String> {
    let (_, decimals) = DECIMALS
        .into_iter()
        .find(|(symbol, _)| Some(*symbol) == currency)?;
    if !atomic.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = format!("{atomic:0>width$}", width = decimals + 1);
    let (whole, fraction) = digits.split_at(digits.len() - decimals);
    Some(
        format!("{whole}.{fraction}")
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_owned(),
    )
}
