//! The options of `nbuf serve` as settings, over those of a file.

use nbuf::experiment::serve::{Config, Error, ExportConfig, Spec};

use super::Args;

impl Args {
    /// What the options say, and where they are silent the file.
    pub(super) fn settings(&self) -> Result<Spec, Error> {
        let file = self.config.as_deref().map(Config::read).transpose()?;
        let spec = self.flags().over(file.unwrap_or_default()).spec()?;
        Ok(Spec { takes_sockets: true, ..spec })
    }

    fn flags(&self) -> Config {
        Config {
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
            export: self.export.iter().cloned().map(ExportConfig::from).collect(),
        }
    }
}
