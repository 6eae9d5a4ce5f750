//! Power cuts, errors and kills in large numbers: the tests of the cache that runs, with more cases.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::Context;

/// Runs the tests `times` as long, with this seed or the seed of the tests. They print what they counted; the
/// time of all is printed at the end.
#[expect(clippy::disallowed_methods, reason = "the time is shown, nothing depends on it")]
pub fn run(repository: &Path, times: u64, seed: Option<u64>) -> anyhow::Result<ExitCode> {
    let cargo = |arguments: &[&str]| {
        let mut command = Command::new("cargo");
        command.current_dir(repository).args(["test", "--release"]).args(arguments);
        command.env("NBUF_FAULTS", times.to_string());
        command.env("NBUF_KILLS", (10 * times).to_string());
        if let Some(seed) = seed {
            command.env("NBUF_FAULTS_SEED", seed.to_string());
        }
        command.status().context("cannot run cargo test")
    };
    // Only the tests are timed: an optimised build takes longer than a small run.
    let built = cargo(&["-p", "nbuf-core", "--lib", "--no-run"])?;
    let built_server = cargo(&["-p", "nbuf", "--test", "serve", "--no-run"])?;
    anyhow::ensure!(built.success() && built_server.success(), "the tests cannot be built");
    let begun = Instant::now();
    let tests = |of: &str| cargo(&["-p", "nbuf-core", "--lib", of, "--", "--nocapture"]);
    let (cached, journaled) = (tests("cache::cached")?, tests("cache::journaled")?);
    let kill = "a_killed_server_has_lost_nothing_that_was_flushed";
    let killed = cargo(&["-p", "nbuf", "--test", "serve", kill])?;
    let seconds = begun.elapsed().as_secs();
    let is_good = cached.success() && journaled.success() && killed.success();
    anyhow::ensure!(is_good, "a test failed, after {seconds} s");
    writeln!(io::stdout(), "faults: {} kills of a server; all in {seconds} s", 10 * times)?;
    Ok(ExitCode::SUCCESS)
}
