//! How a program reads a file, by its own word (`posix_fadvise`, `madvise`) or by what the kernel
//! was seen to read ahead for it.
//!
//! Who says that he reads in sequence, as `cat`, `cp`, `sort` and `sha256sum` do, has windows of twice
//! the device's; who says at random, none. Both ways of recording tell. Where the kernel has no
//! tracepoint for the call, a recording from a cold cache shows windows that are larger than the device's.
//! From a warm one nothing is known, and the windows are taken to be the device's.

use std::collections::{HashMap, HashSet};

use super::super::readahead::Window;
use crate::trace::{ADVICE_ON_MAPPING, Record};
use crate::units::PAGE_BYTES;

/// What a stream has of the device's window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) enum Advice {
    #[default]
    Normal,
    Random,
    Sequential,
}

impl Advice {
    /// By the kernel's number.
    fn of(number: u32) -> Option<Self> {
        [Self::Normal, Self::Random, Self::Sequential]
            .into_iter()
            .zip(0_u32..)
            .find_map(|(advice, of)| (of == number).then_some(advice))
    }

    /// The window that is left of the device's, or becomes of it.
    pub(in super::super) fn window(self, window: Window) -> Window {
        match self {
            Self::Normal | Self::Random => window,
            Self::Sequential => Window { pages: window.pages.saturating_mul(2), ..window },
        }
    }
}

/// What is known of the streams.
#[derive(Debug, Default)]
pub(super) struct Heard {
    told: HashMap<u32, Advice>,
    /// The advice to their mappings.
    told_mapped: HashMap<u32, Advice>,
    /// For each stream the longest run of pages that one request brought, and its largest request.
    seen: HashMap<u32, Seen>,
    /// The run under way: stream, request, and where it begins and ends.
    run: Option<(u32, u32, u64, u64)>,
    /// The last fault: stream and request.
    fault: Option<(u32, u32)>,
    /// The last request for pages ahead of time, whose fills tell nothing of windows.
    prefetch: Option<(u32, u32)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    run_bytes: u64,
    request_pages: u32,
    /// Faults that brought pages, and the most bytes of one.
    faults: u32,
    fault_bytes: u64,
}

/// Faults that brought a single page, after which a mapping is taken to be read at random.
const FAULTS_MIN: u32 = 8;

impl Heard {
    /// A stream is notified of. The last word counts, except its returning to normal.
    pub(super) fn told(&mut self, stream: u32, number: u32) {
        let mapped = number.checked_sub(ADVICE_ON_MAPPING);
        let told = if mapped.is_some() { &mut self.told_mapped } else { &mut self.told };
        let advice = Advice::of(mapped.unwrap_or(number));
        if let Some(advice) = advice.filter(|&advice| advice != Advice::Normal) {
            told.insert(stream, advice);
        }
    }

    /// Pages were put into the cache for a stream.
    pub(super) fn filled(&mut self, stream: u32, record: &Record) {
        if self.prefetch == Some((stream, record.request)) {
            return;
        }
        let at = record.offset_bytes;
        let end = at.saturating_add(record.length_bytes.into());
        let start = match self.run {
            Some((of, request, start, until))
                if (of, request, until) == (stream, record.request, at) =>
            {
                start
            }
            _ => at,
        };
        self.run = Some((stream, record.request, start, end));
        let seen = self.seen.entry(stream).or_default();
        seen.run_bytes = seen.run_bytes.max(end - start);
        if self.fault == Some((stream, record.request)) {
            seen.faults += u32::from(start == at);
            seen.fault_bytes = seen.fault_bytes.max(end - start);
        }
    }

    /// A stream asks for pages ahead of time.
    pub(super) fn prefetched(&mut self, stream: u32, request: u32) {
        self.prefetch = Some((stream, request));
    }

    /// A stream faults.
    pub(super) fn faulted(&mut self, stream: u32, request: u32) {
        self.fault = Some((stream, request));
    }

    /// A stream asks for this many pages.
    pub(super) fn requested(&mut self, stream: u32, pages: u32) {
        // Only those that fill are of interest, and those are known by now or not at all.
        if let Some(seen) = self.seen.get_mut(&stream) {
            seen.request_pages = seen.request_pages.max(pages);
        }
    }

    /// What comes of it for each stream, by calls and through mappings; `windows` are those of the devices under them, in pages.
    /// If no process had to fill a file for a stream, the stream takes the advice of the file's other streams;
    /// where advice is recorded, a stream without advice has none. It goes with a task, which is wrong for a
    /// descriptor that several tasks read by.
    pub(super) fn advice(&self, streams: &[(u32, u32)], windows: &[u32]) -> Vec<(Advice, Advice)> {
        let numbers = (0..).zip(streams.iter().zip(windows));
        let known: Vec<Option<Advice>> =
            numbers.map(|(stream, (_, &window))| self.of(stream, window)).collect();
        let files = streams.iter().map(|&(file, _)| file);
        let is_seen =
            |&(_, &advice): &(u32, &Option<Advice>)| self.told.is_empty() && advice == SEQUENTIAL;
        let wide = files.clone().zip(&known).filter(is_seen);
        let wide: HashSet<u32> = wide.map(|(file, _)| file).collect();
        let otherwise = |file| if wide.contains(&file) { SEQUENTIAL } else { None };
        let all = files.zip(known).map(|(file, known)| known.or_else(|| otherwise(file)));
        let mapped = (0..).zip(windows).map(|(stream, &window)| self.of_mappings(stream, window));
        all.map(Option::unwrap_or_default).zip(mapped).collect()
    }

    /// How the mappings of a stream are read: by its own word, or at random where faults bring single pages.
    fn of_mappings(&self, stream: u32, window: u32) -> Advice {
        let seen = self.seen.get(&stream).copied().unwrap_or_default();
        let is_random = seen.faults >= FAULTS_MIN && seen.fault_bytes <= PAGE_BYTES && window > 1;
        let otherwise = if is_random { Advice::Random } else { Advice::Normal };
        self.told_mapped.get(&stream).copied().unwrap_or(otherwise)
    }

    /// What is known of a stream's calls. A run of half as much again is more than one window, if no request is
    /// so large that it takes several.
    fn of(&self, stream: u32, window: u32) -> Option<Advice> {
        if let Some(&told) = self.told.get(&stream) {
            return Some(told);
        }
        let seen = self.seen.get(&stream)?;
        let pages = seen.run_bytes / PAGE_BYTES;
        let wide = pages * 2 > u64::from(window) * 3 && window > 0;
        let small = seen.request_pages.saturating_mul(4) <= window;
        Some(if wide && small { Advice::Sequential } else { Advice::Normal })
    }
}

const SEQUENTIAL: Option<Advice> = Some(Advice::Sequential);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{CacheEvent, FileId};

    #[test]
    fn a_window_is_as_wide_as_is_told_or_seen() {
        let check = |fills: &[(u64, u32, u32)], requested: u32, told: Option<u32>, want: Advice| {
            let mut heard = Heard::default();
            for &(page, pages, request) in fills {
                let (offset_bytes, length_bytes) = (page * 4096, pages * 4096);
                let (time_ns, file_bytes, file, task) = (0, 0, FileId(0), 1);
                let op = CacheEvent::Readahead;
                let record = Record {
                    time_ns,
                    offset_bytes,
                    file_bytes,
                    length_bytes,
                    file,
                    task,
                    request,
                    op,
                };
                heard.filled(0, &record);
            }
            heard.requested(0, requested);
            if let Some(number) = told {
                heard.told(0, number);
            }
            // Another task reads the same file, and finds it in memory; a third one another file.
            let streams = [(7, 1), (7, 2), (8, 3)];
            let got = heard.advice(&streams, &[32; 3]);
            let got: Vec<Advice> = got.into_iter().map(|(called, _)| called).collect();
            let other = if told.is_none() { want } else { Advice::Normal };
            assert_eq!(got, [want, other, Advice::Normal], "{fills:?} {requested} {told:?}");
        };
        check(&[(0, 32, 1)], 4, None, Advice::Normal);
        check(&[(0, 32, 1), (32, 32, 1)], 4, None, Advice::Sequential);
        // Two requests, two places, a request of several windows.
        check(&[(0, 32, 1), (32, 32, 2)], 4, None, Advice::Normal);
        check(&[(0, 32, 1), (40, 32, 1)], 4, None, Advice::Normal);
        check(&[(0, 32, 1), (32, 32, 1)], 64, None, Advice::Normal);
        check(&[], 4, Some(2), Advice::Sequential);
        check(&[(0, 64, 1)], 4, Some(1), Advice::Random);
        check(&[], 4, Some(0), Advice::Normal);
        check(&[], 4, Some(9), Advice::Normal);
        check(&[], 4, Some(17), Advice::Normal);
    }

    #[test]
    fn mappings_are_read_as_is_told_or_seen() {
        let check = |told: Option<u32>, faults: u32, pages: u32, want: Advice| {
            let mut heard = Heard::default();
            for request in 0..faults {
                heard.faulted(0, request);
                let (offset_bytes, length_bytes) = (u64::from(request) << 20, pages * 4096);
                let (time_ns, file_bytes, file, task) = (0, 0, FileId(0), 1);
                let op = CacheEvent::Fill;
                heard.filled(
                    0,
                    &Record {
                        time_ns,
                        offset_bytes,
                        file_bytes,
                        length_bytes,
                        file,
                        task,
                        request,
                        op,
                    },
                );
            }
            if let Some(number) = told {
                heard.told(0, number);
            }
            let (called, mapped) = heard.advice(&[(7, 1)], &[32])[0];
            let want_called = if told == Some(1) { Advice::Random } else { Advice::Normal };
            assert_eq!((called, mapped), (want_called, want), "{told:?} {faults} {pages}");
        };
        check(None, 0, 0, Advice::Normal);
        check(None, 8, 1, Advice::Random);
        check(None, 7, 1, Advice::Normal);
        check(None, 8, 2, Advice::Normal);
        check(Some(17), 8, 32, Advice::Random);
        check(Some(18), 8, 1, Advice::Sequential);
        check(Some(1), 0, 0, Advice::Normal);
        check(Some(16), 0, 0, Advice::Normal);
    }
}
