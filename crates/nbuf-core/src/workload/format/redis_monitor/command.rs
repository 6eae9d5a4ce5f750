//! What each command of Redis does to its keys.

use super::argument::Argument;

/// Longer than the name of any command that is used.
const NAME_BYTES: usize = 24;

/// Commands that look at one key: of strings, hashes, lists, sets, sorted sets, places and streams.
const LOOKS: &str = "get strlen getrange substr getbit bitcount bitpos bitfield_ro dump sort_ro \
    hget hmget hgetall hexists hkeys hvals hlen hstrlen hscan hrandfield lrange lindex llen lpos \
    smembers sismember smismember scard srandmember sscan zrange zrangebyscore zrevrange \
    zrevrangebyscore zrangebylex zrevrangebylex zscore zmscore zrank zrevrank zcard zcount \
    zlexcount zrandmember zscan geopos geodist geohash geosearch georadius_ro \
    georadiusbymember_ro xrange xrevrange xlen xpending";

/// Commands that write to one key, or make it, and leave its size unknown or the same.
const UPDATES: &str = "incr decr incrby decrby incrbyfloat setbit bitfield pfadd pfmerge restore \
    hset hmset hsetnx hincrby hincrbyfloat lpush rpush sadd zadd zincrby geoadd xadd";

/// Commands that change one key only if it is there.
const CHANGES: &str = "lpushx rpushx linsert lset xsetid xack xclaim xautoclaim";

/// Commands that take something out of one key if it is there. Without its last part the key is gone.
const TAKES: &str = "hdel lpop rpop lrem ltrim srem spop zrem zpopmin zpopmax zremrangebyscore \
    zremrangebyrank zremrangebylex xdel xtrim";

/// Redis refused the command, so it did nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refused;

/// How a time to live is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Time {
    Seconds,
    Milliseconds,
    /// Seconds since 1970.
    AtSeconds,
    AtMilliseconds,
}

impl Time {
    /// What a key then has left to live, which EXPIRE takes below 0 too.
    pub(super) fn left_ns(self, now_ns: i64, argument: &Argument) -> Result<i64, Refused> {
        let number = argument.number().ok_or(Refused)?;
        let unit_ns = match self {
            Self::Seconds | Self::AtSeconds => 1_000_000_000,
            Self::Milliseconds | Self::AtMilliseconds => 1_000_000,
        };
        let ns = number.saturating_mul(unit_ns);
        Ok(match self {
            Self::Seconds | Self::Milliseconds => ns,
            Self::AtSeconds | Self::AtMilliseconds => ns.saturating_sub(now_ns),
        })
    }

    /// The same for a value that is written, which takes only times above 0.
    pub(super) fn left_of_value_ns(self, now_ns: i64, argument: &Argument) -> Result<i64, Refused> {
        argument.number().filter(|number| *number > 0).ok_or(Refused)?;
        self.left_ns(now_ns, argument)
    }

    /// The option of SET and GETEX that gives a time so.
    pub(super) fn option(argument: &Argument) -> Option<Self> {
        let options = [
            ("EX", Self::Seconds),
            ("PX", Self::Milliseconds),
            ("EXAT", Self::AtSeconds),
            ("PXAT", Self::AtMilliseconds),
        ];
        options.into_iter().find(|(name, _)| argument.is(name)).map(|(_, time)| time)
    }
}

/// Where the keys of a command stand that it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    /// The first alone.
    One,
    /// The first two.
    Two,
    /// All arguments.
    All,
    /// As many as a number says that stands before them.
    Counted,
    /// Before the last argument.
    ButLast,
    /// The first half of what follows the word STREAMS.
    Streams,
}

/// A kind of command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// Looks at each of its keys.
    Look(Keys),
    /// Writes to a key, and its size is unknown or the same.
    Update,
    /// Changes a key that is there.
    Change,
    /// Takes something out of a key that is there.
    Take,
    Set,
    SetEx(Time),
    /// Only if there is none.
    SetNew,
    SetMany {
        /// Only if there is none of them.
        is_new: bool,
    },
    Append,
    SetRange,
    GetEx,
    GetDelete,
    Delete,
    Rename {
        is_new: bool,
    },
    Expire(Time),
    Persist,
    Flush {
        is_all: bool,
    },
    /// Takes something out of the first key that has something.
    Pop {
        /// Arguments before the keys.
        before: usize,
        keys: Keys,
    },
    /// Takes a part of a key to another one.
    MovePart,
    Copy,
    /// Takes a key to another database.
    MoveKey,
    /// Writes a key that is made of others.
    Store {
        /// Arguments before its name.
        before: usize,
        keys: Keys,
    },
    /// Looks at a key, and with an option stores what it finds.
    LookAndStore,
    /// It asks for no value, or is none of those above.
    Other,
}

impl Command {
    /// The command of a name, whatever its capitals.
    pub(super) fn named(name: &Argument) -> Self {
        let mut buffer = [0; NAME_BYTES];
        let Some(length) = name.small(&mut buffer) else {
            return Self::Other;
        };
        let name = &buffer[..length];
        let is_in = |list: &str| list.split(' ').any(|other| other.as_bytes() == name);
        match name {
            // GETSET also returns the old value.
            b"set" | b"getset" => Self::Set,
            b"setex" => Self::SetEx(Time::Seconds),
            b"psetex" => Self::SetEx(Time::Milliseconds),
            b"setnx" => Self::SetNew,
            b"mset" => Self::SetMany { is_new: false },
            b"msetnx" => Self::SetMany { is_new: true },
            b"append" => Self::Append,
            b"setrange" => Self::SetRange,
            b"getex" => Self::GetEx,
            b"getdel" => Self::GetDelete,
            b"del" | b"unlink" => Self::Delete,
            b"rename" => Self::Rename { is_new: false },
            b"renamenx" => Self::Rename { is_new: true },
            b"expire" => Self::Expire(Time::Seconds),
            b"pexpire" => Self::Expire(Time::Milliseconds),
            b"expireat" => Self::Expire(Time::AtSeconds),
            b"pexpireat" => Self::Expire(Time::AtMilliseconds),
            b"persist" => Self::Persist,
            b"flushdb" => Self::Flush { is_all: false },
            b"flushall" => Self::Flush { is_all: true },
            _ if is_in(LOOKS) => Self::Look(Keys::One),
            _ if is_in(UPDATES) => Self::Update,
            _ if is_in(CHANGES) => Self::Change,
            _ if is_in(TAKES) => Self::Take,
            name => Self::of_several(name),
        }
    }

    /// The command of a name in small letters, if it is about several keys.
    fn of_several(name: &[u8]) -> Self {
        match name {
            b"mget" | b"touch" | b"pfcount" | b"sinter" | b"sunion" | b"sdiff" => {
                Self::Look(Keys::All)
            }
            b"lcs" => Self::Look(Keys::Two),
            b"sintercard" | b"zinter" | b"zunion" | b"zdiff" | b"zintercard" => {
                Self::Look(Keys::Counted)
            }
            b"xread" | b"xreadgroup" => Self::Look(Keys::Streams),
            b"blpop" | b"brpop" | b"bzpopmin" | b"bzpopmax" => {
                Self::Pop { before: 0, keys: Keys::ButLast }
            }
            b"lmpop" | b"zmpop" => Self::Pop { before: 0, keys: Keys::Counted },
            b"blmpop" | b"bzmpop" => Self::Pop { before: 1, keys: Keys::Counted },
            b"lmove" | b"blmove" | b"rpoplpush" | b"brpoplpush" | b"smove" => Self::MovePart,
            b"copy" => Self::Copy,
            b"move" => Self::MoveKey,
            b"sinterstore" | b"sunionstore" | b"sdiffstore" => {
                Self::Store { before: 0, keys: Keys::All }
            }
            b"zinterstore" | b"zunionstore" | b"zdiffstore" => {
                Self::Store { before: 0, keys: Keys::Counted }
            }
            b"zrangestore" | b"geosearchstore" => Self::Store { before: 0, keys: Keys::One },
            b"bitop" => Self::Store { before: 1, keys: Keys::All },
            b"sort" | b"georadius" | b"georadiusbymember" => Self::LookAndStore,
            _ => Self::Other,
        }
    }

    /// The fewest arguments behind the name: Redis logs no command that has fewer.
    pub(super) fn arguments_min(self) -> usize {
        match self {
            Self::Flush { .. } | Self::Other => 0,
            Self::Look(Keys::Streams) | Self::SetEx(_) | Self::SetRange => 3,
            Self::Look(Keys::Counted | Keys::Two)
            | Self::Set
            | Self::SetNew
            | Self::SetMany { .. }
            | Self::Append
            | Self::Rename { .. }
            | Self::Expire(_)
            | Self::MovePart
            | Self::Copy
            | Self::MoveKey => 2,
            Self::Pop { before, .. } | Self::Store { before, .. } => before + 2,
            _ => 1,
        }
    }
}
