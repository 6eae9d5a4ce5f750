//! Accesses and hits by class, in eighths of a trace.

/// Parts of a trace that are compared with each other.
pub(super) const EIGHTHS: usize = 8;

/// Counts of one list of classes.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    accesses: Vec<[u64; EIGHTHS]>,
    /// The hits of each policy, by class.
    hits: Vec<Vec<[u64; EIGHTHS]>>,
}

impl Classes {
    pub(super) fn new(classes: usize, policies: usize) -> Self {
        let none = vec![[0; EIGHTHS]; classes];
        Self { hits: vec![none.clone(); policies], accesses: none }
    }

    /// An access of a class, which these policies hit or do not.
    pub(super) fn add(&mut self, class: usize, eighth: usize, hits: &[bool]) {
        let eighth = eighth.min(EIGHTHS - 1);
        self.accesses[class][eighth] += 1;
        for (policy, &is_hit) in self.hits.iter_mut().zip(hits) {
            policy[class][eighth] += u64::from(is_hit);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.accesses.len()
    }

    pub(super) fn accesses(&self, class: usize) -> u64 {
        self.accesses[class].iter().sum()
    }

    pub(super) fn hits(&self, policy: usize, class: usize) -> u64 {
        self.hits[policy][class].iter().sum()
    }

    /// Hits of a policy in all classes.
    pub(super) fn all_hits(&self, policy: usize) -> u64 {
        (0..self.len()).map(|class| self.hits(policy, class)).sum()
    }

    /// Eighths that have accesses of a class, and those in which one policy hits more of them than another.
    pub(super) fn eighths(&self, class: usize, better: usize, worse: usize) -> (u64, u64) {
        let used = (0..EIGHTHS).filter(|&eighth| self.accesses[class][eighth] > 0);
        let used: Vec<usize> = used.collect();
        let wins = |&&at: &&usize| self.hits[better][class][at] > self.hits[worse][class][at];
        (used.len() as u64, used.iter().filter(wins).count() as u64)
    }
}
