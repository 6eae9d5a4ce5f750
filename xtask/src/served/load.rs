//! Loads of fio, and what it measured.

use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// A load: a name, options of fio, and which numbers count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    pub(super) name: &'static str,
    /// After the options that all have.
    pub(super) options: &'static [&'static str],
    /// Seconds before it counts.
    pub(super) ramp: u32,
    pub(super) seconds: u32,
}

/// What a client of it got.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    /// Operations a second.
    pub(super) rate: f64,
    pub(super) p50_us: f64,
    pub(super) p99_us: f64,
    /// Operations while it counted.
    pub(super) operations: f64,
}

impl Load {
    /// Begins it.
    pub(super) fn begin(&self, uri: &str, size: &str) -> Result<Child> {
        let mut command = Command::new("fio");
        command.args(["--name=x", "--ioengine=nbd", "--time_based", "--output-format=json"]);
        command.arg(format!("--uri={uri}")).arg(format!("--size={size}"));
        command.arg(format!("--ramp_time={}", self.ramp));
        command.arg(format!("--runtime={}", self.seconds)).args(self.options);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        command.spawn().with_context(|| format!("cannot run {command:?}"))
    }

    /// Does it.
    pub(super) fn run(&self, uri: &str, size: &str) -> Result<Measured> {
        measured(self.begin(uri, size)?)
    }
}

/// What a load got, when it has ended.
pub(super) fn measured(child: Child) -> Result<Measured> {
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "fio failed: {}", String::from_utf8_lossy(&output.stdout));
    // Notes of fio may stand before the document.
    let text = String::from_utf8_lossy(&output.stdout);
    let json = text.find('{').map_or("", |start| &text[start..]);
    read(&serde_json::from_str(json)?).context("a number is missing in fio's document")
}

fn read(document: &Value) -> Option<Measured> {
    let job = document["jobs"].get(0)?;
    let way = ["read", "write"]
        .into_iter()
        .map(|way| &job[way])
        .find(|way| way["total_ios"].as_u64().is_some_and(|count| count > 0))?;
    let percentile = |name: &str| Some(way["clat_ns"]["percentile"][name].as_f64()? / 1e3);
    Some(Measured {
        rate: way["iops"].as_f64()?,
        p50_us: percentile("50.000000")?,
        p99_us: percentile("99.000000")?,
        operations: way["total_ios"].as_f64()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_that_was_used_counts() {
        let way = |ios: u64| {
            serde_json::json!({
                "total_ios": ios, "iops": 50.0,
                "clat_ns": {"percentile": {"50.000000": 2000, "99.000000": 9000}},
            })
        };
        let document = serde_json::json!({"jobs": [{"read": way(0), "write": way(100)}]});
        let measured = read(&document).unwrap();
        assert_eq!((measured.operations, measured.p50_us, measured.p99_us), (100.0, 2.0, 9.0));
        assert!(read(&serde_json::json!({"jobs": [{"read": way(0), "write": way(0)}]})).is_none());
    }
}
