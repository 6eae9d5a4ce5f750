//! Both versions on directories of plain files: what is written where, what is read from where.

use super::pressure::some_total_ns;
use super::*;
use crate::units::Bytes;

fn fake(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(directory.path().join(name), text).unwrap();
    }
    directory
}

#[test]
fn v2_writes_its_own_files_and_reads_its_own_words() {
    let files = [
        ("memory.max", "max\n"),
        ("memory.swap.max", "max\n"),
        ("memory.reclaim", ""),
        ("memory.stat", "anon 8192\nfile 40960\nkernel 12288\nshmem 4096\npgmajfault 7\n"),
        ("memory.events", "low 0\nmax 3\noom 1\noom_kill 1\n"),
    ];
    let directory = fake(&files);
    let group = v2::V2::new(directory.path().to_owned());
    group.limit(Some(Bytes(96 << 20))).unwrap();
    let read = |name| fs::read_to_string(directory.path().join(name)).unwrap();
    assert_eq!(read("memory.max"), (96 << 20).to_string());
    assert_eq!(read("memory.swap.max"), "0");
    assert_eq!((group.limited(), group.oom_kills()), (Some(Bytes(96 << 20)), 1));
    group.limit(None).unwrap();
    assert_eq!(read("memory.max"), "max");
    assert_eq!(group.limited(), None);
    let usage = Usage {
        anonymous: Bytes(8192),
        shmem: Bytes(4096),
        kernel: Bytes(12288),
        kernel_peak: Bytes(0),
        peak: Bytes(0),
        page_cache: Bytes(36864),
        major_faults: 7,
        oom_kills: 1,
    };
    assert_eq!(group.usage().unwrap(), usage);
    group.empty();
    assert_eq!(read("memory.reclaim"), "1T swappiness=0");
}

#[test]
fn v1_keeps_shared_memory_apart_from_cache() {
    let stat = "cache 1\ntotal_cache 40960\ntotal_rss 8192\ntotal_shmem 4096\ntotal_pgmajfault 7\n";
    let files = [
        ("memory.limit_in_bytes", ""),
        ("memory.memsw.limit_in_bytes", ""),
        ("memory.kmem.usage_in_bytes", "12288\n"),
        ("memory.kmem.max_usage_in_bytes", "16384\n"),
        ("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"),
        ("memory.stat", stat),
    ];
    let directory = fake(&files);
    let group = v1::V1::new(directory.path().to_owned());
    group.limit(Some(Bytes(1 << 20))).unwrap();
    let read = |name| fs::read_to_string(directory.path().join(name)).unwrap();
    assert_eq!(read("memory.limit_in_bytes"), "1048576");
    assert_eq!(read("memory.memsw.limit_in_bytes"), "1048576");
    assert_eq!((group.limited(), group.oom_kills()), (Some(Bytes(1 << 20)), 2));
    fs::write(directory.path().join("memory.limit_in_bytes"), "9223372036854771712\n").unwrap();
    assert_eq!(group.limited(), None);
    let usage = group.usage().unwrap();
    assert_eq!((usage.page_cache, usage.shmem), (Bytes(36864), Bytes(4096)));
    assert_eq!((usage.kernel, usage.kernel_peak), (Bytes(12288), Bytes(16384)));
    assert_eq!((usage.anonymous, usage.major_faults, usage.oom_kills), (Bytes(8192), 7, 2));
}

#[test]
fn our_groups_are_found_in_every_layout() {
    let cases = [
        (
            "4:memory:/a/b\n0::/\n",
            "30 20 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
             31 20 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
            Some("/sys/fs/cgroup/memory/a/b"),
            Some("/sys/fs/cgroup/unified/"),
        ),
        (
            "0::/user.slice/x.scope\n",
            "31 20 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n",
            None,
            Some("/sys/fs/cgroup/user.slice/x.scope"),
        ),
        (
            "4:memory:/docker/1\n",
            "30 20 0:26 /docker/1 /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n",
            Some("/sys/fs/cgroup/memory/"),
            None,
        ),
        ("rubbish\n::\n", "rubbish - \n - - -\n", None, None),
    ];
    for (groups, mounts, memory, unified) in cases {
        let want = Hierarchies {
            memory_v1: memory.map(PathBuf::from),
            unified: unified.map(PathBuf::from),
            blkio_v1: None,
        };
        assert_eq!(Hierarchies::parse(groups, mounts), want, "{groups}");
    }
}

#[test]
fn pressure_is_the_total_of_some() {
    let text = "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234\nfull avg10=0 total=9\n";
    assert_eq!(some_total_ns(text), 1_234_000);
    assert_eq!(some_total_ns("nonsense"), 0);
}

#[test]
fn a_unified_hierarchy_without_the_controller_says_so() {
    let parent = tempfile::tempdir().unwrap();
    let hierarchies =
        Hierarchies { unified: Some(parent.path().to_owned()), ..Hierarchies::default() };
    let error = Group::create(&hierarchies).unwrap_err();
    assert!(error.to_string().contains("systemd-run --scope"), "{error}");
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0, "left something behind");
}
