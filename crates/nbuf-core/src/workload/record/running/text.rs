//! The files whose text running programs execute: `/proc/PID/maps`.

use std::collections::BTreeSet;
use std::fs;

use super::Running;
use crate::workload::record::area::Area;

/// Processes of one program mostly have the same text: more are not looked at.
const PROCESSES_MAX: usize = 64;

/// Their paths.
pub(crate) fn files(running: &Running, user: u32) -> BTreeSet<String> {
    let processes = running.threads(user).into_keys().take(PROCESSES_MAX);
    let maps =
        processes.map(|process| fs::read(format!("/proc/{process}/maps")).unwrap_or_default());
    maps.flat_map(|maps| executed(&String::from_utf8_lossy(&maps))).collect()
}

fn executed(maps: &str) -> Vec<String> {
    let areas = maps.lines().filter_map(Area::parse).filter(|area| area.is_text);
    areas.map(|area| area.path.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_that_is_mapped_is_no_text() {
        let maps = "1000-2000 r--p 0 fe:01 7 /data\n1000-2000 r-xp 0 fe:01 8 /bin/a b\n";
        assert_eq!(executed(maps), ["/bin/a b"]);
    }
}
