//! What a command costs in money: the price of what it used.

use std::str::FromStr;

use crate::experiment::result::{LoadLimit, LoadPrice, LoadUse};
use crate::units::PAGE_BYTES;

/// Commands that a price is of.
const THOUSAND: f64 = 1000.0;
const HOUR_SECONDS: f64 = 3600.0;
const GIB: f64 = (1_u64 << 30) as f64;
const MILLION: f64 = 1e6;

/// A text is no price.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no price: write cpu=0.04/h,memory=0.005/GiBh,io=0.2/M, or some of these")]
pub struct PriceError(String);

impl FromStr for LoadPrice {
    type Err = PriceError;

    fn from_str(text: &str) -> Result<Self, PriceError> {
        let mut price = Self::default();
        let mut seen = Vec::new();
        for item in text.split(',').map(str::trim) {
            let wrong = || PriceError(item.to_owned());
            let (what, rest) = item.split_once('=').ok_or_else(wrong)?;
            let (amount, unit) = rest.split_once('/').ok_or_else(wrong)?;
            let amount: f64 = amount.trim().parse().map_err(|_| wrong())?;
            let into = match (what.trim(), unit.trim()) {
                ("cpu", "h") => &mut price.cpu_per_hour,
                ("memory", "GiBh") => &mut price.memory_per_gib_hour,
                ("io", "M") => &mut price.io_per_million,
                _ => return Err(wrong()),
            };
            if !amount.is_finite() || amount < 0.0 || seen.contains(&what) {
                return Err(wrong());
            }
            *into = amount;
            seen.push(what);
        }
        Ok(price)
    }
}

/// The price of a thousand commands; nothing where something with a price was not counted.
pub(super) fn per_thousand(used: &LoadUse, price: &LoadPrice) -> Option<f64> {
    let part = |price: f64, amount: Option<f64>| {
        if price > 0.0 { amount.map(|amount| amount * price) } else { Some(0.0) }
    };
    let cpu = part(price.cpu_per_hour, Some(used.cpu_seconds_each / HOUR_SECONDS))?;
    let gib_hours = |pages: f64| pages * PAGE_BYTES as f64 / GIB / HOUR_SECONDS;
    let memory = part(price.memory_per_gib_hour, used.page_seconds_each.map(gib_hours))?;
    let millions = used.disc_operations_each.map(|each| each / MILLION);
    let io = part(price.io_per_million, millions)?;
    Some(THOUSAND * (cpu + memory + io))
}

/// The limit whose commands cost least.
pub(super) fn cheapest(limits: &[LoadLimit]) -> Option<usize> {
    let price = |limit: &LoadLimit| limit.used.as_ref()?.price_per_thousand;
    let priced = limits.iter().enumerate().filter_map(|(at, limit)| Some((at, price(limit)?)));
    priced.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    fn used() -> LoadUse {
        LoadUse {
            cpu_seconds_each: 3.6,
            page_seconds_each: Some(3600.0 * 262_144.0),
            disc_operations_each: Some(500.0),
            ..LoadUse::default()
        }
    }

    #[test]
    fn a_price_is_the_sum_of_its_parts() {
        let of = |text: &str| per_thousand(&used(), &text.parse().unwrap()).unwrap();
        // A processor hour, a thousand GiB hours and half a million operations.
        for (text, want) in [("cpu=0.04/h", 0.04), ("memory=0.005/GiBh", 5.0), ("io=0.2/M", 0.1)] {
            assert!((of(text) - want).abs() < 1e-9, "{text}");
        }
        assert!((of("cpu=0.04/h, memory=0.005/GiBh,io=0.2/M") - 5.14).abs() < 1e-9);
        let uncounted = LoadUse { disc_operations_each: None, ..used() };
        assert_eq!(per_thousand(&uncounted, &"io=0.2/M".parse().unwrap()), None);
        assert!(per_thousand(&uncounted, &"cpu=1/h".parse().unwrap()).is_some());
    }

    #[test]
    fn a_wrong_price_is_named() {
        for wrong in
            ["", "cpu", "cpu=1", "cpu=1/s", "ram=1/h", "cpu=-1/h", "cpu=x/h", "cpu=1/h,cpu=2/h"]
        {
            let error = wrong.parse::<LoadPrice>().unwrap_err().to_string();
            assert!(error.contains("is no price: write cpu="), "{error}");
        }
    }

    #[test]
    fn the_cheapest_limit_is_found() {
        let limit = |mib: u64, price| LoadLimit {
            limit_bytes: Bytes(mib << 20),
            used: Some(LoadUse { price_per_thousand: price, ..LoadUse::default() }),
            ..LoadLimit::default()
        };
        assert_eq!(
            cheapest(&[limit(1, Some(3.0)), limit(2, Some(1.0)), limit(3, Some(2.0))]),
            Some(1)
        );
        assert_eq!(cheapest(&[limit(1, None)]), None);
    }
}
