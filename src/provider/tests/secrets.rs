//! Secrets go into one header and nowhere else.

use crate::domain::port::Provider as _;
use crate::provider::tests::server::{Server, json};
use crate::provider::tests::{limits, only_ref};
use crate::provider::{HttpProvider, OpenError, built_in};

const SECRET: &str = "rk_live_s3cr3t";

fn open(address: &str, secret: Option<&str>) -> Result<HttpProvider, OpenError> {
    let adapter = built_in("stripe").unwrap().at(address);
    HttpProvider::open(
        adapter,
        &|name| {
            assert_eq!(name, "UNSTUCK_STRIPE_KEY");
            secret.map(str::to_owned)
        },
        limits(),
    )
}

#[tokio::test]
async fn the_secret_is_sent_and_never_shown() {
    let server = Server::start(|_| json(401, r#"{"error":"rk_live_s3cr3t is not valid"}"#)).await;
    let provider = open(server.address(), Some("rk_live_s3cr3t\n")).unwrap();
    let evidence = provider.lookup(&only_ref()).await;
    assert_eq!(server.seen()[0].headers["authorization"], "Bearer rk_live_s3cr3t");
    let shown = format!("{provider:?} {evidence:?} {}", serde_json::to_string(&evidence).unwrap());
    assert!(!shown.contains("s3cr3t"), "{shown}");
}

#[test]
fn full_keys_and_missing_keys_are_refused() {
    let address = "https://127.0.0.1:1";
    for full in ["sk_live_x", "sk_test_x", "  sk_live_x"] {
        let error = open(address, Some(full)).unwrap_err();
        assert!(matches!(error, OpenError::SecretTooStrong { .. }), "{error}");
        assert!(!error.to_string().contains("_x"), "{error}");
    }
    for none in [None, Some(""), Some("  \n")] {
        assert!(matches!(open(address, none).unwrap_err(), OpenError::SecretMissing { .. }));
    }
    let odd = open(address, Some(&format!("{SECRET}\r\nX-Evil: 1"))).unwrap_err();
    assert!(matches!(odd, OpenError::SecretUnusable { .. }), "{odd}");
    assert!(!format!("{odd} {odd:?}").contains("s3cr3t"));
}

#[test]
fn a_provider_needs_a_safe_address() {
    assert!(matches!(open("http://api.example.com", Some(SECRET)).unwrap_err(), OpenError::BadAddress { .. }));
    let nowhere = HttpProvider::open(built_in("lab").unwrap(), &|_| None, limits());
    assert!(matches!(nowhere.unwrap_err(), OpenError::NoAddress(_)));
}
