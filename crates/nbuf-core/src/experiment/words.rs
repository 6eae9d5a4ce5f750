//! Words of a command as text; in a file they are UTF-8.

use std::ffi::OsString;

use serde::ser::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(super) fn serialize<S: Serializer>(words: &[OsString], to: S) -> Result<S::Ok, S::Error> {
    let text = |word: &OsString| {
        let refused = || S::Error::custom(format!("{} is no UTF-8", word.display()));
        word.to_str().map(str::to_owned).ok_or_else(refused)
    };
    words.iter().map(text).collect::<Result<Vec<String>, _>>()?.serialize(to)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<OsString>, D::Error> {
    let words = Vec::<String>::deserialize(from)?;
    Ok(words.into_iter().map(OsString::from).collect())
}
