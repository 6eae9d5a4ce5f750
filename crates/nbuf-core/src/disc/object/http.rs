//! A file of a web server, read by ranges.
//!
//! The first request asks for one byte. Its answer has the size, the version, and shows that the server sends ranges;
//! a presigned URL allows it, and no HEAD. Every later request names the version (`If-Match`), and nbuf compares the version
//! of each answer, as some servers ignore the condition. Source: RFC 9110, sections 13 and 14.

use std::ops::Range;
use std::time::Duration;

use reqwest::header::{self, HeaderMap, HeaderName};
use reqwest::{Client, Response, StatusCode, Url};

use super::origin::{Facts, Failed, Version, cause, words};
use super::{ObjectDiscError, REQUESTS};

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a server may send nothing.
const SILENCE: Duration = Duration::from_secs(20);
/// Tries at the start, and the wait between two.
const TRIES: usize = 3;
const WAIT: Duration = Duration::from_millis(500);

/// A file of a web server.
pub(crate) struct Http {
    client: Client,
    url: Url,
    pub(super) facts: Facts,
}

/// What an answer says about the file.
struct Described {
    range: Option<Range<u64>>,
    size_bytes: Option<u64>,
    version: Version,
}

impl Http {
    /// Asks the server about the file.
    pub(crate) async fn open(address: &str) -> Result<Self, ObjectDiscError> {
        // An earlier call has installed the same, or the host program another one that does.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let wrong = |why: String| {
            let address = address.split(['?', '#']).next().unwrap_or_default().to_owned();
            ObjectDiscError::Url { address, why }
        };
        let url = Url::parse(address).map_err(|error| wrong(error.to_string()))?;
        let is_here =
            ["localhost", "127.0.0.1", "[::1]"].contains(&url.host_str().unwrap_or_default());
        let client = Client::builder();
        // A proxy for other machines would look for this one's addresses on itself.
        let client = if is_here { client.no_proxy() } else { client };
        let client = client
            .user_agent(concat!("nbuf/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            .read_timeout(SILENCE)
            .pool_max_idle_per_host(REQUESTS as usize)
            .build();
        let address = shown(&url);
        let client = client.map_err(|error| ObjectDiscError::Unreachable {
            address: address.clone(),
            why: cause(&error),
        })?;
        let mut http = Self { client, url, facts: Facts { address, ..Facts::default() } };
        let described = http.first().await?;
        let size_bytes = described.size_bytes.ok_or_else(|| http.answer("no size".to_owned()))?;
        http.facts = Facts { size_bytes, version: described.version, ..http.facts };
        if http.facts.version == Version::default() {
            return Err(ObjectDiscError::NoVersion(http.facts.address));
        }
        Ok(http)
    }

    /// The first answer, of one byte.
    async fn first(&self) -> Result<Described, ObjectDiscError> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.ask(&(0..1)).await {
                Ok(response) => return Ok(Described::of(response.headers())),
                Err(Failed::Again(_)) if tries < TRIES => tokio::time::sleep(WAIT).await,
                Err(Failed::Again(error) | Failed::Final(error)) => return Err(error),
            }
        }
    }

    /// Fills the room with the bytes of a range of the same length.
    pub(super) async fn read(&self, range: Range<u64>, room: &mut [u8]) -> Result<(), Failed> {
        let mut response = self.ask(&range).await?;
        let Described { range: sent, size_bytes, version } = Described::of(response.headers());
        let is_same = match self.facts.version.strong_tag() {
            Some(tag) => version.tag.as_deref() == Some(tag),
            None => version == self.facts.version,
        };
        if !is_same || size_bytes.is_some_and(|size_bytes| size_bytes != self.facts.size_bytes) {
            return Err(Failed::Final(ObjectDiscError::Changed(self.facts.address.clone())));
        }
        if sent.as_ref() != Some(&range) {
            let sent = sent.map_or_else(|| "no range".to_owned(), |sent| words(&sent));
            let why = format!("{sent} instead of {}", words(&range));
            return Err(Failed::Final(self.answer(why)));
        }
        let mut filled = 0;
        while let Some(bytes) = response.chunk().await.map_err(|error| self.unreachable(&error))? {
            let Some(part) = room.get_mut(filled..filled + bytes.len()) else {
                let why = format!("more than {}", words(&range));
                return Err(Failed::Final(self.answer(why)));
            };
            part.copy_from_slice(&bytes);
            filled += bytes.len();
        }
        if filled == room.len() {
            return Ok(());
        }
        Err(Failed::Again(self.answer(format!("{filled} B of {}", words(&range)))))
    }

    /// Asks for a range, of the known version if there is one; the answer has a part of the file.
    async fn ask(&self, range: &Range<u64>) -> Result<Response, Failed> {
        let mut request = self
            .client
            .get(self.url.clone())
            .header(header::RANGE, format!("bytes={}-{}", range.start, range.end - 1))
            .header(header::ACCEPT_ENCODING, "identity");
        if let Some((name, value)) = condition(&self.facts.version) {
            request = request.header(name, value);
        }
        let response = request.send().await.map_err(|error| self.unreachable(&error))?;
        let status = response.status();
        if status == StatusCode::PARTIAL_CONTENT {
            return Ok(response);
        }
        let (address, why) = (self.facts.address.clone(), status.to_string());
        let is_known = self.facts.version != Version::default();
        let error = match status {
            StatusCode::OK => ObjectDiscError::NoRanges(address),
            StatusCode::RANGE_NOT_SATISFIABLE if !is_known => ObjectDiscError::Empty(address),
            StatusCode::RANGE_NOT_SATISFIABLE | StatusCode::PRECONDITION_FAILED if is_known => {
                ObjectDiscError::Changed(address)
            }
            StatusCode::NOT_FOUND | StatusCode::GONE => ObjectDiscError::Absent(address),
            StatusCode::UNAUTHORIZED
            | StatusCode::FORBIDDEN
            | StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
                ObjectDiscError::Refused { address, why }
            }
            _ => ObjectDiscError::Answer { address, why },
        };
        let may_pass = [
            StatusCode::REQUEST_TIMEOUT,
            StatusCode::TOO_MANY_REQUESTS,
            StatusCode::INTERNAL_SERVER_ERROR,
            StatusCode::BAD_GATEWAY,
            StatusCode::SERVICE_UNAVAILABLE,
            StatusCode::GATEWAY_TIMEOUT,
        ];
        Err(if may_pass.contains(&status) { Failed::Again(error) } else { Failed::Final(error) })
    }

    fn answer(&self, why: String) -> ObjectDiscError {
        ObjectDiscError::Answer { address: self.facts.address.clone(), why }
    }

    /// What the client says of a connection. A redirection that it refuses comes again.
    fn unreachable(&self, error: &reqwest::Error) -> Failed {
        let (address, why) = (self.facts.address.clone(), cause(error));
        let is_final = error.is_redirect() || error.is_builder();
        let error = ObjectDiscError::Unreachable { address, why };
        if is_final { Failed::Final(error) } else { Failed::Again(error) }
    }
}

impl Described {
    fn of(headers: &HeaderMap) -> Self {
        let text = |name: HeaderName| {
            headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        let (range, size_bytes) = text(header::CONTENT_RANGE)
            .and_then(|text| content_range(&text))
            .map_or((None, None), |(range, size_bytes)| (Some(range), size_bytes));
        let version = Version { tag: text(header::ETAG), modified: text(header::LAST_MODIFIED) };
        Self { range, size_bytes, version }
    }
}

/// The header that lets a server send this version only. A weak tag never matches.
fn condition(version: &Version) -> Option<(HeaderName, &str)> {
    let by_tag = version.strong_tag().map(|tag| (header::IF_MATCH, tag));
    let by_time = || Some((header::IF_UNMODIFIED_SINCE, version.modified.as_deref()?));
    by_tag.or_else(by_time)
}

/// The range of `bytes 0-9/100`, and the size if it is known.
fn content_range(text: &str) -> Option<(Range<u64>, Option<u64>)> {
    let (range, size) = text.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.trim().split_once('-')?;
    let end = last.parse::<u64>().ok()?.checked_add(1)?;
    let size = size.trim();
    let size_bytes = if size == "*" { None } else { Some(size.parse().ok()?) };
    Some((first.parse().ok()?..end, size_bytes))
}

/// A URL without its query, which may hold a signature.
fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    url.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_answers_are_read() {
        assert_eq!(content_range("bytes 0-0/1"), Some((0..1, Some(1))));
        assert_eq!(content_range("bytes 5-9/*"), Some((5..10, None)));
        for wrong in
            ["", "bytes */10", "bytes 1/2", "items 0-1/2", "bytes 0-18446744073709551615/1"]
        {
            assert_eq!(content_range(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_weak_tag_is_no_condition() {
        let version = |tag: Option<&str>, modified: Option<&str>| Version {
            tag: tag.map(str::to_owned),
            modified: modified.map(str::to_owned),
        };
        let check = |version: Version, want: Option<(HeaderName, &str)>| {
            assert_eq!(condition(&version), want);
        };
        check(version(Some("\"a\""), Some("t")), Some((header::IF_MATCH, "\"a\"")));
        check(version(Some("W/\"a\""), Some("t")), Some((header::IF_UNMODIFIED_SINCE, "t")));
        check(version(Some("W/\"a\""), None), None);
    }

    #[test]
    fn no_query_is_shown() {
        let url = Url::parse("https://host/a%20b?signature=secret#x").unwrap();
        assert_eq!(shown(&url), "https://host/a%20b");
    }
}
