//! Where members of the kernel's structures are, by its own description, read once.

use std::sync::OnceLock;

use super::super::btf::Btf;
use super::super::events::SOURCES;
use crate::sys::bpf::description::Description;

const FORK: &str = "btf_trace_sched_process_fork";
const STRUCTURES: [&str; 14] = [
    "address_space",
    "inode",
    "super_block",
    "folio",
    "kiocb",
    "file",
    "iov_iter",
    "task_struct",
    "css_set",
    "cgroup_subsys_state",
    "cgroup",
    "kernfs_node",
    "pageflags",
    "cgroup_subsys_id",
];

/// Offsets in bytes, as instructions have them, and numbers of types.
#[derive(Debug)]
pub(super) struct Kernel {
    pub(super) mapping_host: i16,
    pub(super) inode_number: i16,
    pub(super) inode_size: i16,
    pub(super) inode_superblock: i16,
    pub(super) superblock_device: i16,
    pub(super) folio: Folio,
    pub(super) task: Task,
    /// A call that writes to a file of xfs; absent where not described.
    pub(super) call: Option<Call>,
    /// How the group that memory is charged to is found; absent in version 2 without a controller.
    pub(super) charged: Option<Charged>,
    kinds: Vec<(&'static str, u32)>,
    fork_kind: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Folio {
    pub(super) flags: i16,
    pub(super) index: i16,
    pub(super) mapping: i16,
    pub(super) order: i16,
    /// The bit that says that it has several pages.
    pub(super) head: i32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) leader: i16,
    pub(super) flags: i16,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) position: i16,
    pub(super) file: i16,
    pub(super) file_inode: i16,
    pub(super) count: i16,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Charged {
    pub(super) groups: i16,
    pub(super) memory: i16,
    pub(super) group: i16,
    pub(super) level: i16,
    pub(super) ancestors: i16,
    pub(super) node: i16,
    pub(super) number: i16,
}

impl Kernel {
    /// The kernel that runs, if it describes all that is needed.
    pub(super) fn described() -> Option<&'static Self> {
        static KERNEL: OnceLock<Option<Kernel>> = OnceLock::new();
        KERNEL.get_or_init(|| Self::of(Description::open().ok()?.bytes())).as_ref()
    }

    fn of(description: &[u8]) -> Option<Self> {
        let traced =
            |path: &'static str| Some((path, format!("btf_trace_{}", path.split_once('/')?.1)));
        let names: Vec<(&str, String)> =
            SOURCES.iter().filter_map(|source| traced(source.path)).collect();
        let mut wanted: Vec<&str> = names.iter().map(|(_, name)| name.as_str()).collect();
        wanted.extend(STRUCTURES);
        wanted.push(FORK);
        let btf = Btf::parse(description, &wanted)?;
        let of = |structure: &str, member: &str| offset(&btf, structure, member);
        let kinds = names.iter().filter_map(|(path, name)| Some((*path, btf.type_named(name)?)));
        Some(Self {
            mapping_host: of("address_space", "host")?,
            inode_number: of("inode", "i_ino")?,
            inode_size: of("inode", "i_size")?,
            inode_superblock: of("inode", "i_sb")?,
            superblock_device: of("super_block", "s_dev")?,
            folio: Folio {
                flags: of("folio", "flags")?,
                index: of("folio", "index")?,
                mapping: of("folio", "mapping")?,
                // A member of its own until Linux 6.6.
                order: of("folio", "_folio_order").or_else(|| of("folio", "_flags_1"))?,
                head: btf.value("pageflags", "PG_head")?.cast_signed(),
            },
            task: Task {
                leader: of("task_struct", "group_leader")?,
                flags: of("task_struct", "flags")?,
            },
            call: call(&btf),
            charged: charged(&btf),
            kinds: kinds.collect(),
            fork_kind: btf.type_named(FORK),
        })
    }

    /// The number of the type of a tracepoint.
    pub(super) fn kind(&self, path: &str) -> Option<u32> {
        self.kinds.iter().find(|(known, _)| *known == path).map(|&(_, kind)| kind)
    }

    /// The same for the tracepoint of new processes.
    pub(super) fn fork_kind(&self) -> Option<u32> {
        self.fork_kind
    }
}

fn offset(btf: &Btf<'_>, structure: &str, member: &str) -> Option<i16> {
    i16::try_from(btf.offset(structure, member)?).ok()
}

fn call(btf: &Btf<'_>) -> Option<Call> {
    let of = |structure: &str, member: &str| offset(btf, structure, member);
    Some(Call {
        position: of("kiocb", "ki_pos")?,
        file: of("kiocb", "ki_filp")?,
        file_inode: of("file", "f_inode")?,
        count: of("iov_iter", "count")?,
    })
}

fn charged(btf: &Btf<'_>) -> Option<Charged> {
    let of = |structure: &str, member: &str| offset(btf, structure, member);
    let memory = btf.value("cgroup_subsys_id", "memory_cgrp_id")?;
    Some(Charged {
        groups: of("task_struct", "cgroups")?,
        memory: of("css_set", "subsys")?.checked_add(i16::try_from(memory * 8).ok()?)?,
        group: of("cgroup_subsys_state", "cgroup")?,
        level: of("cgroup", "level")?,
        ancestors: of("cgroup", "ancestors")?,
        node: of("cgroup", "kn")?,
        number: of("kernfs_node", "id")?,
    })
}
