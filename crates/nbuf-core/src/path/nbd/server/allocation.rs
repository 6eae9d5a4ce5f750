//! What is allocated: the holes of a disc, less what the cache has for it.

use crate::disc::holes::DATA;

/// The extents of a status: those of the file from a byte on, where no byte that the cache owes it is a hole. Ranges
/// that are owed are in order and apart. As many as `most`, and as long as what was found.
pub(super) fn allocation(
    from: u64,
    found: &[(u64, u32)],
    owed: &[(u64, u64)],
    most: usize,
) -> Vec<(u64, u32)> {
    let mut extents: Vec<(u64, u32)> = Vec::new();
    let mut owed = owed.iter().copied().peekable();
    let mut at = from;
    for &(length, kind) in found {
        let end = at + length;
        while at < end {
            while owed.next_if(|&(_, ends)| ends <= at).is_some() {}
            let (next, flags) = match owed.peek() {
                _ if kind == DATA => (end, DATA),
                Some(&(begins, ends)) if begins <= at => (ends.min(end), DATA),
                Some(&(begins, _)) => (begins.min(end), kind),
                None => (end, kind),
            };
            let count = extents.len();
            match extents.last_mut() {
                Some((length, last)) if *last == flags => *length += next - at,
                _ if count == most => return extents,
                _ => extents.push((next - at, flags)),
            }
            at = next;
        }
    }
    extents
}

/// Ranges that are in one of two lists, or in both, each in order and apart.
pub(super) fn union(one: &[(u64, u64)], other: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut all = [one, other].concat();
    all.sort_unstable();
    let mut ranges: Vec<(u64, u64)> = Vec::with_capacity(all.len());
    for (begins, ends) in all {
        match ranges.last_mut() {
            Some((_, last)) if begins <= *last => *last = ends.max(*last),
            _ => ranges.push((begins, ends)),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Random;

    /// Against a flag for each byte.
    #[test]
    fn what_is_owed_is_data() {
        let mut random = Random::new(5);
        for round in 0..2000 {
            let from = random.below(50);
            let (mut found, mut owed) = (Vec::new(), Vec::new());
            for _ in 0..=random.below(6) {
                let flags = u32::try_from(random.below(4)).unwrap();
                found.push((1 + random.below(30), flags));
            }
            let mut at = 0;
            for _ in 0..random.below(8) {
                let begins = at + 1 + random.below(20);
                at = begins + 1 + random.below(20);
                owed.push((begins, at));
            }
            let mut model = Vec::new();
            for &(length, flags) in &found {
                for _ in 0..length {
                    let byte = from + model.len() as u64;
                    let is_owed = owed.iter().any(|&(begins, ends)| (begins..ends).contains(&byte));
                    model.push(if is_owed { DATA } else { flags });
                }
            }
            let most = 1 + usize::try_from(random.below(9)).unwrap();
            let extents = allocation(from, &found, &owed, most);
            assert!(!extents.is_empty() && extents.len() <= most, "round {round}");
            assert!(extents.windows(2).all(|pair| pair[0].1 != pair[1].1));
            let of = |&(length, flags): &(u64, u32)| {
                std::iter::repeat_n(flags, usize::try_from(length).unwrap())
            };
            let bytes: Vec<u32> = extents.iter().flat_map(of).collect();
            assert_eq!(bytes, model[..bytes.len()], "round {round}");
            assert!(bytes.len() == model.len() || extents.len() == most);
        }
    }

    /// Against a flag for each byte.
    #[test]
    fn a_union_has_the_bytes_of_both() {
        let mut random = Random::new(6);
        for round in 0..2000 {
            let mut model = [false; 200];
            let mut list = || {
                let (mut ranges, mut at) = (Vec::new(), random.below(20));
                for _ in 0..random.below(6) {
                    let ends = at + 1 + random.below(15);
                    ranges.push((at, ends));
                    model[usize::try_from(at).unwrap()..usize::try_from(ends).unwrap()].fill(true);
                    at = ends + 1 + random.below(10);
                }
                ranges
            };
            let (one, other) = (list(), list());
            let both = union(&one, &other);
            assert!(both.windows(2).all(|pair| pair[0].1 < pair[1].0), "round {round}: {both:?}");
            for (byte, &is_there) in (0..).zip(&model) {
                let is_in = both.iter().any(|&(begins, ends)| (begins..ends).contains(&byte));
                assert_eq!(is_in, is_there, "round {round}, byte {byte}");
            }
        }
    }
}
