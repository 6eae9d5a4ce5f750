//! Whether a name is one of an object: `s3://bucket/key`.

use std::path::Path;

/// The schemes of the three stores.
const SCHEMES: [&str; 5] = ["s3", "gs", "az", "abfs", "abfss"];

/// Whether a name is one of an object, and not a path.
pub(crate) fn is_object(path: &Path) -> bool {
    let scheme = path.to_str().and_then(|name| name.split_once("://")).map(|parts| parts.0);
    scheme.is_some_and(|scheme| SCHEMES.contains(&scheme))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_objects_are_told_from_paths() {
        let check = |name: &str, want| assert_eq!(is_object(Path::new(name)), want, "{name}");
        for object in ["s3://b/k", "gs://b", "az://c/k", "abfss://c@a.dfs.core.windows.net/k"] {
            check(object, true);
        }
        for path in ["s3/b/k", "./s3://b/k", "s3:/b/k", "file:///k", "http://h/k", "", "://"] {
            check(path, false);
        }
    }
}
