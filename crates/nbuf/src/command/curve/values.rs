//! Values of the options of `nbuf curve`, from text.

use nbuf::experiment::curve::{Rate, Warmup};
use nbuf::experiment::grid::Every;
use nbuf::experiment::target::Target;
use nbuf::units::{Bytes, Size};

/// A page: a power of two from a sector to a gibibyte.
pub(super) fn page(text: &str) -> Result<u64, String> {
    match text.parse::<Size>() {
        Ok(Size::Absolute(Bytes(bytes))) if bytes.is_power_of_two() && bytes <= 1 << 30 => {
            Ok(bytes)
        }
        _ => Err("write a power of two up to 1GiB, such as 4KiB".into()),
    }
}

/// Bytes of an overhead: anything that is no share.
pub(super) fn overhead(text: &str) -> Result<u64, String> {
    match text.parse::<Size>() {
        Ok(Size::Absolute(Bytes(bytes))) if bytes <= 1 << 30 => Ok(bytes),
        _ => Err("write bytes up to 1GiB, such as 56".into()),
    }
}

pub(super) fn warmup(text: &str) -> Result<Warmup, String> {
    let wrong = || "write a number of requests such as 1000000, or a share below 100%".to_owned();
    let Some(percent) = text.strip_suffix('%') else {
        return text.parse().map(Warmup::Requests).map_err(|_| wrong());
    };
    let share = percent.parse().ok().filter(|percent: &f64| (0.0..100.0).contains(percent));
    share
        .map(|percent| Warmup::Millionths(nbuf::units::whole(percent * 10_000.0)))
        .ok_or_else(wrong)
}

pub(super) fn rate(text: &str) -> Result<Rate, String> {
    if text == "auto" {
        return Ok(Rate::Auto);
    }
    let rate = text.parse().ok().filter(|rate: &f64| *rate > 0.0 && *rate <= 1.0);
    rate.map(Rate::Fixed).ok_or_else(|| "write a share of the keys such as 0.01, or auto".into())
}

pub(super) fn tolerance(text: &str) -> Result<f64, String> {
    let points = text.parse().ok().filter(|points: &f64| *points > 0.0 && *points <= 100.0);
    points.ok_or_else(|| "write 0.5 for half a point of the hit ratio".into())
}

pub(super) fn target(text: &str) -> Result<Target, String> {
    match text.parse().map_err(|error: nbuf::experiment::target::TargetError| error.to_string())? {
        Target::Slowdown(_) | Target::Stall(_) | Target::Fills(_) => {
            Err("a trace does not contain the time of a miss: \
                                    `nbuf size` measures it; write hit=0.95 or price=3.5,0.4"
                .into())
        }
        target => Ok(target),
    }
}

pub(super) fn every(text: &str) -> Result<Every, String> {
    let wrong = || "write 1h, 10m, 30s, or a number of requests".to_owned();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    let seconds = match &text[digits.len()..] {
        _ if number == 0 => return Err(wrong()),
        "" => return Ok(Every::Requests(number)),
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return Err(wrong()),
    };
    let nanoseconds = number.checked_mul(seconds * 1_000_000_000);
    nanoseconds.map(Every::Nanoseconds).ok_or_else(wrong)
}
