//! A server, for people: where it is, what it has done, what it could not do.

mod costs;
pub(crate) mod live;
pub(crate) mod metrics;

use std::fmt::Write as _;

use nbuf::experiment::result::ServeDocument;
use nbuf::experiment::serve::{Address, Serving, Spec};
use nbuf::units::Bytes;

/// Where a server is, and what to type next.
pub(crate) fn serving(spec: &Spec, serving: &Serving) -> String {
    let (disc, cache) = (Bytes(serving.size_bytes), spec.size);
    let (policy, writes) = (spec.policy, spec.writes);
    let mut text = format!(
        "serving {} of {disc} through a cache of {cache}: {policy}, write {writes}\n",
        spec.disc
    );
    for address in &serving.addresses {
        let _ = writeln!(text, "\n  {address}");
        let device = match address {
            Address::Unix(path) => format!("nbd-client -unix {} /dev/nbd0", path.display()),
            Address::Tcp(address) => {
                format!("nbd-client {} {} /dev/nbd0", address.ip(), address.port())
            }
        };
        let _ = writeln!(text, "  to have a device, as root:  {device}");
        let _ = writeln!(
            text,
            "  to measure it:              fio --name=nbuf --ioengine=nbd --uri='{address}' --rw=randread --bs=4k --iodepth=32 --size={}",
            serving.size_bytes
        );
    }
    let control = serving.control.display();
    let _ = writeln!(text, "  to see what it does:        nbuf serve stats {control}");
    text
}

/// What a server would do.
pub(crate) fn checked(spec: &Spec, disc_bytes: Option<u64>) -> String {
    let of = disc_bytes.map_or_else(String::new, |bytes| format!(" of {}", Bytes(bytes)));
    let Spec { disc, size, policy, writes, .. } = spec;
    format!("right: would serve {disc}{of} through a cache of {size}: {policy}, write {writes}\n")
}

/// What a server has done.
pub(crate) fn summary(document: &ServeDocument) -> String {
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
