//! Ends what runs in a group, and removes it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::sys::process;

/// Kills what is in the group and waits until it is gone, two seconds at most.
pub(super) fn end_processes(directory: &Path) {
    for _ in 0..1000 {
        let Ok(text) = fs::read_to_string(directory.join("cgroup.procs")) else { return };
        if text.trim().is_empty() {
            return;
        }
        for pid in text.lines().filter_map(|line| line.parse().ok()).filter(|&pid| pid > 1) {
            let _ = process::signal(pid, libc::SIGKILL);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Removes an empty group; the kernel may need a moment after the last process.
pub(super) fn remove(directory: &Path) {
    for _ in 0..1000 {
        match fs::remove_dir(directory) {
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
                std::thread::sleep(Duration::from_millis(2));
            }
            _ => return,
        }
    }
}
