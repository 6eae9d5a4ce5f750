//! The service time of requests: what cache, processor and disc took, without the turn in the queue of the
//! disc.

use super::{Finished, Meter, Observer, Subject};
use crate::experiment::result::{FigureStep, ReplayFigures};
use crate::meter::times::{Step, Times};
use crate::units::Nanos;

struct Service(Times);

pub(super) fn build(_: &Subject) -> Box<dyn Meter> {
    Box::new(Service(Times::default()))
}

impl Meter for Service {
    fn show(&self, figures: &mut ReplayFigures) {
        let figure = |step: Step| FigureStep {
            from: step.from.seconds(),
            to: step.to.seconds(),
            count: step.count,
        };
        figures.service = self.0.steps().into_iter().map(figure).collect();
    }
}

impl Observer for Service {
    fn finished(&mut self, finished: &Finished<'_>) {
        let queued = finished.breakdown.map_or(Nanos::ZERO, |breakdown| breakdown.queued);
        self.0.add((finished.at - finished.requested_at) - queued);
    }
}
