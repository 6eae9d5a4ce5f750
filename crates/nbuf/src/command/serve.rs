//! `nbuf serve`: a cache in front of a disc, for clients of NBD.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{Context, Result};
use nbuf::experiment::document;
use nbuf::experiment::result::ServeDocument;
use nbuf::experiment::serve::{self, Address, BehindSpec, Choice, Serving, Spec, Writes};
use nbuf::experiment::session::Interim;
use nbuf::units::{Bytes, Size};

use crate::console::Console;
use crate::exit;
use crate::fail::say;
use crate::output::print;
use crate::show::serve as shown;

/// Serve a disc through a cache, by NBD.
///
/// Hits never wait for misses, and a page is fetched once. With `--write back` a write completes when the
/// cache has it, and a flush waits until the disc has it. SIGTERM and SIGINT end the server: it writes
/// what is dirty first.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "Examples:
  nbuf serve --disc file:disc.img --size 256MiB
  nbuf serve --disc file:disc.img --size 256MiB --write back --socket /run/disc.sock
  nbuf serve --disc nbd:unix:slow.sock --size 1GiB --policy lru --listen 127.0.0.1:10809
  nbuf serve stats /run/disc.sock           # what it has done so far
  nbuf serve resize /run/disc.sock 512MiB
  nbuf serve policy /run/disc.sock lru
  nbuf serve drain /run/disc.sock           # writes what is dirty, and ends

Exit status:
  0    all that was acknowledged is on the disc
  1    bytes remain that the disc does not have; standard error says how many
  2    usage error
  125  the server cannot start; standard error says why")]
pub(crate) struct Args {
    #[command(subcommand)]
    ask: Option<Ask>,

    /// The disc: `file:PATH` for an image, or `nbd:unix:PATH` for another NBD server
    #[arg(long, value_name = "DISC", required = true)]
    disc: Option<BehindSpec>,

    /// The size of the cache, such as 256MiB
    #[arg(long, value_name = "SIZE", required = true, value_parser = bytes)]
    size: Option<Bytes>,

    /// When a write is on the disc: through (before it completes), back (later), around (not cached)
    #[arg(long, value_name = "WHEN", default_value = "through")]
    write: Writes,

    /// Listen at this Unix socket [default: one in a directory of the user's own]
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,

    /// Answer about the server at this Unix socket [default: the first socket with .ctl]
    #[arg(long, value_name = "PATH")]
    control: Option<PathBuf>,

    /// Listen at this address too, such as 127.0.0.1:10809
    #[arg(long, value_name = "ADDRESS")]
    listen: Vec<SocketAddr>,

    /// Permit addresses that others can reach; clients are not asked who they are
    #[arg(long)]
    allow_anyone: bool,

    /// What to evict; see docs/policies.md
    #[arg(long, value_name = "POLICY", default_value = "s3-fifo")]
    policy: Choice,

    /// Refuse writes
    #[arg(long)]
    read_only: bool,

    /// The size of a page in bytes: a power of two from 512 to 32768
    #[arg(long, value_name = "BYTES", default_value = "4096")]
    page: u32,

    /// Requests to a file at once
    #[arg(long, value_name = "N", default_value = "16",
        value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,

    /// Clients at once
    #[arg(long, value_name = "N", default_value = "64",
        value_parser = clap::value_parser!(u16).range(1..=1024))]
    clients: u16,

    /// The name of the export; the empty name leads to it too
    #[arg(long, value_name = "NAME", default_value = "")]
    name: String,

    /// Print one JSON document at the end
    #[arg(long)]
    json: bool,
}

/// Asks a running server.
#[derive(Debug, clap::Subcommand)]
enum Ask {
    /// Print what a server has done so far
    Stats {
        /// Its control socket, or its socket if --control was not given
        socket: PathBuf,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Give the cache of a server another size
    Resize {
        /// Its control socket, or its socket if --control was not given
        socket: PathBuf,
        /// The new size
        #[arg(value_parser = bytes)]
        size: Bytes,
    },
    /// Give the cache of a server another policy
    Policy {
        /// Its control socket, or its socket if --control was not given
        socket: PathBuf,
        /// The new policy; see docs/policies.md
        policy: Choice,
    },
    /// Let a server write what is dirty, and end
    Drain {
        /// Its control socket, or its socket if --control was not given
        socket: PathBuf,
    },
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
        Some(Ask::Stats { socket, json }) => tell(&serve::stats(socket)?, *json)?,
        Some(Ask::Resize { socket, size }) => serve::resize(socket, *size)?,
        Some(Ask::Policy { socket, policy }) => serve::change_policy(socket, *policy)?,
        Some(Ask::Drain { socket }) => serve::drain(socket)?,
        None => return serve(args),
    }
    Ok(0)
}

fn serve(args: &Args) -> Result<u8> {
    let spec = args.spec()?;
    let begin = |interim: Interim<'_>| {
        if let Interim::Serving(serving) = interim {
            return announce(&spec, serving, args.json);
        }
        Ok(())
    };
    let console = Console::new(false, &begin);
    let mut session = console.session();
    let document = serve::run(&spec, &mut session)?;
    tell(&document, args.json)?;
    if document.owed_bytes == 0 && document.error.is_none() {
        return Ok(0);
    }
    say(shown::lost(&document));
    Ok(exit::NOT_HELD)
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
    print(shown::summary(document).as_bytes())
}

impl Args {
    /// What the experiment is asked.
    fn spec(&self) -> Result<Spec> {
        let disc = self.disc.clone().context("which disc? give --disc")?;
        let size = self.size.context("how large a cache? give --size")?;
        let sockets = self.socket.iter().map(|path| std::path::absolute(path).map(Address::Unix));
        let sockets: Vec<Address> = sockets.collect::<Result<_, _>>().context("--socket")?;
        let control = self.control.as_ref().map(std::path::absolute).transpose();
        let listen =
            sockets.into_iter().chain(self.listen.iter().copied().map(Address::Tcp)).collect();
        Ok(Spec {
            writes: self.write,
            listen,
            control: control.context("--control")?,
            allows_anyone: self.allow_anyone,
            policy: self.policy,
            is_read_only: self.read_only,
            page_bytes: self.page,
            threads: self.threads.into(),
            clients_max: self.clients.into(),
            name: self.name.clone(),
            ..Spec::new(disc, size)
        })
    }
}
