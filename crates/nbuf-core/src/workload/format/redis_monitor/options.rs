//! Commands whose options say when a value ends, and whether there must be one.

use super::super::batch::Batch;
use super::argument::{Argument, Arguments};
use super::between::next;
use super::command::{Refused, Time};
use super::keyspace::{Asker, Keyspace};

impl Keyspace {
    /// SET, with what stands behind the value.
    pub(super) fn set(
        &mut self,
        asker: Asker,
        name: &Argument,
        value_bytes: u64,
        mut options: Arguments,
        out: &mut Batch,
    ) -> Result<(), Refused> {
        let (mut left_ns, mut times) = (None, 0);
        let (mut is_new, mut is_old) = (false, false);
        while let Some(option) = options.next() {
            let option = option.map_err(|_| Refused)?;
            if let Some(time) = Time::option(&option) {
                left_ns = Some(time.left_of_value_ns(asker.time_ns, &next(&mut options)?)?);
                times += 1;
            } else if option.is("KEEPTTL") {
                left_ns = self.left_ns(asker, name);
                times += 1;
            } else if option.is("NX") || option.is("XX") {
                is_new |= option.is("NX");
                is_old |= option.is("XX");
            } else if ["IFEQ", "IFNE", "IFDEQ", "IFDNE"].iter().any(|word| option.is(word)) {
                next(&mut options)?;
            } else if !option.is("GET") {
                return Err(Refused);
            }
        }
        if times > 1 || is_new && is_old || is_old && self.is_missing(asker, name) {
            return Err(Refused);
        }
        if is_new && self.has_value(asker, name) {
            self.read(asker, name, out);
        } else {
            self.store(asker, name, value_bytes, left_ns, out);
        }
        Ok(())
    }

    /// SETNX: a look where there is a value.
    pub(super) fn set_new(&mut self, asker: Asker, name: &Argument, bytes: u64, out: &mut Batch) {
        if self.has_value(asker, name) {
            self.read(asker, name, out);
        } else {
            self.store(asker, name, bytes, None, out);
        }
    }

    /// EXPIRE and its kin: a write of the same size, or a deletion; nothing where there is no such key.
    pub(super) fn expire(
        &mut self,
        asker: Asker,
        name: &Argument,
        left_ns: i64,
        options: Arguments,
        out: &mut Batch,
    ) -> Result<(), Refused> {
        let old_ns = self.left_ns(asker, name);
        let mut given = [false; 4];
        for option in options.flatten() {
            let at = ["NX", "XX", "GT", "LT"].iter().position(|word| option.is(word));
            given[at.ok_or(Refused)?] = true;
        }
        let [is_new, is_old, is_later, is_earlier] = given;
        // A key that does not expire is one that expires after all others.
        let is_wrong = is_new && (is_old || is_later || is_earlier) || is_later && is_earlier;
        let is_left = is_new && old_ns.is_some()
            || is_old && old_ns.is_none()
            || is_later && old_ns.is_none_or(|old_ns| left_ns <= old_ns)
            || is_earlier && old_ns.is_some_and(|old_ns| left_ns >= old_ns);
        if is_wrong || is_left || self.is_missing(asker, name) {
            return Err(Refused);
        }
        if left_ns <= 0 {
            self.delete(asker, name, out);
        } else {
            self.give_life(asker, name, Some(left_ns), out);
        }
        Ok(())
    }

    /// PERSIST: nothing where no end is known.
    pub(super) fn persist(&mut self, asker: Asker, name: &Argument, out: &mut Batch) {
        if self.left_ns(asker, name).is_some() {
            self.give_life(asker, name, None, out);
        } else {
            out.problems.unused += 1;
        }
    }

    /// GETEX: a look, or with a time a write.
    pub(super) fn get_ex(
        &mut self,
        asker: Asker,
        name: &Argument,
        mut options: Arguments,
        out: &mut Batch,
    ) -> Result<(), Refused> {
        let mut new = None;
        while let Some(option) = options.next() {
            let option = option.map_err(|_| Refused)?;
            let left_ns = match Time::option(&option) {
                Some(time) => Some(time.left_of_value_ns(asker.time_ns, &next(&mut options)?)?),
                None if option.is("PERSIST") => None,
                None => return Err(Refused),
            };
            if new.replace(left_ns).is_some() {
                return Err(Refused);
            }
        }
        match new {
            Some(Some(left_ns)) if !self.is_missing(asker, name) => {
                if left_ns <= 0 {
                    self.read(asker, name, out);
                    self.delete(asker, name, out);
                } else {
                    self.give_life(asker, name, Some(left_ns), out);
                }
            }
            Some(None) if self.left_ns(asker, name).is_some() => {
                self.give_life(asker, name, None, out);
            }
            _ => self.read(asker, name, out),
        }
        Ok(())
    }
}
