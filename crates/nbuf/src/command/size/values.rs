//! The values of options: sizes, times and budgets.

use std::time::Duration;

use nbuf::units::{Bytes, PAGE_BYTES, Size};

/// What may be spent: time, or memory compared with another result.
#[derive(Clone, Copy, Debug)]
pub(super) enum Budget {
    /// For all runs.
    Time(Duration),
    /// For B, in memories of A.
    Times(f64),
}

/// `1%`, up to all of it.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let share = number.map(|number| number / 100.0).filter(|share| *share > 0.0 && *share <= 1.0);
    share.ok_or_else(|| "write a share of a processor up to 100%, as 1% or 0.5%".to_owned())
}

/// `50MiB`, and more than nothing.
pub(super) fn rate(text: &str) -> Result<Bytes, String> {
    match text.parse::<Size>() {
        Ok(Size::Absolute(bytes)) if bytes > Bytes(0) => Ok(bytes),
        _ => Err("write a size of more than nothing, such as 50MiB".into()),
    }
}

/// `90`, `90s`, `10m`, `1h`
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("write 90, 90s, 10m or 1h".into()),
    };
    let number: f64 = digits.parse().map_err(|_| "write 90, 90s, 10m or 1h")?;
    Duration::try_from_secs_f64(number * factor).map_err(|_| "write 90, 90s, 10m or 1h".into())
}

/// A duration in which something can be done.
pub(in crate::command) fn some_time(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("no command can run in a time of 0: write 90, 90s, 10m or 1h".into()),
        some => Ok(some),
    }
}

/// The length of a window of `--follow`.
pub(super) fn window_time(text: &str) -> Result<Duration, String> {
    let time = duration(text)?;
    if (Duration::from_secs(1)..=Duration::from_hours(1)).contains(&time) {
        return Ok(time);
    }
    Err("give a time from 1s to 1h".into())
}

/// A readahead window: whole pages, none of anything, and as many as a device can have.
pub(super) fn window(text: &str) -> Result<Bytes, String> {
    match text.parse::<Size>() {
        Ok(Size::Absolute(window)) if window.0 % PAGE_BYTES != 0 => {
            Err("a window is a multiple of 4KiB: write 0 or 128KiB".into())
        }
        Ok(Size::Absolute(window)) if window <= Bytes(1 << 30) => Ok(window),
        Ok(Size::Absolute(_)) => Err("a window is at most 1GiB: write 0 or 128KiB".into()),
        Ok(Size::Percent(_)) => {
            Err("a window is in bytes, not in percent: write 0 or 128KiB".into())
        }
        Err(error) => Err(error.to_string()),
    }
}

/// `10m`, or a factor.
pub(super) fn budget(text: &str) -> Result<Budget, String> {
    if text.ends_with(|c: char| c.is_ascii_alphabetic()) {
        let time = some_time(text).map(Budget::Time);
        return time.map_err(|error| format!("{error}; with --compare, a factor such as 1.05"));
    }
    let factor = text.parse().ok().filter(|factor: &f64| factor.is_finite() && *factor > 0.0);
    let factor = factor.map(Budget::Times);
    factor.ok_or_else(|| "write 1.05 for at most 5 % more, or a time as 10m".into())
}
