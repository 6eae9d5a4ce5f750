//! The kernel's count of pages that come into the cache and leave it, by perf: tracepoints, filtered by group.
//! tracefs is mounted where it is not, for perf alone.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use super::place::{Groups, device};

/// Folios of more pages than a large page of memory are not made.
const ORDERS: u32 = 10;

const PERF: &str =
    "[ -d /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing || exit 1
exec perf stat \"$@\"";

/// Pages in a while.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    /// That came in for the group.
    pub(super) filled: u64,
    /// That threads of the kernel took, of the disc's files.
    pub(super) taken: u64,
}

/// Counts that are under way.
#[derive(Debug)]
pub(super) struct Counting {
    filled: Child,
    taken: Option<Child>,
}

impl Counting {
    /// Counts while a command runs: of the disc and of the programs' files, and not of what file systems keep of
    /// their own.
    pub(super) fn begin(groups: &Groups, disc: &Path, during: &Command) -> Result<Self> {
        let disc = device(disc)?;
        let files = format!("(s_dev=={disc}||s_dev=={})", device(Path::new("/"))?);
        let filled = perf("add_to", &files, Some(groups.name()), during)?;
        let reclaimers = reclaimers();
        let taken = if reclaimers.is_empty() {
            None
        } else {
            let pids: Vec<String> =
                reclaimers.iter().map(|pid| format!("common_pid=={pid}")).collect();
            let filter = format!("(s_dev=={disc})&&({})", pids.join("||"));
            Some(perf("delete_from", &filter, None, during)?)
        };
        Ok(Self { filled, taken })
    }

    /// What was counted, and what the command printed.
    pub(super) fn end(self) -> Result<(Counted, String)> {
        let pages = |child: Child| -> Result<(u64, String)> {
            let output = child.wait_with_output()?;
            let text = String::from_utf8_lossy(&output.stderr);
            let pages = pages(&text).with_context(|| format!("perf stat: {}", text.trim()))?;
            Ok((pages, String::from_utf8_lossy(&output.stdout).into_owned()))
        };
        let (filled, printed) = pages(self.filled)?;
        let taken = self.taken.map(pages).transpose()?.map_or(0, |(pages, _)| pages);
        Ok((Counted { filled, taken }, printed))
    }
}

fn perf(what: &str, filter: &str, group: Option<&str>, during: &Command) -> Result<Child> {
    let mut perf = Command::new("unshare");
    perf.args(["-m", "--propagation", "private", "sh", "-c", PERF, "perf", "-x,", "-a"]);
    for order in 0..ORDERS {
        perf.args(["-e", &format!("filemap:mm_filemap_{what}_page_cache")]);
        perf.args(["--filter", &format!("order=={order}&&{filter}")]);
    }
    if let Some(group) = group {
        perf.args(["-G", group]);
    }
    perf.arg(during.get_program()).args(during.get_args());
    perf.envs(during.get_envs().filter_map(|(name, value)| Some((name, value?))));
    perf.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    perf.spawn().context("cannot run unshare and perf")
}

/// Adds up a line for each order.
fn pages(text: &str) -> Result<u64> {
    let counts: Vec<u64> = text
        .lines()
        .filter(|line| line.contains("mm_filemap_"))
        .map(|line| line.split(',').next().unwrap_or("").parse().context("not counted"))
        .collect::<Result<_>>()?;
    if counts.len() != ORDERS as usize {
        bail!("{} of {ORDERS} counts", counts.len());
    }
    Ok(counts.iter().zip(0..).map(|(count, order)| count << order).sum())
}

/// Threads of the kernel that take pages which are not their own.
fn reclaimers() -> Vec<u32> {
    let names = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    names
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let name = std::fs::read_to_string(entry.path().join("comm")).ok()?;
            (name.starts_with("kdamond") || name.starts_with("kswapd")).then_some(pid)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_folio_counts_as_its_pages() {
        let mut text = "5,,filemap:mm_filemap_add_to_page_cache,nbuf,100,100.00,,\n".to_owned();
        text += "3,,filemap:mm_filemap_add_to_page_cache,nbuf,100,100.00,,\n";
        for _ in 2..ORDERS {
            text += "0,,filemap:mm_filemap_add_to_page_cache,nbuf,100,100.00,,\n";
        }
        assert_eq!(pages(&text).unwrap(), 5 + 3 * 2);
        assert!(pages(&text[1..].replacen("3,", "<not counted>,", 1)).is_err());
        assert!(pages("no permission").is_err());
    }
}
