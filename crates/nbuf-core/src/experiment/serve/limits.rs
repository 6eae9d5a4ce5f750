//! What a server needs of the machine, before it opens anything: memory, and descriptors for clients.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::{BackendSpec, Error, ExportSpec, Spec};
use crate::disc::object::CHUNKS_BYTES;
use crate::experiment::notice::{Notice, ServeNotice};
use crate::experiment::session::Observer;
use crate::units::Bytes;

/// Descriptors for all except clients of discs: files, listening sockets, clients of the control socket.
const OTHERS: usize = 128;
/// What a page takes in addition to its bytes, with the policy and the numbers of pages.
const PAGE_TABLE_BYTES: u64 = 128;
/// The buffer of a call of a disc without the page cache.
const CALL_BYTES: u64 = 128 << 10;

/// Refuses caches, tables, journals and buffers that need more memory than there is.
pub(super) fn fit(spec: &Spec, available: Bytes) -> Result<(), Error> {
    let needs = spec.exports.iter().map(|export| memory_bytes(export, spec.threads));
    let wanted = Bytes(needs.fold(0, u64::saturating_add));
    if wanted > available { Err(Error::NoMemory { wanted, available }) } else { Ok(()) }
}

/// Memory of an export that does not depend on its clients.
fn memory_bytes(export: &ExportSpec, threads: usize) -> u64 {
    let pages = export.size.0 / u64::from(export.page_bytes.max(1));
    let cache = export.size.0.saturating_add(pages.saturating_mul(PAGE_TABLE_BYTES));
    let tier = export.tier.as_ref().map_or(0, |tier| tier.memory_bytes(export.page_bytes));
    let buffers = match export.disc {
        BackendSpec::Direct(_) => CALL_BYTES.saturating_mul(threads as u64),
        // A chunk that is written while it is sent is there twice.
        BackendSpec::Chunks(_) if !export.is_read_only => 2 * CHUNKS_BYTES,
        _ => 0,
    };
    cache.saturating_add(tier).saturating_add(buffers)
}

/// Raises the limit on open files as far as this many clients need. How many are possible; the observer is notified
/// if they are fewer.
pub(super) fn clients(wanted: usize, observer: &dyn Observer) -> usize {
    let limit = getrlimit(Resource::Nofile);
    let needed = (wanted + OTHERS) as u64;
    let most = limit.maximum.unwrap_or(u64::MAX);
    let current = limit.current.unwrap_or(u64::MAX);
    let raised = current.max(needed.min(most));
    if raised > current {
        let raised = Rlimit { current: Some(raised), maximum: limit.maximum };
        let _ = setrlimit(Resource::Nofile, raised);
    }
    let now = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let now = usize::try_from(now).unwrap_or(usize::MAX);
    let possible = wanted.min(now.saturating_sub(OTHERS)).max(1);
    if possible < wanted {
        let few = ServeNotice::FewClients { wanted, possible };
        observer.notice(&Notice::Serve(few));
    }
    possible
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::serve::Config;

    /// Whether settings fit into this many MiB, and what they need.
    fn fits(text: &str, mebibytes: u64) -> Result<(), String> {
        let spec = Config::parse(text).unwrap().spec().unwrap();
        fit(&spec, Bytes(mebibytes << 20)).map_err(|error| error.to_string())
    }

    #[test]
    fn all_that_is_kept_counts_as_memory() {
        let cache = "disc = 'file:a'\nsize = '64MiB'\n";
        for (more, mebibytes) in [
            // Each page has 128 bytes of tables.
            ("", 66),
            ("page = 512\n", 80),
            ("page = 32768\nthreads = 256\n", 65),
            // A block of a tier has 64 KiB and 500 bytes of tables; what a journal owes is in memory too.
            ("tier = 't'\ntier-size = '1GiB'\n", 74),
            ("tier = 't'\ntier-size = '1GiB'\ndurable-tier = true\n", 330),
        ] {
            let text = format!("{cache}{more}");
            assert_eq!(fits(&text, mebibytes), Ok(()), "{more}");
            let error = fits(&text, mebibytes - 2).unwrap_err();
            assert!(error.contains("of memory is available: give a smaller --size"), "{error}");
            assert!(!error.contains('\n'));
        }
        let direct = "disc = 'direct:a'\nsize = '64MiB'\nthreads = 256\n";
        assert!(fits(direct, 98).is_ok() && fits(direct, 96).is_err());
        let chunks = "disc = 's3+chunks://b/p'\nsize = '64MiB'\n";
        assert!(fits(chunks, 194).is_ok() && fits(chunks, 192).is_err());
        let largest = "disc = 'file:a'\nsize = '15TiB'\ntier = 't'\ntier-size = '16TiB'\n";
        assert!(fits(largest, 1 << 22).is_err());
    }
}
