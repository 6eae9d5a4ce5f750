//! The decisions of a running cache: every call of its policy, in the order in which they were made.
//!
//! A log of them, run through the same policy, gives the same answers and the same victims. So the file
//! that a curve simulated is shown to be the file that served.

use super::super::policy::{Access, AnyPolicy, Cause, Outcome};

/// A call of the policy, and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// A page was looked up.
    Touch {
        /// Its number.
        id: u32,
        /// Whether it was there.
        is_hit: bool,
    },
    /// A page was offered.
    Fill {
        /// Its number.
        id: u32,
        /// Why.
        cause: Cause,
        /// Pages that the policy chose and that could not go, in its order.
        refused: Vec<u32>,
        /// What came of it; a bypass is an outcome.
        outcome: Outcome,
    },
    /// A page ceased to exist, or its number goes to another page.
    Remove {
        /// Its number.
        id: u32,
        /// Whether it was there.
        was_there: bool,
    },
}

/// Where decisions go.
pub type Log = Box<dyn FnMut(Decision) + Send>;

/// A policy, and the log of what it decides.
pub(super) struct Decider<P: ?Sized> {
    pub(super) log: Option<Log>,
    pub(super) policy: Box<P>,
}

impl<P: AnyPolicy + ?Sized> Decider<P> {
    #[inline]
    pub(super) fn touch(&mut self, id: u32) -> bool {
        let is_hit = self.policy.touch(Access::to(id));
        if let Some(log) = &mut self.log {
            log(Decision::Touch { id, is_hit });
        }
        is_hit
    }

    pub(super) fn fill(
        &mut self,
        id: u32,
        cause: Cause,
        is_evictable: impl Fn(u32) -> bool,
    ) -> Outcome {
        let Some(log) = &mut self.log else {
            return self.policy.fill(Access::to(id), cause, &mut |page| is_evictable(page));
        };
        let mut refused = Vec::new();
        let outcome = self.policy.fill(Access::to(id), cause, &mut |page| {
            let may = is_evictable(page);
            if !may {
                refused.push(page);
            }
            may
        });
        log(Decision::Fill { id, cause, refused, outcome });
        outcome
    }

    pub(super) fn remove(&mut self, id: u32) -> bool {
        let was_there = self.policy.remove(id);
        if let Some(log) = &mut self.log {
            log(Decision::Remove { id, was_there });
        }
        was_there
    }
}

/// The first decision of a log that this policy, new and of the same capacity and seed, decides in another way:
/// its position, and the answer of this policy.
pub fn first_difference<'a>(
    policy: &mut (impl AnyPolicy + ?Sized),
    log: impl IntoIterator<Item = &'a Decision>,
) -> Option<(usize, Decision)> {
    log.into_iter().enumerate().find_map(|(at, decision)| {
        let again = repeat(policy, decision);
        (again != *decision).then_some((at, again))
    })
}

fn repeat(policy: &mut (impl AnyPolicy + ?Sized), decision: &Decision) -> Decision {
    match decision {
        &Decision::Touch { id, .. } => Decision::Touch { id, is_hit: policy.touch(Access::to(id)) },
        Decision::Fill { id, cause, refused, .. } => {
            let (id, cause) = (*id, *cause);
            let mut asked = Vec::new();
            let outcome = policy.fill(Access::to(id), cause, &mut |page| {
                let may = !refused.contains(&page);
                if !may {
                    asked.push(page);
                }
                may
            });
            Decision::Fill { id, cause, refused: asked, outcome }
        }
        &Decision::Remove { id, .. } => Decision::Remove { id, was_there: policy.remove(id) },
    }
}
