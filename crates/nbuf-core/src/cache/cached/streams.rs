//! Streams of sequential reads, and what to read ahead of each.
//!
//! A read that begins where an earlier one ended begins a stream. The first window is small, and each is twice the
//! one before, up to a most. The next window is wanted when the reader enters the last one; a reader that jumps
//! wants nothing more. Reads of a stream may come in another order within a window, as from several connections.
//!
//! The next window is asked for only if half of the pages since the last one were read and had not been used before.
//! So reads by chance near a stream do not carry it on.
//!
//! Windows that no client used make it careful: while most pages of late were useless, a stream has to be longer
//! before it begins. Cost: a look at the streams for each read, and at the ends of some reads for each that misses.

/// Streams at once; the one that was read longest ago is forgotten.
const STREAMS: usize = 16;
/// Reads that continue no stream, whose ends are remembered.
const ENDS: usize = 32;
/// Bytes of the first window, unless reads are longer.
const FIRST_BYTES: u64 = 32 << 10;
/// Reads after the first that a stream needs while most pages were useless.
const CAREFUL_READS: u32 = 8;
/// Largest windows that all streams may have together; a stream has two at once.
const WINDOWS: u64 = 4;
/// Reads after which a stream that went on in none of them counts no more.
const LATE_READS: u64 = 1024;
/// Pages of late, over which that is judged.
const LATE_PAGES: u64 = 256;

/// A stream of reads. All places are pages.
#[derive(Clone, Copy, Debug)]
struct Stream {
    /// Behind the last page that was read.
    next: u64,
    /// Behind the last page that was asked for.
    until: u64,
    /// Where the last window begins. When that page is read, the next window is wanted.
    mark: u64,
    /// Pages of the last window; none before the first.
    window: u64,
    /// Where the reader was when the last window was asked for, and fresh pages that it has read since.
    base: u64,
    fresh: u64,
    /// Reads so far, after the first.
    reads: u32,
    /// When it was read.
    used: u64,
}

/// What a stream wants to have read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    stream: usize,
    pub(super) first: u64,
    pub(super) pages: u64,
}

/// The streams of a cache.
#[derive(Debug)]
pub(super) struct Streams {
    all: Vec<Stream>,
    ends: [u64; ENDS],
    /// Where the next end goes.
    place: usize,
    /// Pages of the first window, and of the largest. None at all if that is zero.
    least: u64,
    most: u64,
    reads: u64,
    late_used: u64,
    late_useless: u64,
}

impl Streams {
    /// No stream yet, of a disc with pages of this size. Windows have up to `most` pages; 0 is no readahead.
    pub(super) fn new(page_bytes: u32, most: u64) -> Self {
        Self {
            all: Vec::new(),
            ends: [u64::MAX; ENDS],
            place: 0,
            least: (FIRST_BYTES / u64::from(page_bytes)).clamp(1, most.max(1)),
            most,
            reads: 0,
            late_used: 0,
            late_useless: 0,
        }
    }

    /// The pages of the largest window; 0 is no readahead.
    #[inline]
    pub(super) fn most(&self) -> u64 {
        self.most
    }

    /// Pages were read, ends included. What is to be read ahead now, until that [is requested](Self::requested). `fresh`
    /// of them missed, or were read ahead and not used before: a read without any begins no stream.
    pub(super) fn read(&mut self, first: u64, last: u64, fresh: u64) -> Option<Window> {
        let behind = last + 1;
        self.reads += 1;
        let is_mine = |stream: &Stream| {
            first.saturating_add(stream.window) >= stream.next
                && first <= stream.until.max(stream.next)
        };
        let at = match self.all.iter().position(is_mine) {
            Some(at) => at,
            None if fresh == 0 => return None,
            None => self.begin(first, behind)?,
        };
        let (share, now) = (self.share(), self.reads);
        let needed = if self.late_useless > self.late_used { CAREFUL_READS } else { 1 };
        let stream = &mut self.all[at];
        stream.used = now;
        stream.reads = stream.reads.saturating_add(1);
        stream.next = stream.next.max(behind);
        stream.fresh += fresh;
        let is_begun = stream.window > 0;
        let is_wanted = if is_begun { stream.next > stream.mark } else { stream.reads >= needed };
        if is_begun && is_wanted && 2 * stream.fresh < stream.next - stream.base {
            // Reads by chance near it, or pages that are there.
            (stream.until, stream.window, stream.reads) = (0, 0, 0);
            return None;
        }
        let pages = if is_begun { stream.window } else { (behind - first).max(self.least / 2) };
        // Beyond what was asked for where the reader was faster.
        let first = stream.until.max(stream.next);
        let pages = (2 * pages).clamp(1, share);
        is_wanted.then_some(Window { stream: at, first, pages })
    }

    /// The pages of the largest window, where the streams of late share those of [`WINDOWS`].
    fn share(&self) -> u64 {
        let is_late = |stream: &&Stream| self.reads - stream.used < LATE_READS;
        let late = self.all.iter().filter(is_late).count().max(1) as u64;
        (WINDOWS / 2 * self.most / late).clamp(1, self.most.max(1))
    }

    /// A stream begins if the read continues one of late; if not, its end is remembered.
    fn begin(&mut self, first: u64, behind: u64) -> Option<usize> {
        let Some(end) = self.ends.iter().position(|&end| end == first) else {
            if !self.ends.contains(&behind) {
                self.ends[self.place] = behind;
                self.place = (self.place + 1) % ENDS;
            }
            return None;
        };
        self.ends[end] = u64::MAX;
        let (until, mark, window, base, fresh, reads, used) = Default::default();
        let stream = Stream { next: behind, until, mark, window, base, fresh, reads, used };
        if self.all.len() < STREAMS {
            self.all.push(stream);
            return Some(self.all.len() - 1);
        }
        let used = |&(_, stream): &(usize, &Stream)| stream.used;
        let oldest = self.all.iter().enumerate().min_by_key(used).map_or(0, |(at, _)| at);
        self.all[oldest] = stream;
        Some(oldest)
    }

    /// This many pages of a window are there or on their way.
    pub(super) fn requested(&mut self, window: &Window, pages: u64) {
        let stream = &mut self.all[window.stream];
        stream.mark = window.first;
        stream.until = window.first + pages;
        stream.window = pages;
        (stream.base, stream.fresh) = (stream.next, 0);
    }

    /// A read ahead of these pages failed: its streams end.
    pub(super) fn failed(&mut self, first: u64, last: u64) {
        self.all.retain(|stream| stream.until <= first || stream.mark > last);
    }

    /// What became of a page that was read ahead.
    pub(super) fn note(&mut self, is_used: bool) {
        *(if is_used { &mut self.late_used } else { &mut self.late_useless }) += 1;
        if self.late_used + self.late_useless > LATE_PAGES {
            self.late_used /= 2;
            self.late_useless /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a page, and has what is wanted then.
    fn read(streams: &mut Streams, page: u64) -> Option<(u64, u64)> {
        let window = streams.read(page, page, 1)?;
        streams.requested(&window, window.pages);
        Some((window.first, window.pages))
    }

    #[test]
    fn windows_double_and_the_next_is_wanted_in_the_last() {
        let mut streams = Streams::new(4096, 64);
        assert_eq!((read(&mut streams, 10), read(&mut streams, 11)), (None, Some((12, 8))));
        let wanted: Vec<_> =
            (12..300).filter_map(|page| Some((page, read(&mut streams, page)?))).collect();
        let first =
            [(12, (20, 16)), (20, (36, 32)), (36, (68, 64)), (68, (132, 64)), (132, (196, 64))];
        assert_eq!(wanted[..5], first);
        // A jump wants nothing, and neither does going back a little.
        assert_eq!([5000, 298, 5002, 297].map(|page| read(&mut streams, page)), [None; 4]);
    }

    #[test]
    fn streams_mix_and_their_reads_may_change_places() {
        let mut streams = Streams::new(4096, 64);
        let mut wanted = [0_u64; 8];
        for step in 0..100 {
            // Pairs of reads in the other order.
            let page = (step ^ 1) + 1;
            for (stream, wanted) in (0..).zip(&mut wanted) {
                // A read by chance between them.
                read(&mut streams, 1_000_000 + (step * 16 + stream) * 7919 % 500_000);
                let page = if step < 4 { step } else { page - 1 };
                if let Some((first, pages)) = read(&mut streams, stream * 10_000 + page) {
                    assert!(first / 10_000 == stream && first % 10_000 <= page + 65 && pages <= 64);
                    *wanted += pages;
                }
            }
        }
        assert!(wanted.iter().all(|&pages| (100..260).contains(&pages)), "{wanted:?}");
        assert!(streams.all.len() <= STREAMS);
    }

    #[test]
    fn what_was_useless_makes_it_careful_and_a_failure_ends_a_stream() {
        let mut streams = Streams::new(4096, 64);
        (0..300).for_each(|_| streams.note(false));
        let wants = |streams: &mut Streams, from: u64| {
            (from..from + 50).position(|page| read(streams, page).is_some())
        };
        assert_eq!(wants(&mut streams, 0), Some(8));
        (0..1000).for_each(|_| streams.note(true));
        assert_eq!(wants(&mut streams, 1000), Some(1));
        streams.failed(1050, 1060);
        assert_eq!([1050, 1051].map(|page| read(&mut streams, page).is_some()), [false, true]);
        let mut off = Streams::new(4096, 0);
        assert_eq!(off.most(), 0);
        assert_eq!(off.read(0, 0, 1), None);
        let mut hits = Streams::new(4096, 64);
        assert!((0..100).all(|page| hits.read(page, page, 0).is_none()));
    }

    /// Reads by chance, of a disc on which windows are large.
    #[test]
    fn reads_by_chance_are_no_streams() {
        let mut streams = Streams::new(4096, 256);
        let mut random = crate::clock::Random::new(1);
        let wanted = (0..50_000).filter_map(|_| read(&mut streams, random.below(8192)));
        let pages: u64 = wanted.map(|(_, pages)| pages).sum();
        assert!(pages < 5000, "{pages} pages of 50,000 reads");
    }

    #[test]
    fn what_was_not_asked_for_is_wanted_again() {
        let mut streams = Streams::new(4096, 64);
        streams.read(0, 0, 1);
        let first = streams.read(1, 1, 1).unwrap();
        let second = streams.read(2, 2, 1).unwrap();
        assert_eq!((first.first, second.first, second.pages), (2, 3, 8));
        streams.requested(&second, 2);
        assert_eq!(streams.read(3, 3, 1).map(|window| (window.first, window.pages)), Some((5, 4)));
    }
}
