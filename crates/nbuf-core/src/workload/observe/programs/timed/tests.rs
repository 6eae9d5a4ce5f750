//! The bins that a program of the kernel counts in, against those of the meters.

use proptest::prelude::*;

use super::*;
use crate::meter::bins;
use crate::sys::bpf::counters::Counters;
use crate::sys::bpf::{Program, Shared};

/// Call and time are the first words of what the program reads.
fn counting(given: &Shared, counters: &Counters) -> Option<Vec<Instruction>> {
    let mut program = Assembly::default();
    program.extend(address(1, given.number()));
    program.load(7, 1, 0);
    program.with_number(AND_NUMBER, 7, i32::try_from(CALLS).ok()? - 1);
    program.load(8, 1, 8);
    bin(&mut program, counters.number())?;
    program.finish()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn programs_and_meters_have_the_same_bins(
        call in 0..CALLS,
        mut times in proptest::collection::vec((0..64_u32, any::<u64>()), 1..50),
    ) {
        times.extend((0..64).flat_map(|bits| [(bits, 0), (bits, u64::MAX)]));
        let pages = (CALLS * BINS * 8).div_ceil(rustix::param::page_size());
        let (Ok(mut given), Ok(counters)) = (Shared::zeroes(1), Counters::zeroes(pages)) else {
            return Ok(());
        };
        let program = Program::load(&counting(&given, &counters).unwrap()).unwrap();
        let mut want = vec![0; BINS];
        for (bits, random) in times {
            let ns = random >> bits;
            given.words_mut()[0] = call as u64;
            given.words_mut()[1] = ns;
            program.run(&mut given).unwrap();
            want[bins::bin(ns as f64)] += 1;
        }
        let got: Vec<u64> = (0..BINS).map(|at| counters.get(call * BINS + at)).collect();
        prop_assert_eq!(got, want);
        prop_assert_eq!(counters.get((call + 1) % CALLS * BINS), 0);
    }
}
