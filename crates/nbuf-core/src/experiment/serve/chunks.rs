//! A disc of chunks in an object store, as an option names it.

use std::fmt;
use std::str::FromStr;

use super::BackendSpecError;
use crate::units::{Bytes, Size};

/// What stands between the scheme of a store and the rest.
const MARK: &str = "+chunks://";
/// The schemes of stores.
const SCHEMES: [&str; 5] = ["s3", "gs", "az", "abfs", "abfss"];

/// A disc of chunks: `s3+chunks://BUCKET/PREFIX`, with `?size=10GiB` to make one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunksSpec {
    /// The scheme of the store.
    scheme: String,
    /// The bucket, and a prefix without a slash at its end.
    place: String,
    /// The size that the disc has to have, and gets if there is none.
    pub size: Option<Bytes>,
}

impl ChunksSpec {
    /// Whether a text begins as the name of such a disc.
    pub(super) fn is(text: &str) -> bool {
        text.split_once(MARK).is_some_and(|(scheme, _)| SCHEMES.contains(&scheme))
    }

    /// The name without a size, which tells the disc from others.
    pub fn address(&self) -> String {
        format!("{}{MARK}{}", self.scheme, self.place)
    }

    /// The name of the prefix in its store: `s3://BUCKET/PREFIX`.
    #[cfg(feature = "object-stores")]
    pub(super) fn prefix(&self) -> String {
        format!("{}://{}", self.scheme, self.place)
    }
}

impl FromStr for ChunksSpec {
    type Err = BackendSpecError;

    fn from_str(text: &str) -> Result<Self, BackendSpecError> {
        let (scheme, rest) = text.split_once(MARK).ok_or(BackendSpecError::Unknown)?;
        let (place, query) =
            rest.split_once('?').map_or((rest, None), |(place, query)| (place, Some(query)));
        let place = place.trim_end_matches('/');
        let has_prefix = place.split_once('/').is_some_and(|(bucket, _)| !bucket.is_empty());
        if !SCHEMES.contains(&scheme) || !has_prefix {
            return Err(BackendSpecError::Chunks);
        }
        let size = query.map(|query| {
            let size = query.strip_prefix("size=").and_then(|size| size.parse().ok());
            match size {
                Some(Size::Absolute(bytes)) => Ok(bytes),
                _ => Err(BackendSpecError::Chunks),
            }
        });
        let (scheme, place) = (scheme.to_owned(), place.to_owned());
        Ok(Self { scheme, place, size: size.transpose()? })
    }
}

impl fmt::Display for ChunksSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.address())?;
        self.size.map_or(Ok(()), |size| write!(f, "?size={}", size.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_a_bucket_a_prefix_and_perhaps_a_size() {
        let check = |text: &str, address: &str, size: Option<u64>| {
            let spec: ChunksSpec = text.parse().unwrap();
            assert_eq!((spec.address().as_str(), spec.size), (address, size.map(Bytes)), "{text}");
            assert_eq!(spec.to_string().parse(), Ok(spec));
        };
        check("s3+chunks://b/p", "s3+chunks://b/p", None);
        check("s3+chunks://b/p/?size=10GiB", "s3+chunks://b/p", Some(10 << 30));
        check("gs+chunks://b/a b/c?size=512", "gs+chunks://b/a b/c", Some(512));
        check(
            "abfss+chunks://c@a.dfs.core.windows.net/p",
            "abfss+chunks://c@a.dfs.core.windows.net/p",
            None,
        );
        for wrong in [
            "s3+chunks://",
            "s3+chunks://b",
            "s3+chunks://b/",
            "s3+chunks:///p",
            "s3+chunks://b/p?size=",
            "s3+chunks://b/p?size=10%",
            "s3+chunks://b/p?bytes=1",
            "http+chunks://b/p",
        ] {
            assert_eq!(wrong.parse::<ChunksSpec>(), Err(BackendSpecError::Chunks), "{wrong}");
        }
    }
}
