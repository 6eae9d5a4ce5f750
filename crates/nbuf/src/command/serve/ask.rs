//! Asks a running server, or changes it.

use std::path::PathBuf;

use anyhow::Result;
use nbuf::experiment::serve::{self, Choice};
use nbuf::units::Bytes;

use crate::fail::say;

/// Asks a running server.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Ask {
    /// Print what a server has done so far
    Stats {
        /// Its control socket, or its socket if --control was not given
        socket: PathBuf,
        /// Print one JSON document
        #[arg(long)]
        json: bool,
    },
    /// Give the cache of a server another size, in whole pages
    Resize {
        /// Its control socket, or its socket if --control was not given
        socket: PathBuf,
        /// The new size
        #[arg(value_parser = super::bytes)]
        size: Bytes,
        /// The export whose cache it is, if there are several
        #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
        export: String,
    },
    /// Give the cache of a server another policy
    Policy {
        /// Its control socket, or its socket if --control was not given
        socket: PathBuf,
        /// The new policy; see docs/policies.md
        policy: Choice,
        /// The export whose cache it is, if there are several
        #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
        export: String,
    },
    /// Let a server write what is dirty, and end
    Drain {
        /// Its control socket, or its socket if --control was not given
        socket: PathBuf,
    },
}

/// Asks, and shows the answer.
pub(super) fn run(ask: &Ask) -> Result<()> {
    match ask {
        Ask::Stats { socket, json } => super::tell(&serve::stats(socket)?, *json)?,
        Ask::Resize { socket, size, export } => {
            let now = serve::resize(socket, *size, export)?;
            if now != *size {
                let (now, wanted) = (now.0, size.0);
                say(format_args!("the cache has {now} B instead of {wanted} B: it is whole pages"));
            }
        }
        Ask::Policy { socket, policy, export } => {
            serve::change_policy(socket, *policy, export)?;
        }
        Ask::Drain { socket } => serve::drain(socket)?,
    }
    Ok(())
}
