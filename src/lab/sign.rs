//! Signatures of webhooks: HMAC-SHA256 over the time and the bytes of the body.
//!
//! `t=UNIX_SECONDS,v1=HEX`, as the big providers do it. A message without a valid one is noise, whoever sent it.

use std::fmt::Write;

use sha2::{Digest, Sha256};

/// The header that carries it.
pub(super) const HEADER: &str = "lab-signature";
/// The secret the lab's provider and service share. Nothing here is real money.
pub(super) const SECRET: &str = "whsec_lab_only_for_practice";
/// How far the time in a signature may be from ours, seconds: an old message that is sent again is refused.
pub(super) const TOLERANCE: i64 = 300;
/// The block of SHA-256, bytes.
const BLOCK: usize = 64;

/// What a signature is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Made with our secret, over these bytes, just now.
    Good,
    /// No header, or one that cannot be read.
    Missing,
    /// Made with our secret, but too long ago or too far ahead.
    Stale,
    /// Of other bytes, or made with another secret.
    Forged,
}

/// The header for `body` at `at` (unix seconds).
pub(super) fn sign(secret: &str, at: i64, body: &[u8]) -> String {
    format!("t={at},v1={}", hex(&mac(secret, at, body)))
}

/// Judges the header of a message that arrived at `now` (unix seconds).
pub(super) fn verify(secret: &str, header: Option<&str>, body: &[u8], now: i64) -> Verdict {
    let part = |name: &str| header.and_then(|text| text.split(',').find_map(|part| part.trim().strip_prefix(name)));
    let Some((at, given)) = part("t=").and_then(|at| at.parse::<i64>().ok()).zip(part("v1=")) else {
        return Verdict::Missing;
    };
    if !same(hex(&mac(secret, at, body)).as_bytes(), given.as_bytes()) {
        return Verdict::Forged;
    }
    if now.abs_diff(at) > TOLERANCE.unsigned_abs() { Verdict::Stale } else { Verdict::Good }
}

fn mac(secret: &str, at: i64, body: &[u8]) -> [u8; 32] {
    let mut message = format!("{at}.").into_bytes();
    message.extend_from_slice(body);
    hmac(secret.as_bytes(), &message)
}

/// RFC 2104 over SHA-256.
fn hmac(key: &[u8], message: &[u8]) -> [u8; 32] {
    let short: Vec<u8> = if key.len() > BLOCK { Sha256::digest(key).to_vec() } else { key.to_vec() };
    let padded = |with: u8| -> Vec<u8> {
        short.iter().copied().chain(std::iter::repeat(0)).take(BLOCK).map(|byte| byte ^ with).collect()
    };
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(padded(0x5c)).chain_update(inner).finalize().into()
}

/// In the same time wherever they differ: how long it takes tells nobody how much was right.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").ok();
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, cases 2, 3 and 6.
    #[test]
    fn the_published_vectors_come_out() {
        let of = |key: &[u8], message: &[u8]| hex(&hmac(key, message));
        assert_eq!(
            of(b"Jefe", b"what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(of(&[0xaa; 20], &[0xdd; 50]), "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
        assert_eq!(
            of(&[0xaa; 131], b"Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }

    #[test]
    fn a_message_is_believed_with_our_secret_over_its_bytes_and_in_time() {
        let header = sign(SECRET, 1_000, b"{}");
        let judge = |header: Option<&str>, body: &[u8], now| verify(SECRET, header, body, now);
        assert_eq!(judge(Some(&header), b"{}", 1_000), Verdict::Good);
        assert_eq!(judge(Some(&header), b"{}", 1_000 + TOLERANCE), Verdict::Good);
        assert_eq!(judge(Some(&header), b"{}", 1_001 + TOLERANCE), Verdict::Stale);
        assert_eq!(judge(Some(&header), b"{}", 999 - TOLERANCE), Verdict::Stale);
        assert_eq!(judge(Some(&header), b"{ }", 1_000), Verdict::Forged);
        assert_eq!(judge(Some(&header.replace("t=1000", "t=1001")), b"{}", 1_000), Verdict::Forged);
        assert_eq!(judge(Some(&sign("another", 1_000, b"{}")), b"{}", 1_000), Verdict::Forged);
        assert_eq!(judge(Some("t=1000,v1="), b"{}", 1_000), Verdict::Forged);
        for unreadable in [None, Some(""), Some("v1=ab"), Some("t=x,v1=ab"), Some("t=1000")] {
            assert_eq!(judge(unreadable, b"{}", 1_000), Verdict::Missing, "{unreadable:?}");
        }
        assert_eq!(judge(Some("t=9223372036854775807,v1=ab"), b"{}", -5), Verdict::Forged);
    }
}
