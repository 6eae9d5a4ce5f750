//! The hidden verb of a process that does one test.

use std::io;

use anyhow::{Context, Result};
use nbuf::experiment::bench;

/// Do one test of `nbuf bench`, which starts this itself
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run() -> Result<u8> {
    bench::serve(io::stdin().lock(), io::stdout().lock())
        .context("this is no task; ask `nbuf bench` for one")?;
    Ok(0)
}
