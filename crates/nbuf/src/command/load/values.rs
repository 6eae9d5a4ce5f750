//! The values of the options of `nbuf load`.

use std::str::FromStr;
use std::time::Duration;

use nbuf::experiment::load::USERS_MAX;
use nbuf::units::{Bytes, Nanos, Size};

/// Steps at most: more are a slip of the pen.
const STEPS_MAX: usize = 1000;

/// Numbers of users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Users(pub(super) Vec<u32>);

impl FromStr for Users {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("write 1,2,4,8 or 1..8 or 1..64:9, each from 1 to {USERS_MAX}");
        let number = |text: &str| {
            let number = text.trim().parse().ok();
            number.filter(|number| (1..=USERS_MAX).contains(number)).ok_or_else(wrong)
        };
        let mut all = Vec::new();
        for item in text.split(',') {
            let Some((from, to)) = item.split_once("..") else {
                all.push(number(item)?);
                continue;
            };
            let (to, step) = to.split_once(':').unwrap_or((to, "1"));
            let step = usize::try_from(number(step)?).map_err(|_| wrong())?;
            all.extend((number(from)?..=number(to)?).step_by(step).take(STEPS_MAX + 1));
        }
        if all.is_empty() || all.len() > STEPS_MAX {
            return Err(format!("this is {} steps: give 1 to {STEPS_MAX}", all.len()));
        }
        Ok(Self(all))
    }
}

/// Memory limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Limits(pub(super) Vec<Bytes>);

impl FromStr for Limits {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let limit = |item: &str| match item.trim().parse() {
            Ok(Size::Absolute(bytes)) if bytes.0 > 0 => Ok(bytes),
            _ => Err(format!("`{item}` is no memory limit: write 512MiB or 1GiB,512MiB,256MiB")),
        };
        let limits: Vec<Bytes> = text.split(',').map(limit).collect::<Result<_, _>>()?;
        let twice = limits.iter().enumerate().find(|(at, limit)| limits[..*at].contains(limit));
        twice.map_or_else(
            || Ok(Self(limits.clone())),
            |(_, limit)| Err(format!("{limit} is there twice")),
        )
    }
}

/// Numbers of places, or of processors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Counts(pub(super) Vec<u32>);

impl FromStr for Counts {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let count = |item: &str| {
            let count = item.trim().parse().ok().filter(|count| (1..=USERS_MAX).contains(count));
            count.ok_or_else(|| format!("`{item}` is not possible: write 4 or 4,8"))
        };
        let counts: Vec<u32> = text.split(',').map(count).collect::<Result<_, _>>()?;
        let twice = counts.iter().enumerate().find(|(at, count)| counts[..*at].contains(count));
        twice.map_or_else(
            || Ok(Self(counts.clone())),
            |(_, count)| Err(format!("{count} is there twice")),
        )
    }
}

/// A time from a tenth of a second to a day.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let time: Nanos = text.parse().map_err(|error: nbuf::units::NanosError| error.to_string())?;
    let time = Duration::from_nanos(time.0);
    let fits = (Duration::from_millis(100)..=Duration::from_hours(24)).contains(&time);
    if fits { Ok(time) } else { Err("give a time from 100ms to 24h".to_owned()) }
}

/// A server that can be asked.
pub(super) fn server(text: &str) -> Result<String, String> {
    let host = text.strip_prefix("http://").unwrap_or_default();
    let is_plain = host.chars().all(|c| c.is_ascii_graphic());
    if !host.is_empty() && !host.starts_with('/') && is_plain {
        Ok(text.to_owned())
    } else {
        Err("begin it with http://HOST".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read() {
        let of = |text: &str| text.parse::<Limits>().map(|limits| limits.0);
        assert_eq!(of("1GiB, 512MiB"), Ok(vec![Bytes(1 << 30), Bytes(512 << 20)]));
        for wrong in ["", "0", "1GiB,", "10%", "much", "-1MiB", "1GiB,1024MiB"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_of_places_are_read() {
        assert_eq!("4, 8".parse::<Counts>(), Ok(Counts(vec![4, 8])));
        for wrong in ["", "0", "4,4", "a", "-1", "4,", "20000"] {
            assert!(wrong.parse::<Counts>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_of_users_are_read() {
        let of = |text: &str| text.parse::<Users>().map(|users| users.0);
        assert_eq!(of("1,2,8"), Ok(vec![1, 2, 8]));
        assert_eq!(of("1..3,8..20:6"), Ok(vec![1, 2, 3, 8, 14, 20]));
        for wrong in ["", "0", "3..1", "a", "1..", "20000", "1..5:0", "1..9999"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
