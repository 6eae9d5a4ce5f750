//! The KE11-A, the extended arithmetic element. It multiplies, divides and shifts for a processor
//! that cannot.
//!
//! A write of an operand to an operation's register runs the operation at once. The double register
//! AC,MQ holds dividends, products and shifted values. SC counts steps, and SR holds the status of
//! the result. DEC, *PDP-11 Peripherals Handbook* (1972), chapter KE11-A. It is not the EIS of
//! later processors, whose shifts and codes differ.

use super::Write;

/// N and V differ: the sign of a result that overflowed.
const SR_NV: u16 = 0o200;
const SR_N: u16 = 0o100;
const SR_AC_ONES: u16 = 0o40;
const SR_AC_ZERO: u16 = 0o20;
const SR_MQ_ZERO: u16 = 0o10;
const SR_ZERO: u16 = 0o4;
/// AC only extends the sign of MQ.
const SR_SINGLE: u16 = 0o2;
const SR_C: u16 = 0o1;

/// The registers of the arithmetic element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ke11 {
    ac: u16,
    mq: u16,
    sc: u16,
    /// N, N xor V, and C after the last operation.
    sr: u16,
}

impl Ke11 {
    /// Clears all registers.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Reads the register at an offset of 0 to 16 octal.
    pub fn read(&self, offset: u16) -> u16 {
        match offset & 0o16 {
            0o02 => self.ac,
            0o04 => self.mq,
            0o10 => (self.status() << 8) | self.sc,
            0o12 => self.sc,
            _ => 0,
        }
    }

    fn status(&self) -> u16 {
        let bit = |condition: bool, bit: u16| if condition { bit } else { 0 };
        let mq_negative = self.mq & 0x8000 != 0;
        self.sr
            | bit(self.mq == 0, SR_MQ_ZERO)
            | bit(self.ac == 0, SR_AC_ZERO)
            | bit(self.ac == 0 && self.mq == 0, SR_ZERO)
            | bit(self.ac == 0xffff, SR_AC_ONES)
            | bit(self.ac == 0 && !mq_negative || self.ac == 0xffff && mq_negative, SR_SINGLE)
    }

    /// Writes to the register at an offset of 0 to 16 octal.
    pub fn write(&mut self, offset: u16, write: Write) {
        // A low byte is sign-extended; a high byte starts no operation.
        let word = match write {
            Write::Word(word) => word,
            Write::Low(byte) => i16::from(byte.cast_signed()).cast_unsigned(),
            Write::High(_) => return self.write_high(offset, write),
        };
        match offset & 0o16 {
            0o00 => self.divide(word),
            0o02 => self.ac = word,
            0o04 => self.set_mq(word),
            0o06 => self.multiply(word),
            0o10 => {
                if write == Write::Word(word) {
                    self.sr = (word >> 8) & (SR_NV | SR_N | SR_C);
                    self.sc = word & 0o77;
                }
            }
            0o12 => self.normalise(),
            0o14 => self.shift(word & 0o77, false),
            _ => self.shift(word & 0o77, true),
        }
    }

    fn write_high(&mut self, offset: u16, write: Write) {
        match offset & 0o16 {
            0o02 => self.ac = write.over(self.ac),
            0o04 => self.set_mq(write.over(self.mq)),
            _ => {}
        }
    }

    fn set_mq(&mut self, word: u16) {
        self.mq = word;
        self.ac = if word & 0x8000 == 0 { 0 } else { 0xffff };
    }

    fn both(&self) -> u32 {
        u32::from(self.ac) << 16 | u32::from(self.mq)
    }

    fn set_both(&mut self, value: u32) {
        let [a, b, c, d] = value.to_le_bytes();
        self.mq = u16::from_le_bytes([a, b]);
        self.ac = u16::from_le_bytes([c, d]);
    }

    fn multiply(&mut self, word: u16) {
        self.sc = 0;
        let product = i32::from(self.mq.cast_signed()) * i32::from(word.cast_signed());
        self.set_both(product.cast_unsigned());
        self.sr = if product < 0 { SR_N | SR_NV } else { 0 };
    }

    fn divide(&mut self, word: u16) {
        self.sr = 0;
        let dividend = i64::from(self.both().cast_signed());
        let divisor = i64::from(word.cast_signed());
        if dividend.unsigned_abs() >> 16 >= divisor.unsigned_abs() {
            self.divide_stops(word);
        } else {
            self.sc = 0;
            let (quotient, rest) = (dividend / divisor, dividend % divisor);
            let low = |value: i64| {
                let [a, b, ..] = value.to_le_bytes();
                u16::from_le_bytes([a, b])
            };
            self.mq = low(quotient);
            self.ac = low(rest);
            if i16::try_from(quotient).is_err() {
                self.sr |= SR_NV;
            }
        }
        if self.mq & 0x8000 != 0 {
            self.sr ^= SR_N | SR_NV;
        }
    }

    /// Stops a division whose quotient would overflow. The hardware detects this after one step,
    /// and keeps the result of that step.
    fn divide_stops(&mut self, word: u16) {
        let same_signs = (self.ac ^ word) & 0x8000 == 0;
        let shifted = self.ac << 1 | self.mq >> 15;
        self.ac = if same_signs { shifted.wrapping_sub(word) } else { shifted.wrapping_add(word) };
        self.mq = self.mq << 1 | u16::from(same_signs);
        if (self.ac ^ word) & 0x8000 == 0 {
            self.sr |= SR_C;
        }
        self.sc = 15;
        self.sr |= SR_NV;
    }

    fn normalise(&mut self) {
        self.sc = 0;
        while self.sc < 31 {
            let is_least = self.ac == 0o140_000 && self.mq == 0;
            if is_least || (self.ac ^ (self.ac << 1)) & 0x8000 != 0 {
                break;
            }
            self.set_both(self.both() << 1);
            self.sc += 1;
        }
        self.sr = if self.ac & 0x8000 == 0 { 0 } else { SR_N | SR_NV };
    }

    /// Shifts AC,MQ. A count below 32 shifts left by the count; a count from 32 on shifts right by
    /// 64 minus the count. Arithmetic shifts keep the sign.
    fn shift(&mut self, count: u16, is_arithmetic: bool) {
        self.sc = 0;
        self.sr = 0;
        let value = self.both().cast_signed();
        let wide = i64::from(value);
        let result = if count == 0 {
            value.cast_unsigned()
        } else if count < 32 {
            // An arithmetic shift keeps the sign, so it loses one bit more.
            let lost = wide >> (32 - count - u16::from(is_arithmetic));
            let moved = value.cast_unsigned() << count;
            let sign = value.cast_unsigned() & 0x8000_0000;
            let result = if is_arithmetic { sign | moved & 0x7fff_ffff } else { moved };
            let all_like_sign = if result & 0x8000_0000 == 0 { 0 } else { -1 };
            if lost != all_like_sign {
                self.sr |= SR_NV;
            }
            if lost & 1 != 0 {
                self.sr |= SR_C;
            }
            result
        } else {
            let places = 64 - count;
            if wide >> (places - 1) & 1 != 0 {
                self.sr |= SR_C;
            }
            let unsigned = u64::from(value.cast_unsigned()) >> places;
            let signed = wide >> places;
            let [a, b, c, d, ..] =
                if is_arithmetic { signed.to_le_bytes() } else { unsigned.to_le_bytes() };
            u32::from_le_bytes([a, b, c, d])
        };
        self.set_both(result);
        if self.ac & 0x8000 != 0 {
            self.sr ^= SR_N | SR_NV;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn with(ac: u16, mq: u16) -> Ke11 {
        let mut ke = Ke11::default();
        ke.write(4, Write::Word(mq));
        ke.write(2, Write::Word(ac));
        ke
    }

    proptest! {
        #[test]
        fn a_product_divided_again_is_what_it_was(a: i16, b: i16) {
            prop_assume!(b != 0 && (a, b) != (i16::MIN, -1));
            let mut ke = with(0, a.cast_unsigned());
            ke.write(0o06, Write::Word(b.cast_unsigned()));
            prop_assert_eq!(ke.both().cast_signed(), i32::from(a) * i32::from(b));
            // A quotient of the largest magnitude counts as an overflow.
            prop_assume!(a != i16::MIN);
            ke.write(0o00, Write::Word(b.cast_unsigned()));
            prop_assert_eq!((ke.mq.cast_signed(), ke.ac), (a, 0));
        }

        #[test]
        fn arithmetic_shifts_multiply_and_divide_by_powers_of_two(value: i32, count in 1u16..31) {
            let [a, b, c, d] = value.to_le_bytes();
            let (mq, ac) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
            let mut ke = with(ac, mq);
            ke.write(0o16, Write::Word(64 - count));
            prop_assert_eq!(ke.both().cast_signed(), value >> count);
            let mut ke = with(ac, mq);
            ke.write(0o16, Write::Word(count));
            if let Some(product) = value.checked_mul(1 << count) {
                prop_assert_eq!(ke.both().cast_signed(), product);
                prop_assert_eq!(ke.read(0o10) >> 8 & SR_NV != 0, product < 0);
            }
        }

        #[test]
        fn normalising_is_undone_by_shifting_back(ac: u16, mq: u16) {
            let mut ke = with(ac, mq);
            let before = ke.both();
            ke.write(0o12, Write::Word(0));
            let steps = ke.read(0o12);
            ke.write(0o16, Write::Word((64 - steps) & 0o77));
            prop_assert_eq!(ke.both(), before);
        }
    }
}
