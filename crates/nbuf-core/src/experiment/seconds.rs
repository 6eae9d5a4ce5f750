//! Durations in specs: seconds, as numbers.

use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[expect(clippy::ref_option, reason = "serde calls it so")]
pub(super) fn serialize<S: Serializer>(time: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_secs_f64()).serialize(to)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Duration>, D::Error> {
    let seconds = Option::<f64>::deserialize(from)?;
    seconds.map(|it| Duration::try_from_secs_f64(it).map_err(D::Error::custom)).transpose()
}
