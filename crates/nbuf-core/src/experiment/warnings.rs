//! When a report of `size` carries which warning.

use super::result::{MAPPED_SHARE_MAX, Traffic};
use super::self_sizing;
use super::size::WRITTEN_SHARE_MAX;
use super::warning::Warning;
use crate::cache::kernel::Stream;
use crate::trace::Facts;
use crate::units::Bytes;

/// The warnings of a workload.
pub(super) fn warnings_of(
    stream: &Stream,
    traffic: &Traffic,
    facts: &Facts,
    accesses: u64,
    is_forced: bool,
) -> Vec<Warning> {
    let (mapped, written) = (stream.mapped_share(), traffic.written_share());
    let mut cautions = Vec::new();
    if facts.multi_generational {
        cautions.push(Warning::MultiGenerational);
    }
    if mapped > MAPPED_SHARE_MAX {
        cautions.push(Warning::Mapped { share: mapped, is_forced });
    }
    if written > WRITTEN_SHARE_MAX {
        cautions.push(Warning::Written { share: written });
    }
    if facts.run_ns().is_none() && accesses > 0 {
        cautions.push(Warning::Untimed);
    }
    if accesses == 0 {
        cautions.push(Warning::NothingTouched);
    }
    cautions
}

/// The warnings about programs, known by these files, that choose their memory by the limit.
pub(super) fn sizing_themselves(files: &[String]) -> impl Iterator<Item = Warning> + use<> {
    let found = self_sizing::found(files.iter().map(String::as_str));
    found.into_iter().map(|(program, setting)| Warning::SizesItself { program, setting })
}

/// Above this share of pages that cannot be dropped, runs may begin with what they should fill.
pub(super) const UNREACHED_SHARE_MAX: f64 = 0.05;

/// The warning about files that cannot be opened by their names, with this share of the pages.
pub(super) fn unreachable(share: f64) -> Option<Warning> {
    (share > UNREACHED_SHARE_MAX).then_some(Warning::Unreachable { share })
}

/// The warning where there is less memory than the command can make use of.
pub(super) fn memory_short(needed_bytes: Bytes, total_bytes: Bytes) -> Option<Warning> {
    (total_bytes > Bytes(0) && needed_bytes > total_bytes)
        .then_some(Warning::MemoryShort { total_bytes, needed_bytes })
}
