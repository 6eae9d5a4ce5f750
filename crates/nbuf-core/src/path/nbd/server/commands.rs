//! The commands of clients of the control socket.

use super::super::control::{Command, ControlClient};
use super::super::export::Export;
use super::{Change, Keeper, Quiet, Server};
use crate::cache::policy;

impl Server {
    pub(super) fn command(&mut self, client: ControlClient, command: Command, keeper: &dyn Keeper) {
        let named = match command {
            Command::Stats => {
                let document = keeper.describe(&self.snapshot());
                return self.answer(client, &document);
            }
            Command::Drain => {
                self.answer(client, "{\"draining\": true}");
                return self.drain();
            }
            Command::Resize(_, ref name) | Command::Policy(_, ref name) => self.named(name),
        };
        let disc = match named {
            Ok(disc) => disc,
            Err(why) => return self.refuse(client, &why),
        };
        let change = self.setting(disc);
        match command {
            Command::Resize(bytes, _) => {
                let pages = bytes / u64::from(self.discs[disc].cache.settings().page_bytes);
                match u32::try_from(pages) {
                    Ok(pages) if pages > 0 => self.renew(disc, client, Change { pages, ..change }),
                    _ => self.refuse(client, "the size is a page at least, and 16 TiB at most"),
                }
            }
            Command::Policy(name, _) => match name.parse::<policy::Choice>() {
                Ok(choice) if choice.row().name == "opt" => {
                    self.refuse(client, "opt needs the future, which only a simulation has");
                }
                Ok(policy) => self.renew(disc, client, Change { policy, ..change }),
                Err(error) => self.refuse(client, &error.to_string()),
            },
            Command::Stats | Command::Drain => {}
        }
    }

    /// Answers a client of the control socket with a line. What it does not take at once it gets later.
    pub(super) fn answer(&mut self, mut client: ControlClient, line: &str) {
        client.answer(line, self.now);
        if !client.is_answered(self.now) {
            self.leaving.push(client);
        }
    }

    /// Answers why not.
    pub(super) fn refuse(&mut self, client: ControlClient, why: &str) {
        self.answer(client, &serde_json::json!({ "error": why }).to_string());
    }

    /// The disc that a command names.
    fn named(&self, name: &str) -> Result<usize, String> {
        let is_it = |export: &Export| export.name == name;
        match self.exports.iter().position(is_it) {
            Some(disc) => Ok(disc),
            None if name.is_empty() && self.exports.len() == 1 => Ok(0),
            None if self.exports.iter().all(|export| export.name.is_empty()) => {
                Err("the only export has no name: ask without one".to_owned())
            }
            None => {
                let names: Vec<&str> =
                    self.exports.iter().map(|export| export.name.as_str()).collect();
                Err(format!("no export has this name: give one of {}", names.join(", ")))
            }
        }
    }

    /// How a disc is set now.
    pub(super) fn setting(&self, disc: usize) -> Change {
        let served = &self.discs[disc];
        let settings = served.cache.settings();
        let (pages, writes) = (settings.pages, settings.writes);
        Change {
            policy: served.policy,
            pages,
            writes,
            readahead_bytes: settings.readahead_bytes,
            bypass: settings.bypass,
            clients_max: self.clients_max,
        }
    }

    /// Begins to renew a cache, when nothing else is going on.
    fn renew(&mut self, disc: usize, client: ControlClient, change: Change) {
        if self.quiet.is_some() {
            return self.refuse(
                client,
                "the server is ending, or is changing its cache already: ask again",
            );
        }
        self.quieten_for(Quiet::Renew(disc, change, Some(client)));
    }
}
