//! A server, for people: where it is, what it has done, what it could not do.

mod costs;
pub(crate) mod live;
pub(crate) mod metrics;

use std::fmt::Write as _;

use nbuf::experiment::result::ServeDocument;
use nbuf::experiment::serve::{Address, ExportSpec, Serving, Spec};
use nbuf::units::Bytes;

use super::text::clean;

/// Where a server is, and what to type next.
pub(crate) fn serving(spec: &Spec, serving: &Serving) -> String {
    let mut text = String::new();
    for (export, &size_bytes) in spec.exports.iter().zip(&serving.sizes_bytes) {
        let of = format!(" of {}", Bytes(size_bytes));
        let _ = writeln!(text, "serving {}", through(export, &of));
    }
    let is_alone = spec.exports.len() == 1;
    for address in &serving.addresses {
        let _ = writeln!(text, "\n  {address}");
        for (export, size_bytes) in spec.exports.iter().zip(&serving.sizes_bytes) {
            let name = if is_alone && export.is_default { "" } else { export.name.as_str() };
            text.push_str(&lines(address, name, *size_bytes));
        }
    }
    let control = serving.control.display();
    let _ = writeln!(text, "  to see what it does:        nbuf serve stats {control}");
    text
}

/// How a client uses an export at an address.
fn lines(address: &Address, name: &str, size_bytes: u64) -> String {
    let option = if name.is_empty() { String::new() } else { format!(" -name {name}") };
    let (device, uri) = match address {
        Address::Unix(path) => {
            let path = path.display();
            let uri = format!("nbd+unix:///{name}?socket={path}");
            (format!("nbd-client -unix {path}{option} /dev/nbd0"), uri)
        }
        Address::Tcp(address) => {
            let path = if name.is_empty() { String::new() } else { format!("/{name}") };
            let (ip, port) = (address.ip(), address.port());
            (format!("nbd-client {ip} {port}{option} /dev/nbd0"), format!("nbd://{address}{path}"))
        }
    };
    format!(
        "  to have a device, as root:  {device}\n  to measure it:              fio --name=nbuf --ioengine=nbd --uri='{uri}' --rw=randread --bs=4k --iodepth=32 --size={size_bytes}\n"
    )
}

/// A disc and its cache.
fn through(export: &ExportSpec, of: &str) -> String {
    let ExportSpec { name, disc, size, policy, writes, is_default, .. } = export;
    let name = if *is_default { String::new() } else { format!("{} is ", clean(name)) };
    format!("{name}{disc}{of} through a cache of {size}: {policy}, write {writes}")
}

/// What a server would do.
pub(crate) fn checked(spec: &Spec, discs_bytes: &[Option<u64>]) -> String {
    let of = |bytes: &Option<u64>| bytes.map_or_else(String::new, |n| format!(" of {}", Bytes(n)));
    let discs = spec.exports.iter().zip(discs_bytes);
    let all: Vec<String> = discs.map(|(export, bytes)| through(export, &of(bytes))).collect();
    format!("right: would serve {}\n", all.join("; "))
}

/// What a server has done, and each of its exports.
pub(crate) fn summary(document: &ServeDocument) -> String {
    let mut text = one(document);
    for export in &document.exports {
        let _ = writeln!(text, "\nexport    {}, {}", clean(&export.name), clean(&export.disc));
        text.push_str(&one(export));
    }
    text
}

/// What a server or an export has done.
fn one(document: &ServeDocument) -> String {
    let d = document;
    let bytes = |bytes: u64| Bytes(bytes).to_string();
    let ratio = d.hit_ratio.map_or_else(|| "-".to_owned(), |hit| format!("{:.1} %", hit * 100.0));
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<10}{value}");
    };
    line(
        "cache",
        format!(
            "{} of {} used, {} dirty",
            bytes(d.used_bytes),
            bytes(d.cache_bytes),
            bytes(d.owed_bytes)
        ),
    );
    line("reads", format!("{} of {}, hit ratio {ratio}", d.reads, bytes(d.read_bytes)));
    let m = &d.misses;
    line(
        "misses",
        format!(
            "{} never seen, {} evicted ({} of them would hit at twice the size), {} invalidated, {} bypassed, {} written around",
            m.never_seen,
            m.evicted,
            m.evicted_would_hit_at_twice,
            m.invalidated,
            m.bypassed,
            m.written
        ),
    );
    for other in &d.other_sizes {
        let [best, low, high] =
            [other.hit_ratio, other.hit_ratio_low, other.hit_ratio_high].map(|hit| hit * 100.0);
        let (size, policy) = (bytes(other.cache_bytes), &other.policy);
        let band = if low < high { format!(" ({low:.1} to {high:.1})") } else { String::new() };
        line("would be", format!("hit ratio {best:.1} %{band} with {size} and {policy}"));
    }
    line(
        "writes",
        format!("{} of {}, {} waited for room", d.writes, bytes(d.write_bytes), d.writes_throttled),
    );
    line("flushes", format!("{}, {} of the disc", d.flushes, d.disc_flushes));
    line(
        "disc",
        format!(
            "{} reads of {}, {} writes of {}, {} errors",
            d.disc_reads,
            bytes(d.disc_read_bytes),
            d.disc_writes,
            bytes(d.disc_write_bytes),
            d.disc_errors
        ),
    );
    for (name, text) in costs::lines(&d.costs) {
        line(name, text);
    }
    line("clients", format!("{} of {} since the start", d.clients, d.clients_ever));
    text
}

/// Why the server did not end well.
pub(crate) fn lost(document: &ServeDocument) -> String {
    let why = document.error.as_deref().unwrap_or("ended by a second signal");
    let owed = document.owed_bytes;
    if owed == 0 {
        return format!("bytes that were acknowledged may be missing on the disc ({why})");
    }
    format!("{owed} bytes were acknowledged and are not on the disc ({why})")
}
