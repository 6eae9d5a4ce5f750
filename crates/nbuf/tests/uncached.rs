//! What goes without the page cache of files, `O_DIRECT` and tmpfs, is named in every face.

#[expect(dead_code, reason = "each test file uses a part of it")]
mod support;

use std::fs;
use std::process::Command;

use nbuf::trace::{Detour, Uncached};
use nbuf::units::Bytes;
use support::{NBUF, Need, Place, Recorded, requires_shared, skip};

/// Nothing of a report wraps at this width.
const WIDE: &str = "400";

#[test]
fn calls_past_the_page_cache_are_named_with_what_they_moved() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints]) else { return };
    let place = Place::new();
    let (past, made) = (place.file("past", 64 * 4096), place.path("made"));
    let script = "dd if=past of=/dev/null bs=64k iflag=direct status=none &&
        dd if=/dev/zero of=made bs=8k count=3 oflag=direct status=none; cat past >/dev/null";
    let recorded = place.record(script);
    if recorded.stderr.contains("dd: ") {
        skip(&format!("no O_DIRECT here: {}", recorded.stderr));
        return;
    }
    let of = |file: &std::path::Path, calls, kib: u64| Uncached {
        file: file.to_str().unwrap().into(),
        detour: Detour::Direct,
        calls,
        bytes: Bytes(kib << 10),
    };
    // Four reads of 64 KiB and one that finds the end.
    assert_eq!(recorded.trace().facts.uncached, [of(&made, 3, 24), of(&past, 5, 256)]);
    let told = format!(
        "256 KiB in 5 calls of {} went past the page cache (O_DIRECT): no size of the cache \
         changes that",
        past.display()
    );
    assert!(recorded.stderr.contains(&format!("nbuf: warning: {told}\n")), "{recorded:?}");

    let size = |options: &[&str]| {
        let mut nbuf = place.nbuf(["size", "--no-verify"]);
        // The report is on standard error.
        let output = nbuf.args(options).args(["--", "sh", "-c", script]).env("COLUMNS", WIDE);
        Recorded::of(output.output().unwrap(), &place.path("none"))
    };
    let sized = size(&["--html", "page.html"]);
    // A report is no wider than this, and the name is long.
    let shown = sized.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains(&format!("Warning: {told}.")), "{sized:?}");
    let page = fs::read_to_string(place.path("page.html")).unwrap();
    assert!(page.contains(&format!("<li>{told}.</li>")), "{page}");
    let document = size(&["--json"]).json();
    let warnings = document["warnings"].as_array().unwrap();
    assert!(warnings.iter().any(|warning| warning == told.as_str()), "{warnings:?}");
}

#[test]
fn files_in_memory_are_named_where_the_command_opened_them() {
    let Some(_lock) = requires_shared(&[Need::Tracepoints, Need::Program("unshare")]) else {
        return;
    };
    let place = Place::new();
    place.file("disc", 4096);
    // The mount is private to `unshare` and goes with it. Others read there all the while.
    let script = "mkdir memory && mount -t tmpfs -o size=16m none memory || exit 99
        head -c 1048576 /dev/zero >memory/own; head -c 4096 /dev/zero >memory/others
        head -c 4096 /dev/zero >memory/inherited
        (while [ -e memory/others ]; do cat memory/others; done >/dev/null 2>&1) &
        \"$0\" record -o t.parquet -- sh -c \
            'cat memory/own; head -c 65536 /dev/zero >memory/made; sleep 0.2' \
            <memory/inherited >/dev/null
        rm memory/others; wait";
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-c", script, NBUF]);
    let output = command.current_dir(place.path("")).output().unwrap();
    if output.status.code() == Some(99) {
        skip("tmpfs cannot be mounted");
        return;
    }
    let recorded = Recorded::of(output, &place.path("t.parquet"));
    let uncached = &recorded.trace().facts.uncached;
    let memory = place.path("memory");
    let shown: Vec<_> = uncached
        .iter()
        .filter(|of| of.file.starts_with(memory.to_str().unwrap()))
        .map(|of| (of.file.rsplit('/').next().unwrap(), of.detour, of.bytes.0))
        .collect();
    let want = [("inherited", 4096), ("made", 65_536), ("own", 1 << 20)];
    assert_eq!(shown, want.map(|(name, bytes)| (name, Detour::Memory, bytes)), "{uncached:?}");
    let told = format!(
        "nbuf: warning: {}/own (1.00 MiB) is on tmpfs: counted as memory, not as cache\n",
        memory.display()
    );
    assert!(recorded.stderr.contains(&told), "{recorded:?}");
}
