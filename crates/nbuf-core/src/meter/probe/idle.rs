//! How long processors had nothing to do: what neither we nor anybody else used.
//!
//! From `/sys/devices/system/cpu/cpuN/cpuidle/stateN/time`, in microseconds, which any user may read;
//! `/proc/stat` counts the same by ticks of 10 ms, too coarse for a sample. A processor that is idle
//! right now adds this time when it wakes. Cost: a read for each processor and state, about 2 µs.
//! Where the kernel has no driver for idle processors there is nothing to read.

use std::fs::File;
use std::io;
use std::path::PathBuf;

/// The counters of some processors.
#[derive(Debug)]
pub(crate) struct Idle {
    states: Vec<(usize, Vec<File>)>,
}

impl Idle {
    /// The idle time of these processors; nothing where one of them does not count.
    pub(crate) fn of(processors: &[usize]) -> Option<Self> {
        let states = processors.iter().map(|&processor| {
            let folder = PathBuf::from(format!("/sys/devices/system/cpu/cpu{processor}/cpuidle"));
            let files = (0..).map(|state| File::open(folder.join(format!("state{state}/time"))));
            let files: Vec<File> = files.map_while(Result::ok).collect();
            (!files.is_empty()).then_some((processor, files))
        });
        Some(Self { states: states.collect::<Option<_>>()? })
    }

    /// Nanoseconds up to now, for each processor.
    pub(crate) fn read(&self) -> io::Result<Vec<(usize, u64)>> {
        let sum = |files: &[File]| files.iter().map(microseconds).sum::<io::Result<u64>>();
        let states = self.states.iter();
        states.map(|(processor, files)| Ok((*processor, sum(files)? * 1000))).collect()
    }
}

fn microseconds(file: &File) -> io::Result<u64> {
    let mut text = [0; 32];
    let bytes = rustix::io::pread(file, &mut text, 0)?;
    let text = std::str::from_utf8(&text[..bytes]).map_err(io::Error::other)?;
    text.trim().parse().map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn idle_time_only_grows_and_what_does_not_exist_has_none() {
        assert!(Idle::of(&[usize::MAX]).is_none());
        // Virtual machines without a driver have no such folder.
        let Some(idle) = Idle::of(&[0]) else { return };
        let before = idle.read().unwrap();
        std::thread::sleep(Duration::from_millis(1));
        let after = idle.read().unwrap();
        assert_eq!((before.len(), before[0].0), (1, 0));
        assert!(after[0].1 >= before[0].1);
    }
}
