//! The kernel's on-demand readahead (`mm/readahead.c`), as decisions: given a miss or a marker,
//! which pages to fetch, in folios of which order, with the next marker where.

/// What the kernel keeps for each open file (`struct file_ra_state`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    /// The current window.
    start: u32,
    size: u32,
    /// How much of the window is behind the marker.
    async_size: u32,
    /// The order of folios asked for last.
    order: u32,
    /// Page at which the last read ended; `None` before the first.
    pub(super) previous: Option<u32>,
    /// Faults that missed, less those that hit.
    pub(super) mapped_misses: u32,
}

/// Beyond this many misses more than hits, read-around stops (`MMAP_LOTSAMISS`).
const MAPPED_MISSES_MANY: u32 = 100;

/// The device under a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Window {
    /// Readahead window in pages (`ra_pages`).
    pub(super) pages: u32,
    /// Largest I/O in pages, up to which one large read widens the window (`io_pages`).
    pub(super) io_pages: u32,
}

impl Window {
    fn for_request(self, request: u32) -> u32 {
        if request > self.pages && self.io_pages > self.pages {
            request.min(self.io_pages)
        } else {
            self.pages
        }
    }
}

/// What to fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fetch {
    pub(super) start: u32,
    pub(super) pages: u32,
    /// The page that gets the marker; `None` for none.
    pub(super) marker: Option<u32>,
    /// The order to try for; `None` for single pages that fill gaps only.
    pub(super) order: Option<u32>,
}

impl Fetch {
    pub(super) fn single_pages(start: u32, pages: u32) -> Self {
        Self { start, pages, marker: None, order: None }
    }
}

impl State {
    /// A read of `request` pages misses at `index` (`page_cache_sync_ra`). `history` counts the
    /// cached pages right before `index`, looking back no further than it is asked to, and says
    /// whether they reach to the beginning of the file.
    pub(super) fn miss(
        &mut self,
        window: Window,
        index: u32,
        request: u32,
        history: impl FnOnce(u32) -> (u32, bool),
    ) -> Fetch {
        if window.pages == 0 {
            return Fetch::single_pages(index, 1);
        }
        let most = window.for_request(request);
        let sequential = self.previous.is_some_and(|p| index == p || index == p.wrapping_add(1));
        if index == 0 || request > most || sequential {
            self.start = index;
            self.size = initial_size(request, most);
            self.async_size = if self.size > request { self.size - request } else { self.size / 2 };
        } else {
            let (mut contiguous, from_start) = history(most);
            if contiguous <= request {
                // A small random read: as it is, and without a trace.
                return Fetch::single_pages(index, request);
            }
            if from_start {
                contiguous *= 2;
            }
            self.start = index;
            self.size = (contiguous + request).min(most);
            self.async_size = 1;
        }
        self.order = 0;
        self.fetch()
    }

    /// A read reaches a marker (`page_cache_async_ra`): `index` and `folio_pages` of the marked
    /// folio, `request` pages from there to the end of the read. `next_miss` finds the first page
    /// behind `index` that is not cached, within this many pages.
    pub(super) fn marker(
        &mut self,
        window: Window,
        (index, folio_pages): (u32, u32),
        request: u32,
        next_miss: impl FnOnce(u32) -> Option<u32>,
    ) -> Option<Fetch> {
        if window.pages == 0 {
            return None;
        }
        let most = window.for_request(request);
        let expected = (self.start + self.size).saturating_sub(self.async_size);
        if index == expected / folio_pages * folio_pages && self.size > 0 {
            self.start += self.size;
            self.size = self.size.max(next_size(self.size, most));
        } else {
            // A marker of another stream: take up from where its pages end.
            let start = next_miss(most)?;
            self.start = start;
            self.size = next_size(start - index + request, most);
        }
        self.order += 2;
        let align = 1u32 << self.order.min(most.trailing_zeros());
        let end = self.start + self.size;
        let aligned = end / align * align;
        if aligned > self.start {
            self.size -= end - aligned;
        }
        self.async_size = self.size;
        Some(self.fetch())
    }

    /// A fault misses at `index`: read-around, until it has missed too often.
    pub(super) fn fault(&mut self, window: Window, index: u32) -> Fetch {
        if window.pages == 0 {
            return Fetch::single_pages(index, 1);
        }
        self.mapped_misses = (self.mapped_misses + 1).min(MAPPED_MISSES_MANY * 10);
        if self.mapped_misses > MAPPED_MISSES_MANY {
            return Fetch::single_pages(index, 1);
        }
        self.start = index.saturating_sub(window.pages / 2);
        self.size = window.pages;
        self.async_size = window.pages / 4;
        self.order = 0;
        self.fetch()
    }

    fn fetch(&self) -> Fetch {
        Fetch {
            start: self.start,
            pages: self.size,
            marker: Some(self.start + self.size - self.async_size),
            order: Some(self.order),
        }
    }

    /// The order the file system could give; the next request grows from there.
    pub(super) fn limit_order(&mut self, order: u32) {
        self.order = order;
    }
}

/// `get_init_ra_size`
fn initial_size(request: u32, most: u32) -> u32 {
    let size = request.next_power_of_two();
    if size <= most / 32 {
        size * 4
    } else if size <= most / 4 {
        size * 2
    } else {
        most
    }
}

/// `get_next_ra_size`
fn next_size(current: u32, most: u32) -> u32 {
    if current < most / 16 {
        current * 4
    } else if current <= most / 2 {
        current * 2
    } else {
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Window = Window { pages: 32, io_pages: 0 };

    #[test]
    fn windows_grow_as_the_kernel_grows_them() {
        let cases = [(1, 32, 4), (2, 32, 4), (4, 32, 8), (8, 32, 16), (9, 32, 32), (1, 2048, 4)];
        for (request, most, want) in cases {
            assert_eq!(initial_size(request, most), want, "{request} of {most}");
        }
        let cases = [(1, 32, 4), (2, 32, 4), (16, 32, 32), (17, 32, 32), (4, 2048, 16)];
        for (current, most, want) in cases {
            assert_eq!(next_size(current, most), want, "{current} of {most}");
        }
    }

    #[test]
    fn a_sequential_read_by_single_pages() {
        let mut state = State::default();
        let fetch = state.miss(WINDOW, 0, 1, |_| unreachable!());
        assert_eq!(fetch, Fetch { start: 0, pages: 4, marker: Some(1), order: Some(0) });
        let fetch = state.marker(WINDOW, (1, 1), 1, |_| unreachable!()).unwrap();
        assert_eq!(fetch, Fetch { start: 4, pages: 8, marker: Some(4), order: Some(2) });
    }

    #[test]
    fn a_read_that_fills_the_window_marks_its_middle() {
        let mut state = State::default();
        let fetch = state.miss(WINDOW, 0, 32, |_| unreachable!());
        assert_eq!(fetch, Fetch { start: 0, pages: 32, marker: Some(16), order: Some(0) });
    }

    #[test]
    fn a_random_read_fetches_what_it_asks_for() {
        let mut state = State { previous: Some(7), ..State::default() };
        let fetch = state.miss(WINDOW, 100, 2, |_| (0, false));
        assert_eq!(fetch, Fetch::single_pages(100, 2));
        let fetch = state.miss(WINDOW, 8, 1, |_| unreachable!());
        assert_eq!(fetch.pages, 4, "right behind the read before");
    }

    #[test]
    fn history_starts_a_stream() {
        let mut state = State::default();
        let fetch = state.miss(WINDOW, 100, 1, |_| (10, false));
        assert_eq!((fetch.start, fetch.pages, fetch.marker), (100, 11, Some(110)));
        let fetch = state.miss(WINDOW, 10, 1, |_| (10, true));
        assert_eq!((fetch.start, fetch.pages), (10, 21));
    }

    #[test]
    fn faults_read_around_until_they_miss_too_often() {
        let mut state = State::default();
        let fetch = state.fault(WINDOW, 100);
        assert_eq!((fetch.start, fetch.pages, fetch.marker), (84, 32, Some(108)));
        for _ in 0..100 {
            state.fault(WINDOW, 100);
        }
        assert_eq!(state.fault(WINDOW, 100), Fetch::single_pages(100, 1));
    }
}
