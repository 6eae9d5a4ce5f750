//! The parts of an object's name: `s3://bucket/key`.

use super::ObjectError;

/// A name in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) scheme: String,
    /// Bucket or container.
    pub(super) bucket: String,
    /// The rest, without the slashes around it.
    pub(super) key: String,
    /// Whether a slash ends it, or nothing is behind the bucket.
    pub(super) is_folder: bool,
}

impl Name {
    pub(super) fn of(name: &str) -> Result<Self, ObjectError> {
        let wrong = |why| ObjectError::Name { name: name.to_owned(), why };
        let (scheme, rest) = name.split_once("://").ok_or_else(|| wrong("it has no ://"))?;
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() {
            return Err(wrong("a bucket follows ://"));
        }
        let is_folder = key.is_empty() || key.ends_with('/');
        let key = key.strip_suffix('/').unwrap_or(key);
        if key.split('/').any(|part| (part.is_empty() && !key.is_empty()) || part == "..") {
            return Err(wrong("no part of it may be empty or `..`"));
        }
        let (scheme, bucket, key) = (scheme.to_owned(), bucket.to_owned(), key.to_owned());
        Ok(Self { scheme, bucket, key, is_folder })
    }

    /// The store of the object.
    pub(super) fn store(&self) -> String {
        format!("{}://{}", self.scheme, self.bucket)
    }

    /// The name of another object of the store.
    pub(super) fn sibling(&self, key: &str) -> String {
        format!("{}/{key}", self.store())
    }

    /// The folders in front of the first part with a pattern; nothing where there is no pattern.
    pub(super) fn before_pattern(&self) -> Option<&str> {
        let first = self.key.find(['*', '?', '['])?;
        Some(self.key[..first].rsplit_once('/').map_or("", |parts| parts.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_a_bucket_and_a_key() {
        let check = |name: &str, want: Option<(&str, &str, bool, Option<&str>)>| {
            let got = Name::of(name).ok();
            let got = got.as_ref();
            let got = got.map(|n| (&*n.bucket, &*n.key, n.is_folder, n.before_pattern()));
            assert_eq!(got, want, "{name}");
        };
        check("s3://b", Some(("b", "", true, None)));
        check("s3://b/", Some(("b", "", true, None)));
        check("s3://b/k.csv", Some(("b", "k.csv", false, None)));
        check("s3://b/d/host=a%20b/", Some(("b", "d/host=a%20b", true, None)));
        check("s3://b/d/*/x?.csv", Some(("b", "d/*/x?.csv", false, Some("d"))));
        check("s3://b/[ab].csv", Some(("b", "[ab].csv", false, Some(""))));
        for wrong in ["b/k", "s3:///k", "s3://b//k", "s3://b/a//c", "s3://b/a//", "s3://b/../c"] {
            check(wrong, None);
        }
    }
}
