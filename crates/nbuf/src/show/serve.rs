//! A server, for people: where it is, what it has done, what it could not do.

mod costs;
pub(crate) mod live;
pub(crate) mod metrics;
pub(crate) mod need;

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;

use nbuf::experiment::result::{
    ServeBypass, ServeDocument, ServeMisses, ServeReadahead, ServeTier,
};
use nbuf::experiment::serve::{Address, ExportSpec, Serving, Spec, TlsSpec};
use nbuf::units::{Bytes, count};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode, utf8_percent_encode};

use super::text::{clean, wrap_behind};
use crate::shell;

/// What a URI has as `%XX`: all but what RFC 3986 reserves for nothing, and slashes.
const IN_URI: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// Where a server is, and what to type next.
pub(crate) fn serving(spec: &Spec, serving: &Serving) -> String {
    let mut text = String::new();
    for (export, &size_bytes) in spec.exports.iter().zip(&serving.sizes_bytes) {
        let of = format!(" of {}", Bytes(size_bytes));
        let _ = writeln!(text, "serving {}", through(export, &of));
    }
    let is_alone = spec.exports.len() == 1;
    for address in &serving.addresses {
        let tls = spec.tls.as_ref().filter(|tls| tls.at_unix || matches!(address, Address::Tcp(_)));
        let _ = writeln!(text, "\n  {}", shown(address, tls.is_some(), is_alone));
        for (export, size_bytes) in spec.exports.iter().zip(&serving.sizes_bytes) {
            let name = if is_alone && export.is_default { "" } else { export.name.as_str() };
            text.push_str(&lines(address, name, *size_bytes, tls));
        }
    }
    let control = shell::quoted(serving.control.as_os_str());
    let _ = writeln!(text, "  to see what it does:        nbuf serve stats {control}");
    text
}

/// An address as clients write it.
fn shown(address: &Address, has_tls: bool, is_alone: bool) -> String {
    let sign = if has_tls { "nbds" } else { "nbd" };
    match address {
        // The empty name leads to none of several.
        Address::Unix(path) if !is_alone => path.display().to_string(),
        Address::Tcp(address) if !is_alone => address.to_string(),
        Address::Unix(path) => {
            let path = percent_encode(path.as_os_str().as_bytes(), IN_URI);
            format!("{sign}+unix:///?socket={path}")
        }
        Address::Tcp(address) => format!("{sign}://{address}"),
    }
}

/// How a client uses an export at an address. With TLS a client has files of its own.
fn lines(address: &Address, name: &str, size_bytes: u64, tls: Option<&TlsSpec>) -> String {
    let quoted = |word: &str| shell::quoted(OsStr::new(word));
    let option = if name.is_empty() { String::new() } else { format!(" -name {}", quoted(name)) };
    let files = match tls {
        None => "",
        Some(TlsSpec { authorities: None, .. }) => " -cacertfile ca-cert.pem",
        Some(_) => " -cacertfile ca-cert.pem -certfile client-cert.pem -keyfile client-key.pem",
    };
    let folder = |sign: &str| match tls {
        None => String::new(),
        Some(_) => format!("{sign}tls-certificates=DIRECTORY"),
    };
    let name = utf8_percent_encode(name, IN_URI).to_string();
    let (device, uri) = match address {
        Address::Unix(path) => {
            let socket = percent_encode(path.as_os_str().as_bytes(), IN_URI);
            let uri = format!("nbd+unix:///{name}?socket={socket}{}", folder("&"));
            (format!("-unix {}", shell::quoted(path.as_os_str())), uri)
        }
        Address::Tcp(address) => {
            let slash = if name.is_empty() && tls.is_none() { "" } else { "/" };
            let (ip, port) = (address.ip(), address.port());
            (format!("{ip} {port}"), format!("nbd://{address}{slash}{name}{}", folder("?")))
        }
    };
    let uri = if tls.is_some() { uri.replacen("nbd", "nbds", 1) } else { uri };
    format!(
        "  to have a device, as root:  nbd-client {device}{option}{files} /dev/nbd0\n  to measure it:              fio --name=nbuf --ioengine=nbd --uri='{uri}' --rw=randread --bs=4k --iodepth=32 --size={size_bytes}\n"
    )
}

/// A disc, its cache, and the tier between them.
fn through(export: &ExportSpec, of: &str) -> String {
    let ExportSpec { name, disc, size, policy, writes, is_default, .. } = export;
    let name = if *is_default { String::new() } else { format!("{} is ", clean(name)) };
    let behind = export.tier.as_ref().map_or_else(String::new, |tier| {
        let kind = if tier.durable { "a durable tier" } else { "a tier" };
        format!(", and {kind} of {} at {}", tier.size, tier.path.display())
    });
    format!("{name}{disc}{of} through a cache of {size}: {policy}, write {writes}{behind}")
}

/// What a server would do.
pub(crate) fn checked(spec: &Spec, discs_bytes: &[Option<u64>]) -> String {
    let of = |bytes: &Option<u64>| bytes.map_or_else(String::new, |n| format!(" of {}", Bytes(n)));
    let discs = spec.exports.iter().zip(discs_bytes);
    let all: Vec<String> = discs.map(|(export, bytes)| through(export, &of(bytes))).collect();
    format!("right: would serve {}\n", all.join("; "))
}

/// What a server has done, and each of its exports.
pub(crate) fn summary(document: &ServeDocument, width: usize) -> String {
    let mut text = one(document, width);
    for export in &document.exports {
        text.push('\n');
        let name = format!("{}, {}", clean(&export.name), clean(&export.disc));
        line(&mut text, "export", &name, width);
        text.push_str(&one(export, width));
    }
    text
}

/// A name, and what is said of it next to the name.
fn line(text: &mut String, name: &str, value: &str, width: usize) {
    wrap_behind(text, value, width, [&format!("{name:<9}"), &" ".repeat(9)]);
}

/// What a server or an export has done.
fn one(document: &ServeDocument, width: usize) -> String {
    let d = document;
    let ratio = d.hit_ratio.map_or_else(|| "-".to_owned(), |hit| format!("{:.1} %", hit * 100.0));
    let mut text = String::new();
    let mut line = |name: &str, value: String| line(&mut text, name, &value, width);
    let [used, all, owed] = [d.used_bytes, d.cache_bytes, d.owed_bytes].map(Bytes);
    line("cache", format!("{used} of {all} used, {owed} dirty"));
    let [read, written] = [d.read_bytes, d.write_bytes].map(Bytes);
    line("reads", format!("{} of {read}, hit ratio {ratio}", d.reads));
    let ServeMisses { never_seen, evicted, invalidated, bypassed, .. } = d.misses;
    let (twice, around) = (d.misses.evicted_would_hit_at_twice, d.misses.written);
    let misses = format!(
        "{never_seen} never seen, {evicted} evicted ({twice} of them would hit at twice the size), {invalidated} invalidated, {bypassed} bypassed, {around} written around"
    );
    line("misses", misses);
    for other in &d.other_sizes {
        let [best, low, high] =
            [other.hit_ratio, other.hit_ratio_low, other.hit_ratio_high].map(|hit| hit * 100.0);
        let (size, policy) = (Bytes(other.cache_bytes), &other.policy);
        let band = if low < high { format!(" ({low:.1} to {high:.1})") } else { String::new() };
        line("would be", format!("hit ratio {best:.1} %{band} with {size} and {policy}"));
    }
    let waits = d.writes_throttled;
    line("writes", format!("{} of {written}, {waits} waited for room", d.writes));
    line("flushes", format!("{}, {} of the disc", d.flushes, d.disc_flushes));
    let [read, written] = [d.disc_read_bytes, d.disc_write_bytes].map(Bytes);
    let (reads, writes, errors) = (d.disc_reads, d.disc_writes, d.disc_errors);
    line("disc", format!("{reads} reads of {read}, {writes} writes of {written}, {errors} errors"));
    if let Some(t) = &d.tier {
        line("tier", tier(t));
    }
    let b = &d.bypass;
    if b.mode == "auto" || b.reads > 0 {
        line("bypass", bypass(b));
    }
    let r = &d.readahead;
    if r.most_bytes > 0 || r.pages > 0 {
        line("ahead", ahead(r));
    }
    for (name, text) in costs::lines(&d.costs) {
        line(name, text);
    }
    line("clients", format!("{} of {} since the start", d.clients, d.clients_ever));
    text
}

/// What the second tier did.
fn tier(t: &ServeTier) -> String {
    let room = format!("{} of {} used", Bytes(t.used_bytes), Bytes(t.size_bytes));
    let state = t.lost.as_ref().map_or(room, |why| format!("not used any more ({})", clean(why)));
    let errors = count(t.errors, "error", "errors");
    let overdue =
        if t.overdue > 0 { format!(", {} not answered", t.overdue) } else { String::new() };
    let (behind, filled) = (Bytes(t.disc_read_bytes), Bytes(t.fill_bytes));
    let hits = format!("{} of {} reads hit", t.read_hits, t.reads);
    format!("{state}, {hits}, {behind} read behind it, {filled} filled, {errors}{overdue}")
}

/// Whether the cache is aside, and what went past it.
fn bypass(b: &ServeBypass) -> String {
    let now = if b.is_aside { "aside now" } else { "not aside now" };
    let times = count(b.changes, "change", "changes");
    format!("{now}, {times}, {} reads of {} went past the cache", b.reads, Bytes(b.read_bytes))
}

/// What was read ahead.
fn ahead(r: &ServeReadahead) -> String {
    format!("{} pages in {} reads, {} used, {} useless", r.pages, r.requests, r.used, r.useless)
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

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use console::measure_text_width as width_of;

    use super::*;

    #[test]
    fn what_a_server_has_done_fits_any_terminal() {
        let export = |name: &str| ServeDocument {
            name: name.to_owned(),
            disc: "file:/somewhere/a/disc.img".to_owned(),
            hit_ratio: Some(0.5),
            tier: Some(ServeTier { lost: Some("a reason".to_owned()), ..ServeTier::default() }),
            ..ServeDocument::default()
        };
        let exports = vec![export("one"), export("another-one")];
        let document = ServeDocument { exports, ..export("") };
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let wide = summary(&document, 1000);
        for width in [20, 40, 80, 120] {
            let text = summary(&document, width);
            assert!(text.lines().all(|line| width_of(line) <= width), "{text}");
            if width >= 40 {
                assert_eq!(words(&text), words(&wide), "{width}");
            }
        }
    }

    #[test]
    fn names_with_other_characters_are_written_as_each_reader_wants_them() {
        let unix =
            lines(&Address::Unix(PathBuf::from("/tmp/a b?/ü'.sock")), "my disc#1", 4096, None);
        let quoted = r"nbd-client -unix '/tmp/a b?/ü'\''.sock' -name 'my disc#1' /dev/nbd0";
        assert!(unix.contains(quoted), "{unix}");
        let uri = "--uri='nbd+unix:///my%20disc%231?socket=/tmp/a%20b%3F/%C3%BC%27.sock'";
        assert!(unix.contains(uri), "{unix}");
        let tcp = lines(&Address::Tcp("[::1]:10809".parse().unwrap()), "a/b", 4096, None);
        assert!(tcp.contains("nbd-client ::1 10809 -name a/b /dev/nbd0"), "{tcp}");
        assert!(tcp.contains("--uri='nbd://[::1]:10809/a/b'"), "{tcp}");
    }
}
