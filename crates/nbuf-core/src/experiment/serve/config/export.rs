//! An export in a file of settings, and what it takes from the lines above its table.

use std::path::{Path, PathBuf};

use super::Config;
use crate::experiment::serve::{
    BackendSpec, Choice, Dirty, Error, ExportSpec, NamedDisc, TierSpec, Writes,
};
use crate::units::Size;

/// A disc by its name. What it has not is as the server has it.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ExportConfig {
    /// Its name.
    pub name: String,
    /// The disc.
    pub disc: Option<BackendSpec>,
    /// The size of its cache, in bytes.
    pub size: Option<Size>,
    /// When a write is on the disc.
    pub write: Option<Writes>,
    /// What to evict.
    pub policy: Option<Choice>,
    /// Whether writes are refused.
    pub read_only: Option<bool>,
    /// A file that is a second tier of this disc.
    pub tier: Option<PathBuf>,
    /// Its size, in bytes.
    pub tier_size: Option<Size>,
    /// Whether the disc counts as unchanged where it shows no changes.
    pub tier_trust: Option<bool>,
    /// Seconds that it may take for a request.
    pub tier_timeout: Option<usize>,
    /// Whether it counts for flushes.
    pub durable_tier: Option<bool>,
}

impl From<NamedDisc> for ExportConfig {
    fn from(NamedDisc { name, disc }: NamedDisc) -> Self {
        Self { name, disc: Some(disc), ..Self::default() }
    }
}

impl ExportConfig {
    /// Lets its paths be from this folder.
    pub(super) fn move_into(&mut self, folder: &Path) {
        self.disc = self.disc.take().map(|disc| disc.within(folder));
        self.tier = self.tier.take().map(|tier| folder.join(tier));
    }

    /// The export, with what it has not from the server.
    pub(super) fn over(&self, server: &Config) -> Result<ExportSpec, Error> {
        let disc = self.disc.clone().ok_or(Error::Missing("disc"))?;
        let size = self.size.or(server.size).ok_or(Error::Missing("size"))?;
        let Size::Absolute(size) = size else { return Err(Error::NoBytes) };
        let default = ExportSpec::new(disc, size);
        Ok(ExportSpec {
            name: self.name.clone(),
            is_default: false,
            writes: self.write.or(server.write).unwrap_or(default.writes),
            policy: self.policy.or(server.policy).unwrap_or(default.policy),
            is_read_only: self.read_only.or(server.read_only).unwrap_or(default.is_read_only),
            page_bytes: server.page.unwrap_or(default.page_bytes),
            readahead: server.readahead.unwrap_or(default.readahead),
            bypass: server.bypass.unwrap_or(default.bypass),
            tier: self.tier(server)?,
            dirty: match (server.write_dirty, server.discard_dirty) {
                (true, true) => return Err(Error::WriteAndDiscard),
                (true, false) => Dirty::Write,
                (false, true) => Dirty::Discard,
                (false, false) => Dirty::Refuse,
            },
            ..default
        })
    }

    /// Its tier, if it has one.
    fn tier(&self, server: &Config) -> Result<Option<TierSpec>, Error> {
        let Some(path) = self.tier.as_ref().or(server.tier.as_ref()) else {
            // What the server says of sizes is for the exports that have a tier.
            let is_set = self.tier_size.is_some() || self.tier_timeout.is_some();
            let is_set = is_set || self.tier_trust == Some(true) || self.durable_tier == Some(true);
            return if is_set { Err(Error::Missing("tier")) } else { Ok(None) };
        };
        let trusts = self.tier_trust.or(server.tier_trust).unwrap_or(false);
        let timeout = self.tier_timeout.or(server.tier_timeout);
        let durable = self.durable_tier.or(server.durable_tier).unwrap_or(false);
        let size = self.tier_size.or(server.tier_size);
        TierSpec::of(path, size, (trusts, durable), timeout).map(Some)
    }
}
