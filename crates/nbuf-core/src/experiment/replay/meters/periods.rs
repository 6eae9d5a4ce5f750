//! Hit rates and rates of operations, as they are distributed over periods.

use super::{Meter, Observer, PERIOD, Subject};
use crate::cache::layer::{Layer, Lookup};
use crate::experiment::result::{FigureStep, ReplayFigures};
use crate::meter::periods::Periods;
use crate::trace::request::Request;
use crate::units::Nanos;

/// Steps of rates, at most.
const RATE_STEPS: u64 = 20;

struct Rates(Periods);

pub(super) fn build(_: &Subject) -> Box<dyn Meter> {
    Box::new(Rates(Periods::new(PERIOD)))
}

impl Meter for Rates {
    fn show(&self, figures: &mut ReplayFigures) {
        figures.period_seconds = self.0.period().seconds();
        figures.hit_rates = self.0.hit_rates().to_vec();
        figures.idle_periods = self.0.idle();
        figures.rates = rate_steps(&self.0);
    }
}

/// Periods by their rate, in equal steps of a round width, from none to the most that came.
pub(in crate::experiment) fn rate_steps(periods: &Periods) -> Vec<FigureStep> {
    let Some(most) = periods.rates().map(|busy| busy.to).max() else { return Vec::new() };
    let widths = (0..18).flat_map(|power| [1, 2, 5].map(|one| one * 10_u64.pow(power)));
    let width = widths.into_iter().find(|width| most / width < RATE_STEPS).unwrap_or(u64::MAX);
    let seconds = periods.period().seconds();
    let step = |number: u64| FigureStep {
        from: (number * width) as f64 / seconds,
        to: ((number + 1) * width) as f64 / seconds,
        count: 0,
    };
    let mut steps: Vec<FigureStep> = (0..=most / width).map(step).collect();
    for busy in periods.rates() {
        let at = usize::try_from(busy.to / width).unwrap_or(usize::MAX);
        let last = steps.len() - 1;
        steps[at.min(last)].count += busy.periods;
    }
    steps
}

impl Observer for Rates {
    fn initiated(&mut self, at: Nanos, _: u32, _: &Request, lookup: &Lookup) {
        self.0.add(at, lookup.is_hit());
    }

    fn end(&mut self, at: Nanos, _: &dyn Layer) {
        self.0.end(at);
    }
}
