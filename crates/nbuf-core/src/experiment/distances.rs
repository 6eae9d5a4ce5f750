//! The stack distance of each access: the smallest LRU cache that hits it.
//!
//! R. Mattson and others, *Evaluation Techniques for Storage Hierarchies*, 1970.
//!
//! ```
//! use nbuf::experiment::distances::{self, COLD, Spec};
//! use nbuf::experiment::session::Session;
//!
//! let spec = Spec { pages: vec![7, 8, 7, 7] };
//! let document = distances::run(&spec, &mut Session::new(&()))?;
//! assert_eq!(document.distances, [COLD, COLD, 2, 1]);
//! # Ok::<(), distances::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use super::result::DistancesDocument;
use super::session::Session;
use crate::cache::interner::Interner;
use crate::meter::distance::Distances;

/// The distance of the first access to a page: every cache misses it.
pub const COLD: u64 = u64::MAX;

/// Pages between two looks at the signals.
const CHUNK: usize = 1 << 12;
/// Pages between two reports of progress.
const MILLION: usize = 1_000_000;

/// The accesses. The default has none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// The number of the page of each access, in order.
    pub pages: Vec<u64>,
}

/// Why there are no distances.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A signal came before the last access.
    #[error("interrupted by signal {0}")]
    Interrupted(i32),
}

/// The distance of each access, in pages, in order: the distinct pages since the last access to its page,
/// that page included.
///
/// Costs about 25 ns an access over a million pages, eight bytes an access and some 30 a page.
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<DistancesDocument, Error> {
    let pages = &spec.pages;
    let (mut interner, mut stack) = (Interner::new(), Distances::new());
    let (mut ids, mut distances) = (Vec::with_capacity(CHUNK), Vec::with_capacity(pages.len()));
    let mut steps = session.steps("accesses (millions)", pages.len().div_ceil(MILLION));
    for chunk in pages.chunks(CHUNK) {
        if let Some(signal) = session.cancellation.signal() {
            return Err(Error::Interrupted(signal));
        }
        ids.clear();
        interner.intern(chunk, &mut ids);
        stack.access_all(&ids, |depth| distances.push(depth.map_or(COLD, u64::from)));
        if distances.len() / MILLION > (distances.len() - chunk.len()) / MILLION {
            steps.next();
        }
    }
    drop(steps);
    Ok(DistancesDocument { schema: DistancesDocument::SCHEMA.to_owned(), distances })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::document;

    #[test]
    fn a_document_is_read_again_and_a_session_that_is_over_has_none() {
        let spec: Spec = serde_json::from_str(r#"{"pages": [3, 3, 4, 3]}"#).unwrap();
        let mut session = Session::new(&());
        let made = run(&spec, &mut session).unwrap();
        assert_eq!(made.distances, [COLD, 1, COLD, 2]);
        // 2^64 - 1 is no exact double, and is read exactly.
        let text = document::write(&made).unwrap();
        assert_eq!(document::read::<DistancesDocument>(text.as_bytes()).unwrap(), made);
        session.cancellation.stopper().stop();
        assert_eq!(run(&spec, &mut session), Err(Error::Interrupted(2)));
    }
}
