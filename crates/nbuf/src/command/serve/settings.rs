//! The options of `nbuf serve` as settings, over those of a file.

use std::path::PathBuf;

use nbuf::experiment::serve::{Config, Error, ExportConfig, Spec};

use super::Args;

impl Args {
    /// What the options say, and where they are silent the file.
    pub(super) fn settings(&self) -> Result<Spec, Error> {
        let file = self.config.as_deref().map(Config::read).transpose()?;
        let spec = self.flags()?.over(file.unwrap_or_default()).spec()?;
        Ok(Spec { takes_sockets: true, ..spec })
    }

    fn flags(&self) -> Result<Config, Error> {
        Ok(Config {
            disc: self.disc.clone(),
            size: self.size,
            write: self.write,
            socket: self.socket.clone(),
            control: self.control.clone(),
            listen: Some(self.listen.clone()).filter(|listen| !listen.is_empty()),
            allow_anyone: self.allow_anyone.then_some(true),
            tls_cert: self.tls_cert.clone(),
            tls_key: self.tls_key.clone(),
            tls_ca: self.tls_ca.clone(),
            tls_unix: self.tls_unix.then_some(true),
            disc_tls_ca: self.disc_tls_ca.clone(),
            disc_tls_cert: self.disc_tls_cert.clone(),
            disc_tls_key: self.disc_tls_key.clone(),
            state: self.state.clone(),
            tier: self.tier.clone(),
            tier_size: self.tier_size,
            tier_trust: self.tier_trust.then_some(true),
            tier_timeout: self.tier_timeout,
            durable_tier: self.durable_tier.then_some(true),
            write_dirty: self.write_dirty,
            discard_dirty: self.discard_dirty,
            policy: self.policy,
            read_only: self.read_only.then_some(true),
            readahead: self.readahead,
            bypass: self.bypass,
            page: self.page,
            threads: self.threads,
            clients: self.clients,
            client_timeout: self.client_timeout,
            spin: self.spin,
            metrics: self.metrics,
            name: self.name.clone(),
            export: self.exports()?,
        })
    }

    /// The exports by name, with their tiers.
    fn exports(&self) -> Result<Vec<ExportConfig>, Error> {
        let exports = self.export.iter().cloned().map(ExportConfig::from);
        let mut exports: Vec<ExportConfig> = exports.collect();
        for (name, file) in &self.export_tier {
            let without =
                |export: &&mut ExportConfig| export.name == *name && export.tier.is_none();
            let export = exports.iter_mut().find(without);
            export.ok_or_else(|| Error::TierOfNone(name.clone()))?.tier = Some(file.clone());
        }
        Ok(exports)
    }
}

/// A name and a file behind the first sign of equality.
pub(super) fn named_file(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => {
            Ok((name.to_owned(), file.into()))
        }
        _ => Err("write NAME=FILE, with the name of an export".to_owned()),
    }
}
