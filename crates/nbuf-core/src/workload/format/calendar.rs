//! Times of logs that people read: `25/Nov/2026:20:30:01 +0000`.

use super::fields::number;

const MONTHS: &[u8] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
const SECOND_NS: i64 = 1_000_000_000;

/// Bytes of a time as web servers write it.
pub(super) const TIME_BYTES: usize = 26;

/// Nanoseconds since 1970 of `25/Nov/2026:20:30:01 +0000`; nothing for any other text and for a time before 1970.
pub(super) fn time_ns(text: &[u8]) -> Option<i64> {
    if text.len() != TIME_BYTES {
        return None;
    }
    let marks = [(2, b'/'), (6, b'/'), (11, b':'), (14, b':'), (17, b':'), (20, b' ')];
    if !marks.iter().all(|&(at, mark)| text[at] == mark) {
        return None;
    }
    let part = |from: usize, to: usize| number(&text[from..to]).and_then(|n| i64::try_from(n).ok());
    let (day, year) = (part(0, 2)?, part(7, 11)?);
    let month = (1..).zip(MONTHS.as_chunks::<3>().0).find(|(_, name)| name[..] == text[3..6])?.0;
    let (hour, minute, second) = (part(12, 14)?, part(15, 17)?, part(18, 20)?);
    // A leap second is written as 60.
    if !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let sign = match text[21] {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let ahead = sign * (part(22, 24)? * 3600 + part(24, 26)? * 60);
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - ahead;
    (seconds >= 0).then(|| seconds.checked_mul(SECOND_NS)).flatten()
}

/// Days from 1 January 1970 to a date. The year begins in March, so that the leap day is its last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_are_those_of_date() {
        let cases = [
            ("01/Jan/1970:00:00:00 +0000", 0),
            ("25/Nov/2026:20:30:01 +0000", 1_795_638_601),
            ("29/Feb/2024:23:59:60 -0330", 1_709_263_800),
            ("01/Mar/2000:00:00:00 +0100", 951_865_200),
        ];
        for (text, seconds) in cases {
            assert_eq!(time_ns(text.as_bytes()), Some(seconds * SECOND_NS), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "01/Jan/1970:00:00:00 +0100",
            "00/Jan/1980:00:00:00 +0000",
            "01/jan/1980:00:00:00 +0000",
            "01/Jan/1980 00:00:00 +0000",
            "01/Jan/1980:24:00:00 +0000",
            "01/Jan/1980:00:00:00 00000",
            "01/Jan/19x0:00:00:00 +0000",
            "31/Dec/9999:23:59:59 +0000",
        ] {
            assert_eq!(time_ns(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        /// The calendar, counted day by day.
        #[test]
        fn days_follow_each_other(year in 1970_i64..2300, month in 1_i64..13) {
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = [31, 28 + i64::from(is_leap), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            let months = usize::try_from(month - 1).unwrap();
            let before: i64 = length[..months].iter().sum();
            prop_assert_eq!(days(year, month, 1), days(year, 1, 1) + before);
            prop_assert_eq!(days(year + 1, 1, 1), days(year, 1, 1) + length.iter().sum::<i64>());
            prop_assert_eq!(days(1970, 1, 1), 0);
        }
    }
}
