//! `--metrics`: answers scrapes with what the server says of itself.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use nbuf::experiment::serve;

use crate::command::scrapes;
use crate::show::serve::metrics::{metrics, without};

/// A server, by its control socket.
struct Asked(PathBuf);

impl scrapes::Text for Asked {
    fn text(&self) -> String {
        serve::stats(&self.0).map_or_else(|_| without(), |document| metrics(&document))
    }
}

/// Answers scrapes from now on.
pub(super) fn answer(address: SocketAddr, control: PathBuf) -> Result<()> {
    scrapes::serve(address, Arc::new(Asked(control)))
}
