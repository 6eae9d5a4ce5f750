//! What clients saw, and what a byte may be.
//!
//! A write may be seen from its arrival on. It may be seen no more when another write, that began after
//! it was complete, is itself complete before the look begins. So concurrent operations may come in any order, and
//! nothing older than what was acknowledged is ever seen.

/// A write as its client saw it.
#[derive(Clone, Debug)]
pub(super) struct Write {
    pub(super) offset: u64,
    pub(super) length_bytes: u64,
    pub(super) value: u8,
    /// Whether it was to be safe when it was complete.
    pub(super) durable: bool,
    /// When it began.
    pub(super) began: u64,
    /// When it was complete, and whether it was served.
    pub(super) ended: Option<(u64, bool)>,
}

impl Write {
    fn covers(&self, byte: u64) -> bool {
        (self.offset..self.offset + self.length_bytes).contains(&byte)
    }
}

/// All writes of a run, over a disc of zeros.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    pub(super) writes: Vec<Write>,
}

impl History {
    /// Whether a look at a byte, that began and ended then, may have seen this value.
    pub(super) fn permits(&self, byte: u64, value: u8, began: u64, ended: u64) -> bool {
        self.may_be(byte, value, began, ended, false)
    }

    /// Whether a power cut after a flush that began then may leave this value.
    pub(super) fn survives(&self, byte: u64, value: u8, flushed: u64, cut: u64) -> bool {
        self.may_be(byte, value, flushed, cut, true)
    }

    fn may_be(&self, byte: u64, value: u8, began: u64, ended: u64, is_cut: bool) -> bool {
        let covering = || self.writes.iter().filter(|write| write.covers(byte));
        // The last moment at which something was acknowledged that this look must see, or newer.
        let is_gone = |ended_before: u64| {
            covering().any(|later| {
                let is_safe = |at: u64| at < began || is_cut && later.durable && at <= ended;
                later.began > ended_before && matches!(later.ended, Some((at, true)) if is_safe(at))
            })
        };
        if value == 0 && !is_gone(0) {
            return true;
        }
        covering().any(|write| {
            let end = write.ended.map_or(u64::MAX, |(at, _)| at);
            write.value == value && write.began <= ended && !is_gone(end)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_acknowledged_is_seen() {
        let write = |value, began, ended| Write {
            offset: 0,
            length_bytes: 10,
            value,
            durable: false,
            began,
            ended: Some((ended, true)),
        };
        let history = History { writes: vec![write(1, 1, 2), write(2, 3, 6), write(3, 5, 8)] };
        let permitted = |began, ended| {
            (0..4).filter(|&value| history.permits(5, value, began, ended)).collect::<Vec<_>>()
        };
        assert_eq!(permitted(0, 0), [0]);
        assert_eq!(permitted(3, 4), [1, 2]);
        assert_eq!(permitted(7, 7), [2, 3]);
        assert_eq!(permitted(9, 10), [2, 3], "they were concurrent");
        assert!(history.permits(10, 0, 9, 9) && !history.permits(10, 1, 9, 9));
    }
}
