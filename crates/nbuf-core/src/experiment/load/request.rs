//! A request over a real socket: `GET` by HTTP/1.1, and the whole answer.

use std::io;
use std::time::Duration;

use ureq::Agent;

/// The connection of one user, which stays open between requests.
#[derive(Clone, Debug)]
pub(super) struct Client(Agent);

impl Client {
    pub(super) fn new() -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .user_agent("nbuf")
            .build();
        Self(config.new_agent())
    }

    /// Asks once, and reads the answer to its end. The error says why it does not count as one: there was
    /// none in time, or its status is 400 or above.
    pub(super) fn get(&self, address: &str, timeout: Duration) -> Result<(), String> {
        let request = self.0.get(address).config().timeout_global(Some(timeout)).build();
        let answer = request.call().map_err(|error| error.to_string())?;
        let status = answer.status().as_u16();
        io::copy(&mut answer.into_body().into_reader(), &mut io::sink())
            .map_err(|error| error.to_string())?;
        if status >= 400 { Err(format!("status {status}")) } else { Ok(()) }
    }
}
