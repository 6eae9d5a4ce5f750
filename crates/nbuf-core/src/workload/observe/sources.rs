//! The tracepoints that are sampled, and how to read their records.
//!
//! The layout of a record is read from its `format` file, as for a recording.

use super::calls::WAITS;
use crate::workload::record::events::{Field, field_named, id, number};

/// What a tracepoint means to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Means {
    Switch,
    Wakeup,
    Enter,
    Leave,
    Interrupt(bool),
    Softirq(bool),
    Request,
    Issue,
    Complete,
    Reclaim(bool),
    Fill,
    Look,
}

/// A tracepoint that is sampled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) path: &'static str,
    pub(super) means: Means,
    /// Its fields that are read.
    fields: &'static [&'static str],
    pub(super) is_required: bool,
}

/// What wakes a thread.
pub(super) const WAKEUP: Source =
    source("sched/sched_wakeup", Means::Wakeup, &["pid", "common_flags"], true);

/// Without the first two there is no split; what else a kernel has not is passed over.
pub(super) const SOURCES: [Source; 9] = [
    source("sched/sched_switch", Means::Switch, &["prev_state"], true),
    WAKEUP,
    source("raw_syscalls/sys_enter", Means::Enter, &["id", "args"], false),
    source("block/block_bio_queue", Means::Request, &REQUEST, false),
    source("vmscan/mm_vmscan_direct_reclaim_begin", Means::Reclaim(true), &[], false),
    source("vmscan/mm_vmscan_direct_reclaim_end", Means::Reclaim(false), &[], false),
    source("vmscan/mm_vmscan_memcg_reclaim_begin", Means::Reclaim(true), &[], false),
    source("vmscan/mm_vmscan_memcg_reclaim_end", Means::Reclaim(false), &[], false),
    source("filemap/mm_filemap_add_to_page_cache", Means::Fill, &["order"], false),
];

/// What only meters need.
pub(super) const METER_SOURCES: [Source; 12] = [
    source("raw_syscalls/sys_exit", Means::Leave, &["ret"], false),
    source("irq/irq_handler_entry", Means::Interrupt(true), &[], false),
    source("irq/irq_handler_exit", Means::Interrupt(false), &[], false),
    source("irq_vectors/local_timer_entry", Means::Interrupt(true), &[], false),
    source("irq_vectors/local_timer_exit", Means::Interrupt(false), &[], false),
    source("irq/softirq_entry", Means::Softirq(true), &[], false),
    source("irq/softirq_exit", Means::Softirq(false), &[], false),
    source("block/block_rq_issue", Means::Issue, &REQUEST, false),
    source("block/block_rq_complete", Means::Complete, &REQUEST, false),
    source("filemap/mm_filemap_get_pages", Means::Look, &LOOK, false),
    source("filemap/mm_filemap_fault", Means::Look, &LOOK, false),
    source("filemap/mm_filemap_map_pages", Means::Look, &LOOK, false),
];

/// The last one says whether it is a read.
const REQUEST: [&str; 4] = ["dev", "sector", "nr_sector", "rwbs"];

const LOOK: [&str; 2] = ["i_ino", "s_dev"];

const fn source(
    path: &'static str,
    means: Means,
    fields: &'static [&'static str],
    is_required: bool,
) -> Source {
    Source { path, means, fields, is_required }
}

/// How to read the records of a tracepoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) id: u16,
    pub(super) means: Means,
    pub(super) fields: Vec<Field>,
}

impl Layout {
    /// Reads a `format` file; nothing where a field is missing.
    pub(super) fn parse(source: &Source, text: &str) -> Option<Self> {
        // Kernels before 6.10 add single pages and do not say so.
        let field = |name: &&str| match field_named(text, name) {
            None if *name == "order" => Some(Field { offset: 0, bytes: 0 }),
            found => found,
        };
        let fields = source.fields.iter().map(field).collect::<Option<_>>()?;
        Some(Self { id: id(text)?, means: source.means, fields })
    }

    /// Whether its samples end with registers.
    pub(super) fn says_registers(&self) -> bool {
        matches!(self.means, Means::Switch | Means::Wakeup | Means::Enter)
    }

    /// Whether it is sampled for all of the machine: who wakes a thread, and who sends a request on, is mostly no
    /// thread of the command.
    pub(super) fn is_of_machine(&self) -> bool {
        matches!(self.means, Means::Wakeup | Means::Issue | Means::Complete)
    }

    /// Whether meters need it next to programs, which say the rest.
    pub(super) fn is_next_to_programs(&self) -> bool {
        use Means::{Complete, Interrupt, Issue, Reclaim, Request, Softirq};
        matches!(self.means, Interrupt(_) | Softirq(_) | Request | Issue | Complete | Reclaim(_))
    }

    /// What it lets through; nothing for all. Calls whose waits mean nothing of their own are not needed.
    pub(super) fn filter(&self) -> Option<String> {
        let calls = (self.means == Means::Enter).then(|| WAITS.iter())?;
        Some(calls.map(|(call, _)| format!("id=={call}")).collect::<Vec<_>>().join("||"))
    }

    pub(super) fn value(&self, raw: &[u8], at: usize) -> Option<u64> {
        number(raw, *self.fields.get(at)?)
    }
}
