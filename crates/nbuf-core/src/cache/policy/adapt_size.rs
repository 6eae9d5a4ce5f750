//! The parameters of the policy `adaptsize`: LRU with the admission of the same name.
//!
//! Over pages, which have one size, it is LRU. The admission is in `objects`, and so it goes with every policy.

use super::{Lru, Parameter, Policy, Settable};
use crate::cache::admission::Tuning;
use crate::cache::{engine, objects};

/// The parameters.
pub(super) const SETTABLE: Settable = Settable {
    parameters: &[
        Parameter::number("every", "the requests between tunings", Tuning::USUAL.every, u32::MAX),
        Parameter::number(
            "decay",
            "how much of a count the next tuning keeps, in percent",
            Tuning::USUAL.decay,
            99,
        ),
    ],
    least_bytes: |_| 0,
    build: |pages, seed, _| Box::new(<Lru as Policy>::new(pages, seed)),
    engine: |sizes_pages, seed, _| engine::stack(sizes_pages, seed),
    objects: Some(|sizes_bytes, layers, values| {
        let tuning = Tuning { every: values[0].max(1), decay: values[1] };
        objects::adapt_size(sizes_bytes, layers, tuning)
    }),
};
