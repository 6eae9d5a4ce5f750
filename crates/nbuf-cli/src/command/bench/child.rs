//! The hidden verb of a process that does one test: a task on standard input, a line a sample on standard
//! output.

use std::io::{self, Read, Write};

use anyhow::{Context, Result};
use nbuf::experiment::bench::child;
use nbuf::experiment::result::{BenchLine, BenchTask};

/// What it is called.
pub(crate) const VERB: &str = "bench-child";

/// Do one test of `nbuf bench`, which starts this itself
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run() -> Result<u8> {
    let mut text = Vec::new();
    io::stdin().lock().read_to_end(&mut text).context("no task came")?;
    let task: BenchTask =
        serde_json::from_slice(&text).context("this is no task; ask `nbuf bench` for one")?;
    child::settle(&task).context("cannot be tied to nbuf bench")?;
    let mut out = io::stdout().lock();
    let mut tell = |line: &BenchLine| {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        out.write_all(&text)?;
        out.flush()
    };
    child::run(&task, &mut tell).context("nobody hears")?;
    Ok(0)
}
