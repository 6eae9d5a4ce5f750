//! `nbuf serve`: a cache in front of a disc, for clients of NBD.

mod ask;
mod metrics;
mod settings;

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Result;
use nbuf::experiment::document;
use nbuf::experiment::notice::causes;
use nbuf::experiment::result::ServeDocument;
use nbuf::experiment::serve::{
    self, BackendSpec, Bypass, Choice, NamedDisc, Readahead, Reread, Serving, Spec, Writes,
};
use nbuf::experiment::session::Interim;
use nbuf::units::{Bytes, Size};

use ask::Ask;

use crate::console::Console;
use crate::exit;
use crate::fail::{UsageError, say};
use crate::output::{as_io, print};
use crate::show::serve as shown;
use crate::show::terminal::Terminal;

/// Serve a disc through a cache, by NBD.
///
/// Hits never wait for misses, and a page is fetched once. With `--write back` a write completes when the
/// cache has it, and a flush waits until the disc has it. SIGTERM and SIGINT end the server: it writes
/// what is dirty first. Sockets that systemd passes are used.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "Examples:
  nbuf serve --disc file:disc.img --size 256MiB
  nbuf serve --disc file:disc.img --size 256MiB --write back --socket /run/disc.sock
  nbuf serve --disc direct:/dev/sdb --size 1GiB --write back
  nbuf serve --disc nbd:unix:slow.sock --size 1GiB --policy lru --listen 127.0.0.1:10809
  nbuf serve --disc file:disc.img --size 1GiB --listen 0.0.0.0:10809 --tls-cert cert.pem --tls-key key.pem --tls-ca ca.pem
  nbuf serve --disc nbds://disc.example.com/db --size 1GiB --disc-tls-ca ca.pem
  nbuf serve --disc https://example.com/disc.img --size 1GiB    # with --features object-stores
  nbuf serve --disc file:disc.img --size 1GiB --metrics 9464
  nbuf serve --export db=file:db.img --export logs=file:logs.img --size 256MiB
  nbuf serve --disc nbd:unix:slow.sock --size 256MiB --tier /ssd/disc.tier --tier-size 4GiB --durable-tier
  nbuf serve --export db=file:db.img --export logs=file:logs.img --size 256MiB --export-tier db=/ssd/db.tier --tier-size 4GiB
  nbuf serve --config disc.toml
  nbuf serve --config disc.toml --check-config
  nbuf serve stats /run/disc.sock           # what it has done so far
  nbuf serve resize /run/disc.sock 512MiB
  nbuf serve policy /run/disc.sock lru
  nbuf serve drain /run/disc.sock           # writes what is dirty, and ends

Exit status:
  0    all that was acknowledged is on the disc
  1    bytes remain that the disc does not have; standard error says how many
  2    usage error
  125  the server cannot start; standard error says why")]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct Args {
    #[command(subcommand)]
    ask: Option<Ask>,

    /// The disc: `file:PATH` for an image or a block device, `direct:PATH` for one without the page cache,
    /// `nbd:unix:PATH`, `nbd://HOST/EXPORT` or `nbds://HOST/EXPORT` (TLS) for another NBD server. One object, read-only:
    /// `https://HOST/PATH` or `s3://BUCKET/KEY`. Many objects: `s3+chunks://BUCKET/PREFIX`, with `?size=10GiB` to make them
    #[arg(long, value_name = "DISC", required_unless_present_any = ["config", "export"])]
    disc: Option<BackendSpec>,

    /// A disc that clients ask for by this name, with a cache of its own; can be given several times
    #[arg(long, value_name = "NAME=DISC", conflicts_with_all = ["disc", "name"])]
    export: Vec<NamedDisc>,

    /// The size of the cache, such as 256MiB; of each cache for several exports
    #[arg(long, value_name = "SIZE", required_unless_present = "config", value_parser = size)]
    size: Option<Size>,

    /// Read what is not given here from this file in TOML; SIGHUP reads it again
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Check options, file and disc, and serve nothing
    #[arg(long)]
    check_config: bool,

    /// When a write is on the disc: through (before it completes), back (later), around (not cached)
    /// [default: through]
    #[arg(long, value_name = "WHEN")]
    write: Option<Writes>,

    /// Listen at this Unix socket [default: one in a directory of the user's own]
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,

    /// Answer about the server at this Unix socket [default: the first socket with .ctl]
    #[arg(long, value_name = "PATH")]
    control: Option<PathBuf>,

    /// Listen at this address too, such as 127.0.0.1:10809
    #[arg(long, value_name = "ADDRESS")]
    listen: Vec<SocketAddr>,

    /// Permit addresses that others can reach, where --tls-ca does not check clients
    #[arg(long)]
    allow_anyone: bool,

    /// Serve TCP by TLS alone, with this certificate and those that signed it, in PEM
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<PathBuf>,

    /// The key of that certificate, in PEM without a password
    #[arg(long, value_name = "FILE")]
    tls_key: Option<PathBuf>,

    /// Serve only clients whose certificate one of these signed, in PEM
    #[arg(long, value_name = "FILE")]
    tls_ca: Option<PathBuf>,

    /// Need TLS at Unix sockets too; without it, clients there may ask for TLS
    #[arg(long)]
    tls_unix: bool,

    /// Trust a backend server (`nbds:`) whose certificate one of these signed, in PEM
    #[arg(long, value_name = "FILE")]
    disc_tls_ca: Option<PathBuf>,

    /// Show backend servers this certificate and those that signed it, in PEM
    #[arg(long, value_name = "FILE")]
    disc_tls_cert: Option<PathBuf>,

    /// The key of that certificate, in PEM without a password
    #[arg(long, value_name = "FILE")]
    disc_tls_key: Option<PathBuf>,

    /// Keep in this file which pages the cache holds when the server ends, and have them back at the next start
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,

    /// Keep blocks of the disc in this file too, on a quicker disc; the next start has them again
    #[arg(long, value_name = "FILE")]
    tier: Option<PathBuf>,

    /// Keep blocks of the export of this name in this file, as by --tier; can be given several times
    #[arg(long, value_name = "NAME=FILE", requires = "export", value_parser = settings::named_file)]
    export_tier: Vec<(String, PathBuf)>,

    /// The room that the file of --tier takes, and of each --export-tier, such as 4GiB
    #[arg(long, value_name = "SIZE", value_parser = size)]
    tier_size: Option<Size>,

    /// Keep the blocks of tiers for a device or a backend server too: promise that nothing else writes to it
    #[arg(long)]
    tier_trust: bool,

    /// Give a tier up that has not answered a request for this long [default: 5]
    #[arg(long, value_name = "SECONDS")]
    tier_timeout: Option<usize>,

    /// Let a flush wait for the tier alone: a journal next to its file has what the disc lacks
    #[arg(long)]
    durable_tier: bool,

    /// Write what the journal of a tier owes to this disc, although it may be of another one
    #[arg(long, conflicts_with = "discard_dirty")]
    write_dirty: bool,

    /// Lose what the journal of a tier owes
    #[arg(long)]
    discard_dirty: bool,

    /// What to evict; see docs/policies.md [default: s3-fifo]
    #[arg(long, value_name = "POLICY")]
    policy: Option<Choice>,

    /// Read up to this much ahead of sequential reads, and a 32nd of the cache at most; or off
    /// [default: 1MiB]
    #[arg(long, value_name = "SIZE")]
    readahead: Option<Readahead>,

    /// Step aside while the cache costs more than it saves: auto; or never: off
    /// [default: off]
    #[arg(long, value_name = "WHEN")]
    bypass: Option<Bypass>,

    /// Refuse writes
    #[arg(long)]
    read_only: bool,

    /// The size of a page in bytes: a power of two from 512 to 32768 [default: 4096]
    #[arg(long, value_name = "BYTES")]
    page: Option<u32>,

    /// Requests to a file at once, 256 at most [default: 16]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Clients at once, 16384 at most [default: 64]
    #[arg(long, value_name = "N")]
    clients: Option<usize>,

    /// Close a client that sends a request, or takes replies, at under 16 KiB a second for this long
    /// [default: 60]
    #[arg(long, value_name = "SECONDS")]
    client_timeout: Option<usize>,

    /// After requests, look for more for this long before the server sleeps, up to 1000: quicker, and takes a
    /// processor while clients are active [default: none]
    #[arg(long, value_name = "MICROSECONDS")]
    spin: Option<usize>,

    /// Serve the figures to Prometheus, at /metrics; a port alone means 127.0.0.1
    #[arg(long, value_name = "ADDRESS", value_parser = crate::command::scrapes::address)]
    metrics: Option<SocketAddr>,

    /// The name of the export; the empty name leads to it too [default: the empty name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Print one JSON document at the end
    #[arg(long)]
    json: bool,
}

fn size(text: &str) -> Result<Size, String> {
    bytes(text).map(Size::Absolute)
}

fn bytes(text: &str) -> Result<Bytes, String> {
    match text.parse() {
        Ok(Size::Absolute(bytes)) => Ok(bytes),
        Ok(_) => Err("give bytes, such as 256MiB".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

pub(crate) fn run(args: &Args) -> Result<u8> {
    match &args.ask {
        Some(question) => ask::run(question).map(|()| 0),
        None => serve(args),
    }
}

fn serve(args: &Args) -> Result<u8> {
    let settings = || args.settings();
    if args.check_config {
        return check(args);
    }
    let spec = settings()?;
    let begin = |interim: Interim<'_>| {
        if let Interim::Serving(serving) = interim {
            // A port that is taken is known before clients come.
            let scraped = spec.metrics.map(|at| metrics::answer(at, serving.control.clone()));
            scraped.unwrap_or(Ok(())).map_err(as_io)?;
            return announce(&spec, serving, args.json);
        }
        Ok(())
    };
    let console = Console::new(false, &begin);
    let mut session = console.session();
    let reread: Option<Reread<'_>> = if args.config.is_some() { Some(&settings) } else { None };
    let document = serve::run_with(&spec, reread, &mut session)?;
    tell(&document, args.json)?;
    if document.owed_bytes == 0 && document.error.is_none() {
        return Ok(0);
    }
    say(shown::lost(&document));
    Ok(exit::CHECK_FAILED)
}

/// Says that all is right, or in one line what is not.
fn check(args: &Args) -> Result<u8> {
    let checked = args.settings().and_then(|spec| Ok((serve::check(&spec)?, spec)));
    let (sizes, spec) = checked.map_err(|error| UsageError(causes(&error)))?;
    print(shown::checked(&spec, &sizes).as_bytes())?;
    Ok(0)
}

/// With `--json` standard output is for the document alone.
fn announce(spec: &Spec, serving: &Serving, json: bool) -> std::io::Result<()> {
    let text = shown::serving(spec, serving);
    if json {
        say(text.trim_end());
        return Ok(());
    }
    print(text.as_bytes()).map_err(std::io::Error::other)
}

fn tell(document: &ServeDocument, json: bool) -> Result<()> {
    if json {
        return print(document::write(document)?.as_bytes());
    }
    print(shown::summary(document, Terminal::of_output().width).as_bytes())
}
