//! What a policy is asked, and what it answers.

/// A demand for a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Its dense number.
    pub page: u32,
    /// When it is wanted again, as the number of that access; [`NEVER`] also where it is unknown.
    pub next_use: u64,
}

/// Not again, or unknown.
pub const NEVER: u64 = u64::MAX;

impl Access {
    /// To a page whose future is unknown.
    pub fn to(page: u32) -> Self {
        Self { page, next_use: NEVER }
    }
}

/// Why a page is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A process asked for it: a lookup missed.
    Demand,
    /// Readahead brought it: no process has used it so far.
    Readahead,
}

/// What came of an access or a fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The page was there already.
    Hit,
    /// The page is there now, and the named one is not any more.
    Filled {
        /// The page that left for it; none where a frame was free.
        evicted: Option<u32>,
    },
    /// The page was not taken in.
    Bypassed,
}
