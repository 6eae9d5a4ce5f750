//! One `check`: calls in a line-by-line notation, the writes they come to.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

const DEVICE: u32 = 1 << 20;

/// `task step number [number]`, a line each; `fdinfo` says what every descriptor is at the end.
fn check(fdinfo: &str, log: &str, want: &Expect) {
    let mut batch = Vec::new();
    for (time_ns, line) in (1..).zip(log.lines().filter(|line| !line.trim().is_empty())) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let value = |at: usize| words.get(at).map(|word| word.parse::<i64>().unwrap());
        let first = value(2).unwrap();
        let (task, file) = (words[0].parse().unwrap(), u32::try_from(first).unwrap_or(0));
        let step = match words[1] {
            "write" => Step::Write { file, position: value(3).map(i64::unsigned_abs) },
            "seek" => Step::Seek { file },
            "open" => Step::Opened { file },
            "close" => Step::Gone { first: file, last: file },
            "add" => {
                let index = first.unsigned_abs();
                let (kind, device) = (Kind::Add, DEVICE);
                let event = Event { time_ns, task, kind, device, inode: 8, index, extent: 0 };
                batch.push(Sample::Event(event));
                continue;
            }
            _ => Step::Returned(first),
        };
        batch.push(Sample::Call(Call { time_ns, process: 1, task, step }));
    }
    let mut writes = Writes::new([(30, DEVICE)]);
    let mut shown = Vec::new();
    for at in 0..batch.len() {
        if let Some(event) = writes.take(&batch, at, &mut |_, _| FdInfo::parse(fdinfo)) {
            shown.push(format!("inode {}: {}+{}", event.inode, event.index, event.extent));
        }
    }
    shown.push(format!("unplaced {}", writes.unplaced()));
    want.assert_eq(&shown.join("\n"));
}

#[test]
fn a_file_opened_before_our_eyes_starts_at_its_beginning() {
    let log = "
        5 open 3
        5 write 3
        5 end 100
        5 write 3
        5 end -28
        5 write 3
        5 end 50
        5 seek 3
        5 end 4096
        5 write 3
        5 end 10
        5 write 3 9000
        5 end 7
        5 write 3
        5 end 1";
    let fdinfo = "pos:\t4107\nflags:\t0100001\nmnt_id:\t30\nino:\t7\n";
    check(
        fdinfo,
        log,
        &expect![[r#"
            inode 7: 0+100
            inode 7: 100+50
            inode 7: 4096+10
            inode 7: 9000+7
            inode 7: 4106+1
            unplaced 0"#]],
    );
}

#[test]
fn an_inherited_descriptor_is_counted_back_from_where_it_stands_now() {
    let log = "
        5 write 1
        6 write 2 0
        5 end 100
        5 write 1
        5 end 50
        6 end 9";
    let fdinfo = "pos:\t1150\nflags:\t0102001\nmnt_id:\t30\nino:\t7\n";
    check(
        fdinfo,
        log,
        &expect![[r#"
            inode 7: 1000+100
            inode 7: 1100+50
            inode 7: 1150+9
            unplaced 0"#]],
    );
}

#[test]
fn a_reused_number_is_not_taken_for_the_file_it_was_before() {
    let log = "
        5 write 3
        5 end 100
        5 close 3
        5 open 3
        5 write 3
        5 end 50";
    let fdinfo = "pos:\t50\nflags:\t0100001\nmnt_id:\t30\nino:\t7\n";
    check(fdinfo, log, &expect![["inode 7: 0+50\nunplaced 1"]]);
}

#[test]
fn a_process_that_is_gone_is_known_by_the_pages_it_made() {
    let log = "
        5 write 3
        5 add 2
        5 add 3
        5 end 8192
        5 write 3
        5 end 10
        6 write 4
        6 end 10";
    check(
        "",
        log,
        &expect![[r#"
            inode 8: 8192+8192
            inode 8: 16384+10
            unplaced 1"#]],
    );
}

#[test]
fn direct_writes_and_other_mounts_are_not_ours() {
    let log = "5 write 3\n5 end 4096";
    for fdinfo in [
        "pos:\t4096\nflags:\t0140001\nmnt_id:\t30\nino:\t7\n",
        "pos:\t4096\nflags:\t0100001\nmnt_id:\t31\nino:\t7\n",
    ] {
        check(fdinfo, log, &expect![["unplaced 0"]]);
    }
}

proptest! {
    #[test]
    fn any_order_of_calls_is_survived(calls: Vec<(u8, u32, i64)>, text: String) {
        let batch: Vec<Sample> = calls
            .iter()
            .map(|&(kind, file, value)| {
                let step = match kind % 5 {
                    0 => Step::Write { file, position: u64::try_from(value).ok() },
                    1 => Step::Seek { file },
                    2 => Step::Opened { file },
                    3 => Step::Gone { first: file, last: u32::MAX },
                    _ => Step::Returned(value),
                };
                Sample::Call(Call { time_ns: 0, process: 1, task: 1, step })
            })
            .collect();
        let mut writes = Writes::new([(30, DEVICE)]);
        let info = FdInfo::parse(&text).or(Some(FdInfo { mount: 30, ..FdInfo::default() }));
        for at in 0..batch.len() {
            writes.take(&batch, at, &mut |_, _| info);
        }
    }
}
