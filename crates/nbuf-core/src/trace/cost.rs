//! What a miss costs: a latency, money, anything that a column of a trace gives.
//!
//! Four bytes, because a request carries one: seven digits. Invariant: a cost is finite and not negative.

/// The cost of a miss, in the unit of the trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost(u32);

impl Cost {
    /// It costs nothing, or no column says what.
    pub const NONE: Self = Self(0);

    /// Keeps seven digits; nothing for what is negative, infinite or no number.
    pub fn new(value: f64) -> Option<Self> {
        #[expect(clippy::cast_possible_truncation, reason = "seven digits are kept")]
        let kept = value as f32;
        (kept.is_finite() && kept >= 0.0).then_some(Self(kept.to_bits()))
    }

    /// It, in the unit of the trace.
    pub fn value(self) -> f64 {
        f32::from_bits(self.0).into()
    }
}

#[cfg(test)]
mod tests {
    use super::Cost;

    #[test]
    fn a_cost_keeps_seven_digits_and_refuses_what_is_none() {
        for value in [0.0, 0.25, 16_777_216.0, 1e30] {
            let kept = Cost::new(value).unwrap().value();
            assert!((kept - value).abs() <= value * 1e-7, "{value} {kept}");
        }
        assert_eq!(Cost::default().value().to_bits(), 0);
        for wrong in [-1.0, f64::NAN, f64::INFINITY, 1e300] {
            assert!(Cost::new(wrong).is_none(), "{wrong}");
        }
    }
}
