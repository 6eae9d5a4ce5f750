//! What came of a target, in one sentence.

use nbuf::experiment::result::{Advice, TargetReport};

/// With the knee, where another size is recommended.
pub(super) fn target_line(target: &TargetReport) -> String {
    let TargetReport { goal, met, reason, knee } = target;
    if !met {
        return format!("--target {goal} is not met: {reason}");
    }
    let knee = knee.as_ref().map_or(String::new(), |knee| {
        let name = if knee.kind == Advice::Knee { "the knee is" } else { "without it," };
        format!("; {name} {} ({} cache)", knee.limit_bytes, knee.cache_bytes)
    });
    format!("--target {goal}: {reason}{knee}")
}
