//! `--memory`: how much of it a verb that reads a trace may use.

use nbuf::units::{Bytes, Size};

/// An amount, or a share of what is available.
pub(super) fn allowed(text: &str) -> Result<Size, String> {
    match text.parse::<Size>() {
        Ok(Size::Absolute(Bytes(0))) => {}
        Ok(Size::Percent(percent)) if percent <= 0.0 || percent > 100.0 => {}
        Ok(size) => return Ok(size),
        Err(error) => return Err(error.to_string()),
    }
    Err("write an amount such as 2GiB, or a share of what is available such as 75%".into())
}

#[cfg(test)]
mod tests {
    use nbuf::experiment::memory::bound;

    use super::*;

    #[test]
    fn amounts_and_shares_are_bounds() {
        let of = |text| bound(Some(allowed(text).unwrap()), "").allowed;
        assert_eq!(of("2GiB"), Bytes(2 << 30));
        let (least, most) = (of("10%"), of("90%"));
        assert!(Bytes(0) < least && least < most, "{least} {most}");
        for wrong in ["0", "0%", "101%", "much"] {
            assert!(allowed(wrong).is_err(), "{wrong}");
        }
    }
}
