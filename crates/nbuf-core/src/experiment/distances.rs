//! The stack distance of each access: the smallest LRU cache that hits it.
//!
//! R. Mattson and others, *Evaluation Techniques for Storage Hierarchies*, 1970.
//!
//! ```
//! use nbuf::experiment::distances::{COLD, run};
//! use nbuf::experiment::session::Session;
//!
//! let distances = run(&[7, 8, 7, 7], &mut Session::new(&()));
//! assert_eq!(distances, [COLD, COLD, 2, 1]);
//! ```

use super::session::Session;
use crate::cache::interner::Interner;
use crate::meter::distance::Distances;

/// The distance of the first access to a page: every cache misses it.
pub const COLD: u64 = u64::MAX;

/// Pages between two looks at the signals.
const CHUNK: usize = 1 << 12;
/// Pages between two reports of progress.
const MILLION: usize = 1_000_000;

/// The distance of each access, in pages, in order: the distinct pages since the last access to its page,
/// that page included. Shorter than the pages where the session was ended.
///
/// Costs about 25 ns an access over a million pages, eight bytes an access and some 30 a page.
pub fn run(pages: &[u64], session: &mut Session<'_>) -> Vec<u64> {
    let (mut interner, mut stack) = (Interner::new(), Distances::new());
    let (mut ids, mut distances) = (Vec::with_capacity(CHUNK), Vec::with_capacity(pages.len()));
    let mut steps = session.steps("accesses (millions)", pages.len().div_ceil(MILLION));
    for chunk in pages.chunks(CHUNK) {
        if session.is_over() {
            break;
        }
        ids.clear();
        interner.intern(chunk, &mut ids);
        stack.access_all(&ids, |depth| distances.push(depth.map_or(COLD, u64::from)));
        if distances.len() / MILLION > (distances.len() - chunk.len()) / MILLION {
            steps.next();
        }
    }
    drop(steps);
    distances
}
