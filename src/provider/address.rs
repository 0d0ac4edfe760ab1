//! Where a provider may be: HTTPS, or plain HTTP on this machine only.

use std::net::IpAddr;

use reqwest::Url;

/// Checks a base URL. The error is a sentence with the way out; it never repeats the address,
/// which may carry a password put in the wrong place.
pub fn check(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|_| "is not a URL such as \"https://api.example.com\"")?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("has a user or password in it; secrets come from an environment variable".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("must end before any ? or #".to_owned());
    }
    match url.scheme() {
        "https" if url.host_str().is_some() => Ok(url),
        "http" if is_loopback(&url) => Ok(url),
        _ => Err("must be https; plain http only on this machine (127.0.0.1, ::1)".to_owned()),
    }
}

/// Whether the host is this machine.
pub fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(|host| {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn https_or_this_machine() {
        for good in [
            "https://api.example.com",
            "https://api.example.com/v2",
            "http://127.0.0.1:9",
            "http://[::1]:9",
            "http://localhost:1",
        ] {
            assert!(check(good).is_ok(), "{good}");
        }
        for bad in [
            "http://api.example.com",
            "http://127.0.0.1.example.com",
            "ftp://127.0.0.1",
            "https://u:p@api.example.com",
            "https://api.example.com/?x",
            "https://api.example.com/#x",
            "api.example.com",
            "file:///etc/passwd",
            "http://0.0.0.0:1",
        ] {
            let why = check(bad).unwrap_err();
            assert!(!why.contains("u:p"), "{why}");
        }
    }
}
