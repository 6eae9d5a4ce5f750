//! What other programs of the machine did to a comparison.

use super::Side;
use crate::experiment::result::{RunDocument, RunSample};
use crate::experiment::statistics::Spread;

/// Other programs that have this part of all processors make a command slower.
const OTHERS_MAX: f64 = 0.1;
/// They slow its instructions by up to this part, through caches and the host, besides the time that it waits
/// for a processor: of 12 comparisons of one loop with itself at a load of 4 on two processors, two were 41 and
/// 49 % apart.
const OTHERS_SLOW_BY: f64 = 0.5;

/// The part of all processors that other programs had, if it was too large.
pub(super) fn others(of: &RunDocument) -> Option<f64> {
    let shares = of.samples().into_iter().filter_map(|run| run.others_share);
    Spread::of(shares).map(|of| of.median).filter(|&share| share >= OTHERS_MAX)
}

/// Whether other programs may have made the difference: they had processors, and without the time that the
/// command waited for one the sides are not further apart than others can make them.
pub(super) fn may_be_of_others(documents: [&RunDocument; 2], sides: &[Side<'_>; 2]) -> bool {
    if documents.iter().all(|of| others(of).is_none()) {
        return false;
    }
    let own =
        |run: &RunSample| run.real_seconds - run.real_time.map_or(0.0, |it| it.runnable_seconds);
    let [a, b] = sides.each_ref().map(|side| side.typical(&side.all(own)));
    let real = |side: &Side<'_>| side.typical(&side.all(|run| run.real_seconds));
    let is_opposite = (b - a) * (real(&sides[1]) - real(&sides[0])) < 0.0;
    is_opposite || (b - a).abs() <= OTHERS_SLOW_BY * a.min(b)
}
