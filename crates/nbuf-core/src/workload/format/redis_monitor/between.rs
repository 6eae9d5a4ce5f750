//! Commands about several keys: a value that goes from one to another, and keys that are made of others.

use super::super::batch::Batch;
use super::argument::{Argument, Arguments};
use super::command::{Keys, Refused};
use super::keyspace::{Asker, Keyspace};

/// The keys of a command.
fn keys(which: Keys, mut arguments: Arguments<'_>) -> Result<Vec<Argument<'_>>, Refused> {
    let mut found = Vec::new();
    match which {
        Keys::One => found.push(next(&mut arguments)?),
        Keys::Two => found.extend(arguments.by_ref().flatten().take(2)),
        Keys::All => found.extend(arguments.by_ref().flatten()),
        Keys::ButLast => {
            found.extend(arguments.by_ref().flatten());
            found.pop();
        }
        Keys::Counted => {
            let count = next(&mut arguments)?.number().filter(|count| *count > 0);
            let count = usize::try_from(count.ok_or(Refused)?).map_err(|_| Refused)?;
            found.extend(arguments.by_ref().flatten().take(count));
            if found.len() < count {
                return Err(Refused);
            }
        }
        Keys::Streams => {
            if !arguments.by_ref().flatten().any(|argument| argument.is("STREAMS")) {
                return Err(Refused);
            }
            found.extend(arguments.by_ref().flatten());
            if found.len() % 2 == 1 {
                return Err(Refused);
            }
            found.truncate(found.len() / 2);
        }
    }
    Ok(found)
}

/// The next argument. Those of a line were looked at before, so none is broken.
pub(super) fn next<'a>(arguments: &mut Arguments<'a>) -> Result<Argument<'a>, Refused> {
    arguments.next().and_then(Result::ok).ok_or(Refused)
}

impl Keyspace {
    /// A look at each key.
    pub(super) fn look(
        &mut self,
        asker: Asker,
        which: Keys,
        arguments: Arguments,
        out: &mut Batch,
    ) -> Result<(), Refused> {
        for key in keys(which, arguments)? {
            self.read(asker, &key, out);
        }
        Ok(())
    }

    /// A value for each key; with MSETNX only if there is none of them.
    pub(super) fn set_many(
        &mut self,
        asker: Asker,
        is_new: bool,
        arguments: Arguments,
        out: &mut Batch,
    ) -> Result<(), Refused> {
        let all: Vec<Argument> = arguments.flatten().collect();
        let (pairs, rest) = all.as_chunks::<2>();
        let has_one = |keys: &mut Self| pairs.iter().any(|[name, _]| keys.has_value(asker, name));
        if !rest.is_empty() || is_new && has_one(self) {
            return Err(Refused);
        }
        for [name, value] in pairs {
            self.store(asker, name, value.bytes(), None, out);
        }
        Ok(())
    }

    /// Something is taken out of the first key that may have something.
    pub(super) fn pop(
        &mut self,
        asker: Asker,
        which: Keys,
        arguments: Arguments,
        out: &mut Batch,
    ) -> Result<(), Refused> {
        let all = keys(which, arguments)?;
        match all.iter().find(|key| !self.is_missing(asker, key)) {
            Some(key) => self.take(asker, key, out),
            None => out.problems.unused += 1,
        }
        Ok(())
    }

    /// A part of a value goes to another key.
    pub(super) fn move_part(
        &mut self,
        asker: Asker,
        from: &Argument,
        to: &Argument,
        out: &mut Batch,
    ) {
        if self.is_missing(asker, from) {
            out.problems.unused += 1;
        } else if self.is_one(from, to) {
            self.change(asker, from, out);
        } else {
            self.take(asker, from, out);
            self.resize(asker, to, |old| old, out);
        }
    }

    /// A value under another name, with its end.
    pub(super) fn rename(
        &mut self,
        asker: Asker,
        (from, to): (&Argument, &Argument),
        is_new: bool,
        out: &mut Batch,
    ) {
        let is_refused = is_new && self.has_value(asker, to);
        if self.is_missing(asker, from) || is_refused || self.is_one(from, to) {
            out.problems.unused += 1;
            return;
        }
        let value = self.value(asker, from);
        self.delete(asker, from, out);
        self.put(asker, to, value, out);
    }

    /// COPY: a look at the one key and a write of the other one.
    pub(super) fn copy(
        &mut self,
        asker: Asker,
        (from, to): (&Argument, &Argument),
        mut options: Arguments,
        out: &mut Batch,
    ) -> Result<(), Refused> {
        let (mut target, mut replaces) = (asker, false);
        while let Some(option) = options.next() {
            let option = option.map_err(|_| Refused)?;
            if option.is("REPLACE") {
                replaces = true;
            } else if option.is("DB") {
                target = asker.at(&next(&mut options)?, out)?;
            } else {
                return Err(Refused);
            }
        }
        if target.database == asker.database && self.is_one(from, to) {
            return Err(Refused);
        }
        let value = self.value(asker, from);
        let is_missing = self.is_missing(asker, from);
        self.read(asker, from, out);
        if !is_missing && (replaces || !self.has_value(target, to)) {
            self.put(target, to, value, out);
        }
        Ok(())
    }

    /// MOVE: the same key in another database, which must not have it.
    pub(super) fn move_key(
        &mut self,
        asker: Asker,
        name: &Argument,
        database: &Argument,
        out: &mut Batch,
    ) -> Result<(), Refused> {
        let target = asker.at(database, out)?;
        let is_there = self.has_value(target, name);
        if target.database == asker.database || is_there || self.is_missing(asker, name) {
            return Err(Refused);
        }
        let value = self.value(asker, name);
        self.delete(asker, name, out);
        self.put(target, name, value, out);
        Ok(())
    }

    /// Each key is read, and another one has what was made of them.
    pub(super) fn make(
        &mut self,
        asker: Asker,
        which: Keys,
        mut arguments: Arguments,
        out: &mut Batch,
    ) -> Result<(), Refused> {
        let to = next(&mut arguments)?;
        self.look(asker, which, arguments, out)?;
        self.put(asker, &to, Self::UNKNOWN, out);
        Ok(())
    }

    /// SORT and its like: a look, and a result where an option says that one is stored.
    pub(super) fn look_and_store(
        &mut self,
        asker: Asker,
        name: &Argument,
        mut options: Arguments,
        out: &mut Batch,
    ) -> Result<(), Refused> {
        let mut to = None;
        while let Some(option) = options.next() {
            let option = option.map_err(|_| Refused)?;
            if option.is("STORE") || option.is("STOREDIST") {
                to = Some(next(&mut options)?);
            }
        }
        self.read(asker, name, out);
        if let Some(to) = to {
            self.put(asker, &to, Self::UNKNOWN, out);
        }
        Ok(())
    }
}
