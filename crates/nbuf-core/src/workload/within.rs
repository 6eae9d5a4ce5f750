//! Takes requests as long as what they make grow stays within a bound of memory.
//!
//! A batch is counted before it is taken, by arithmetic: nothing is expanded for that. Where the most
//! that it can take does not fit, the least is asked for; what cannot fit is refused at once, and
//! anything between is taken in smaller and smaller pieces. Cost: a sum a batch, far from the bound.

use crate::trace::request::Request;
use crate::units::{Bound, TooLarge};

/// What grows with the requests that it takes.
pub(crate) trait Growing {
    /// Memory in use when these have been taken, at the most.
    fn most(&self, requests: &[Request]) -> u64;

    /// Memory in use when these have been taken, at the least.
    fn least(&self, _: &[Request]) -> u64 {
        0
    }

    /// Memory in use when this one has been taken, as exactly as can be known.
    fn exactly(&self, request: &Request) -> u64 {
        self.most(std::slice::from_ref(request))
    }

    /// Takes them.
    fn take(&mut self, requests: &[Request]);
}

/// Takes requests, if that keeps to the bound. What was taken before a refusal stays taken.
pub(crate) fn take_within<G: Growing + ?Sized>(
    growing: &mut G,
    requests: &[Request],
    what: &'static str,
    bound: Bound,
) -> Result<(), TooLarge> {
    if !bound.holds(growing.most(requests)) {
        bound.allow(what, growing.least(requests))?;
        if let [one] = requests {
            bound.allow(what, growing.exactly(one))?;
        } else {
            let (first, second) = requests.split_at(requests.len() / 2);
            take_within(growing, first, what, bound)?;
            return take_within(growing, second, what, bound);
        }
    }
    growing.take(requests);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::trace::request::Op;
    use crate::units::Bytes;

    /// A byte for each distinct offset.
    #[derive(Default)]
    struct Offsets(HashSet<u64>);

    impl Growing for Offsets {
        fn most(&self, requests: &[Request]) -> u64 {
            (self.0.len() + requests.len()) as u64
        }

        fn exactly(&self, request: &Request) -> u64 {
            self.most(&[]) + u64::from(!self.0.contains(&request.offset))
        }

        fn take(&mut self, requests: &[Request]) {
            self.0.extend(requests.iter().map(|request| request.offset));
        }
    }

    #[test]
    fn what_fits_is_taken_to_the_last_byte() {
        let request = |offset| Request::new(Op::Read, offset, 1);
        let mut offsets = Offsets::default();
        let bound = Bound { allowed: Bytes(10), remedy: "take less" };
        let ten: Vec<_> = (0..500).map(|at| request(at % 10)).collect();
        assert_eq!(take_within(&mut offsets, &ten, "offsets", bound), Ok(()));
        assert_eq!(take_within(&mut offsets, &ten, "offsets", bound), Ok(()));
        let refused = take_within(&mut offsets, &[request(3), request(10)], "offsets", bound);
        let want = "offsets would take 11 B of memory or more, and 10 B is allowed: take less";
        assert_eq!(refused.unwrap_err().to_string(), want);
        assert_eq!(offsets.0.len(), 10);
    }
}
