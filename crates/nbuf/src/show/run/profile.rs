//! The profile as tables, and as folded stacks.

use nbuf::experiment::result::{RunDocument, RunProfile, RunSegment, RunSegmentKind};
use nbuf::units::grouped;

use super::super::table::{Table, number, text};
use super::super::text::wrap_each;
use super::seconds;

/// Segments and files that have a row.
const ROWS: usize = 20;
/// Functions of a segment that have a row.
const FUNCTIONS: usize = 5;

/// Segments with their functions, then files, in lines of at most `width` columns.
pub(crate) fn profile(ran: &RunDocument, profile: &RunProfile, width: usize) -> String {
    let mut out = segments(profile, FUNCTIONS).draw(width);
    let files = files(profile);
    if !files.is_empty() {
        out.push('\n');
        out.push_str(&files.draw(width));
    }
    out.push('\n');
    let words = [Some(sampled(profile)), waits(ran), unnamed(profile)];
    wrap_each(&mut out, words.into_iter().flatten(), width);
    out
}

/// What ran.
pub(super) fn segments(profile: &RunProfile, functions: usize) -> Table {
    let columns = [
        text("segment"),
        text("kind").rank(2),
        number("CPU"),
        number("%"),
        number("minor faults").rank(1),
        number("major").rank(1),
        number("fills").rank(3),
    ];
    let mut table = Table::new("CPU time by segment", columns);
    let share = |samples: u64| {
        let all = profile.samples.max(1) as f64;
        format!("{:.1}", 100.0 * samples as f64 / all)
    };
    for segment in profile.segments.iter().take(ROWS) {
        table.row([
            segment.name.clone(),
            kind(segment.kind).to_owned(),
            seconds(segment.cpu_seconds),
            share(segment.samples),
            grouped(segment.faults_minor),
            grouped(segment.faults_major),
            segment.fills.map_or_else(String::new, grouped),
        ]);
        for function in segment.functions.iter().take(functions) {
            let mut row = vec![String::new(); 7];
            row[0] = format!("- {}", function.name);
            row[2] = seconds(function.cpu_seconds);
            row[3] = share(function.samples);
            table.row(row);
        }
    }
    table
}

/// Whose pages were touched and filled.
pub(super) fn files(profile: &RunProfile) -> Table {
    Table::of("Page faults by file", profile.files.iter().take(ROWS))
        .column(text("file"), |file| file.name.as_str())
        .column(number("minor faults"), |file| grouped(file.faults_minor))
        .column(number("major"), |file| grouped(file.faults_major))
        .column(number("fills").rank(1), |file| file.fills.map_or_else(String::new, grouped))
        .done()
}

/// How much was seen.
pub(super) fn sampled(profile: &RunProfile) -> String {
    let samples = grouped(profile.samples);
    let each = profile.sample_seconds * 1e3;
    let others = [others(profile.segments.len(), "segments"), others(profile.files.len(), "files")];
    let others: String = others.into_iter().flatten().collect();
    let reach = if profile.has_kernel { "" } else { " Samples in the kernel are missing." };
    format!("{samples} samples, one for each {each:.2} ms that a thread ran.{reach}{others}")
}

fn others(all: usize, of: &str) -> Option<String> {
    (all > ROWS).then(|| format!(" {} more {of} are in the document of --json.", all - ROWS))
}

/// Time off the processor by reason, summed over all threads.
pub(super) fn waits(ran: &RunDocument) -> Option<String> {
    let parts = ran.thread_time?.named();
    let off: Vec<String> = parts
        .into_iter()
        .filter(|&(name, part)| name != "on CPU" && part >= 0.0005)
        .map(|(name, part)| format!("{name} {}", seconds(part)))
        .collect();
    (!off.is_empty()).then(|| format!("Threads off a processor: {}.", off.join(", ")))
}

/// Why functions of files have no names.
pub(super) fn unnamed(profile: &RunProfile) -> Option<String> {
    let reason = |segment: &RunSegment| {
        let reason = segment.unnamed.as_ref()?;
        Some(format!("{} has addresses for names: {reason}.", segment.name))
    };
    let reasons: Vec<String> = profile.segments.iter().filter_map(reason).collect();
    (!reasons.is_empty()).then(|| reasons.join(" "))
}

fn kind(kind: RunSegmentKind) -> &'static str {
    match kind {
        RunSegmentKind::Program => "program",
        RunSegmentKind::Library => "library",
        RunSegmentKind::Kernel => "kernel",
        RunSegmentKind::Anonymous => "no file",
        RunSegmentKind::Unknown => "unknown",
    }
}

/// A line for each stack: its functions with semicolons between them, and the samples.
pub(crate) fn folded(profile: &RunProfile) -> String {
    let line = |stack: &nbuf::experiment::result::RunStack| {
        format!("{} {}\n", stack.frames.join(";"), stack.samples)
    };
    profile.stacks.iter().map(line).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use expect_test::expect;
    use nbuf::experiment::result::{RunFunction, RunParts, RunProfileFile, RunStack};

    use super::*;
    use crate::show::tests::fit;

    pub(crate) fn sample() -> RunProfile {
        let function =
            |name: &str, samples: u64| RunFunction { name: name.into(), samples, cpu_seconds: 0.3 };
        let segment = |name: &str, kind, samples| RunSegment {
            name: name.into(),
            kind,
            samples,
            cpu_seconds: samples as f64 / 1000.0,
            faults_minor: 1234,
            functions: vec![function("main", samples)],
            ..RunSegment::default()
        };
        let stack = |frames: &[&str], samples| RunStack {
            frames: frames.iter().map(|&frame| frame.to_owned()).collect(),
            samples,
        };
        let mut library = segment("/lib/libx.so", RunSegmentKind::Library, 100);
        library.unnamed = Some("its file is gone".into());
        RunProfile {
            sample_seconds: 0.001,
            samples: 400,
            has_kernel: true,
            has_fills: true,
            segments: vec![segment("/bin/a", RunSegmentKind::Program, 300), library],
            files: vec![RunProfileFile {
                name: "/data".into(),
                faults_major: 4,
                fills: Some(64),
                ..RunProfileFile::default()
            }],
            stacks: vec![stack(&["a", "main"], 300), stack(&["a", "main", "<x>"], 100)],
            ..RunProfile::default()
        }
    }

    #[test]
    fn the_tables_say_where_the_time_went() {
        let threads = RunParts { on_cpu_seconds: 0.4, disc_seconds: 0.1, ..RunParts::default() };
        let ran = RunDocument { thread_time: Some(threads), ..RunDocument::default() };
        let all = profile(&ran, &sample(), 100);
        // A line without margin, so that the margin of the others is a part of the text.
        expect![[r#"
            :
              segment       kind        CPU     %  minor faults  major  fills
              /bin/a        program  300 ms  75.0         1,234      0
              - main                 300 ms  75.0
              /lib/libx.so  library  100 ms  25.0         1,234      0
              - main                 300 ms  25.0

              file   minor faults  major  fills
              /data             0      4     64

              400 samples, one for each 1.00 ms that a thread ran.
              Threads off a processor: disc 100 ms.
              /lib/libx.so has addresses for names: its file is gone.
        "#]]
        .assert_eq(&format!(":\n{all}"));
        fit([40, 60, 80], |width| profile(&ran, &sample(), width));
        assert_eq!(folded(&sample()), "a;main 300\na;main;<x> 100\n");
    }
}
