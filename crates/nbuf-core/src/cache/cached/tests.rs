//! A running cache against its simulation, against a plain array of bytes, and against power cuts and
//! errors. `cargo xtask faults` runs the same with a hundred times the cases.

mod ahead;
mod aside;
mod bytes;
mod cuts;
mod errors;
mod history;
mod others;
mod rules;
mod same;
mod scripted;
mod tiered;
mod warm;
mod work;

/// How many times the usual number of cases are run: `NBUF_FAULTS`, or 1.
fn scale() -> u64 {
    std::env::var("NBUF_FAULTS").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// The seed of all cases: `NBUF_FAULTS_SEED`, or one that stays.
fn seed() -> u64 {
    std::env::var("NBUF_FAULTS_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(20_261_124)
}

/// Says what a large run has done.
#[expect(clippy::print_stdout, reason = "`cargo xtask faults` shows it")]
fn report(what: &str, count: u64) {
    if std::env::var_os("NBUF_FAULTS").is_some() {
        println!("faults: {count} {what}, seed {}", seed());
    }
}
