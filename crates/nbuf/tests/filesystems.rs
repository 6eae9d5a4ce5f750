//! Several file systems in one command, and one that is made of others.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use nbuf::internal::workload::record::mounted::Mounted;
use nbuf::trace::{CacheEvent, Trace};
use support::{NBUF, Need, Place, Recorded, bytes, requires_shared, skip};

const PAGE: u64 = 4096;

/// Runs a script among mounts that no other process sees and that end with it. It ends with 99
/// where nothing can be mounted; the recording is `t.parquet`.
fn among_private_mounts(place: &Place, script: &str) -> Option<Recorded> {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-c", script, NBUF]);
    let output = command.current_dir(place.path("")).output().unwrap();
    if output.status.code() == Some(99) {
        skip(&format!("no loop device: {}", String::from_utf8_lossy(&output.stderr)));
        return None;
    }
    Some(Recorded::of(output, &place.path("t.parquet")))
}

fn read(trace: &Trace, path: &Path) -> Option<u64> {
    bytes(trace, path, CacheEvent::Read)
}

#[test]
fn files_of_an_overlay_go_by_the_merged_path() {
    let needs = ["unshare", "mkfs.ext4", "losetup"].map(Need::Program);
    let Some(_lock) = requires_shared(&[&[Need::Tracepoints], &needs[..]].concat()) else { return };
    let place = Place::new();
    let commands = "cat merged/a merged/a >/dev/null
        printf x | dd of=merged/b bs=1 seek=5000 conv=notrunc status=none; cat merged/b >/dev/null
        rm merged/c; head -c 40960 /dev/zero >merged/c; cat merged/c >/dev/null";
    fs::write(place.path("commands"), commands).unwrap();
    let script = "truncate -s 64M image && mkfs.ext4 -qF -b 4096 image && mkdir disc merged &&
        mount -o loop image disc && mkdir disc/lower disc/upper disc/work || exit 99
        for file in a b c; do head -c 409600 /dev/urandom >disc/lower/$file; done; sync -f disc
        mount -t overlay -o lowerdir=$PWD/disc/lower,upperdir=$PWD/disc/upper,workdir=$PWD/disc/work \
            overlay merged || exit 99
        exec \"$0\" record -o t.parquet -- sh commands";
    let Some(recorded) = among_private_mounts(&place, script) else { return };
    assert_eq!(recorded.status, 0, "{recorded:?}");
    let trace = recorded.trace();
    let shown = &trace.files;
    assert_eq!(read(trace, &place.path("merged/a")), Some(200 * PAGE), "{shown:?}");
    // Copied to the upper layer by the write to it, and made again there.
    assert_eq!(read(trace, &place.path("merged/b")), Some(100 * PAGE), "{shown:?}");
    assert_eq!(read(trace, &place.path("merged/c")), Some(10 * PAGE), "{shown:?}");
    let nowhere = shown.iter().filter(|name| {
        ["/a", "/b", "/c", "/"].contains(&name.split(" (").next().unwrap())
            || name.starts_with("unknown")
    });
    assert_eq!(nowhere.count(), 0, "{shown:?}");
}

#[test]
fn every_file_system_has_its_own_readahead() {
    let programs = ["unshare", "mkfs.ext4", "mkfs.xfs", "losetup", "blockdev"];
    let needs = programs.map(Need::Program);
    let Some(_lock) = requires_shared(&[&[Need::Tracepoints], &needs[..]].concat()) else { return };
    let place = Place::new();
    let script = "truncate -s 64M ext4.image && truncate -s 320M xfs.image &&
        mkfs.ext4 -qF -b 4096 ext4.image && mkfs.xfs -q xfs.image && mkdir ext4 xfs memory &&
        mount -o loop ext4.image ext4 && mount -o loop xfs.image xfs &&
        mount -t tmpfs -o size=48m none memory || exit 99
        blockdev --setra 64 $(losetup -nO NAME -j ext4.image) || exit 99
        blockdev --setra 1024 $(losetup -nO NAME -j xfs.image) || exit 99
        for system in ext4 xfs memory; do head -c 4194304 /dev/urandom >$system/file; done
        sync -f ext4; sync -f xfs
        exec \"$0\" record -o t.parquet -- sh -c \
            'cat ext4/file ext4/file xfs/file memory/file >memory/copy'";
    let Some(recorded) = among_private_mounts(&place, script) else { return };
    assert_eq!(recorded.status, 0, "{recorded:?}");
    let trace = recorded.trace();
    for (system, sectors, times) in [("ext4", 64, 2), ("xfs", 1024, 1)] {
        let path = place.path(system).join("file");
        assert_eq!(read(trace, &path), Some(times * 1024 * PAGE), "{system}");
        let facts = &trace.facts;
        let elsewhere = facts.file_devices.iter().find(|(name, _)| path.ends_with(name));
        let device = &facts.devices[elsewhere.map_or(0, |&(_, device)| device as usize)];
        assert_eq!(device.filesystem, system);
        assert_eq!(device.readahead_bytes, sectors * 512, "{device:?}");
    }
    // Files in memory are memory, and no cache of a disc.
    let memory = place.path("memory");
    let in_memory = |name: &&String| name.starts_with(memory.to_str().unwrap());
    assert_eq!(trace.files.iter().filter(in_memory).count(), 0, "{:?}", trace.files);
    assert!(trace.facts.memory.shmem_bytes.0 >= 4 << 20, "{:?}", trace.facts.memory);
}

/// As a container does: the engine that is recorded mounts what the command in it then reads.
#[test]
fn what_the_command_mounts_is_seen_and_not_held_fast() {
    let needs = ["unshare", "mkfs.ext4", "losetup"].map(Need::Program);
    let Some(_lock) = requires_shared(&[&[Need::Tracepoints], &needs[..]].concat()) else { return };
    for capture in ["perf", "calls"] {
        let place = Place::new();
        let commands = "mount -o loop image disc || exit 99
            cat disc/file disc/file >/dev/null; umount disc || exit 98
            mkdir lower upper work merged; cp file lower
            mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work overlay merged || exit 99
            cat merged/file >/dev/null; cat merged/file >/dev/null; umount merged || exit 98";
        fs::write(place.path("commands"), commands).unwrap();
        place.file("file", 50 * 4096);
        let script = format!(
            "truncate -s 32M image && mkfs.ext4 -qF -b 4096 image && mkdir disc &&
            mount -o loop image disc || exit 99
            head -c 409600 /dev/urandom >disc/file; umount disc
            exec \"$0\" record --capture {capture} -o t.parquet -- sh commands"
        );
        let Some(recorded) = among_private_mounts(&place, &script) else { return };
        assert_eq!(recorded.status, 0, "{capture}: {}", recorded.stderr);
        let trace = recorded.trace();
        let pages = |number: usize| {
            let of = trace.records.iter().filter(|record| record.file.0 as usize == number);
            let read = of.filter(|record| record.op == CacheEvent::Read);
            read.map(|record| u64::from(record.length_bytes).div_ceil(PAGE)).sum::<u64>()
        };
        let read: Vec<u64> = (0..trace.files.len()).map(pages).collect();
        // No process may listen to the disc: only system calls show the end of the file there.
        assert!(read.iter().any(|&pages| (200..=256).contains(&pages)), "{read:?} {capture}");
        let shown = &trace.files;
        // Or by the layer's path, or by that in the layer.
        let names = ["merged/file", "lower/file"];
        let merged = |name: &String| names.iter().any(|end| name.ends_with(end)) || name == "/file";
        let found = shown.iter().zip(&read).filter(|(name, _)| merged(name));
        let pages: u64 = found.map(|(_, pages)| pages).sum();
        assert_eq!(pages, 100, "{capture}: {shown:?}");
        let here: Vec<u32> = Mounted::here().backed().iter().map(|mount| mount.device).collect();
        let is_new = |major, minor| major == 7 && !here.contains(&(major << 20 | minor));
        let discs = trace.facts.devices.iter().filter(|disc| is_new(disc.major, disc.minor));
        assert_eq!(discs.count(), 1, "{capture}: {:?}", trace.facts.devices);
    }
}
