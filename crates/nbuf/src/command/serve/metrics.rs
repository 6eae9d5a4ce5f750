//! `--metrics`: answers scrapes with what the server says of itself.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use nbuf::experiment::serve;

use crate::command::scrapes;
use crate::show::serve::metrics::{metrics, without};

/// The control socket of a server.
struct ControlSocket(PathBuf);

impl scrapes::Text for ControlSocket {
    fn text(&self) -> String {
        serve::stats(&self.0).map_or_else(|_| without(), |document| metrics(&document))
    }
}

/// Answers scrapes from now on.
pub(super) fn answer(address: SocketAddr, control: PathBuf) -> Result<()> {
    scrapes::serve(address, Arc::new(ControlSocket(control)))
}
