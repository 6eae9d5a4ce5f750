//! A target put in the place of the knee.

use std::time::Duration;

use super::predict::Overhead;
use super::recommend::limit_at;
use super::result::{Advice, Curve, Recommend, TargetReport, TimePoint};
use super::target::{Choice, Offer, Target, choose};
use crate::trace::Memory;
use crate::units::Bytes;

/// A target, and what it is judged by.
pub(super) struct Targeting<'a> {
    pub(super) target: Target,
    pub(super) overhead: &'a Overhead,
    pub(super) curve: &'a Curve,
    pub(super) seconds: &'a dyn Fn(Bytes) -> (f64, f64),
}

impl Targeting<'_> {
    /// Puts the size that meets the target in the place of the knee. Without one the knee stays.
    pub(super) fn at(
        &self,
        time: &[TimePoint],
        run_ns: u64,
        memory: &mut Memory,
        recommend: &mut Option<Recommend>,
    ) -> TargetReport {
        let goal = self.target.to_string();
        let knee = recommend.clone();
        let Some(advice) = recommend else {
            let reason = "no size is recommended for this curve, and none is chosen from it".into();
            return TargetReport { goal, met: false, reason, knee };
        };
        let mut beside = *memory;
        let at = |cache: Bytes| Memory {
            kernel_bytes: self.overhead.kernel_at(cache, &beside),
            ..beside
        };
        let Choice { cache, reason } = choose(
            self.target,
            &Offer {
                curve: self.curve,
                time,
                seconds: self.seconds,
                limit: &|cache| limit_at(cache, &at(cache)).0,
                run_seconds: Duration::from_nanos(run_ns).as_secs_f64(),
            },
        );
        if let Some(cache) = cache {
            beside = at(cache);
            let (limit_bytes, slack_bytes) = limit_at(cache, &beside);
            *memory = beside;
            *advice = Recommend {
                kind: Advice::Target,
                limit_bytes,
                cache_bytes: cache,
                slack_bytes,
                spread_bytes: Bytes(0),
                reason: reason.clone(),
                ..advice.clone()
            };
        }
        TargetReport { goal, met: cache.is_some(), reason, knee }
    }
}
