//! What each command of Redis does to its keys.

use super::super::batch::Fault;
use super::argument::Argument;

/// Longer than the name of any command that is used.
const NAME_BYTES: usize = 24;

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
    /// What a key then has left to live.
    pub(super) fn left_ns(self, now_ns: i64, argument: &Argument) -> Result<i64, Fault> {
        let number = argument.number().ok_or(Fault::malformed("a time in whole numbers"))?;
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

/// A kind of command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// Looks at one key.
    Get,
    /// Looks at each of its keys.
    GetMany,
    /// Changes a key, and its size is unknown or the same.
    Update,
    Set,
    SetEx(Time),
    /// Only if there is none.
    SetNew,
    SetMany,
    Append,
    SetRange,
    GetEx,
    GetDelete,
    Delete,
    Rename,
    Expire(Time),
    Persist,
    Flush {
        is_all: bool,
    },
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
        match &buffer[..length] {
            b"set" => Self::Set,
            b"setex" => Self::SetEx(Time::Seconds),
            b"psetex" => Self::SetEx(Time::Milliseconds),
            b"setnx" => Self::SetNew,
            b"mset" | b"msetnx" => Self::SetMany,
            b"append" => Self::Append,
            b"setrange" => Self::SetRange,
            b"getex" => Self::GetEx,
            b"getdel" => Self::GetDelete,
            b"del" | b"unlink" => Self::Delete,
            b"rename" | b"renamenx" => Self::Rename,
            b"expire" => Self::Expire(Time::Seconds),
            b"pexpire" => Self::Expire(Time::Milliseconds),
            b"expireat" => Self::Expire(Time::AtSeconds),
            b"pexpireat" => Self::Expire(Time::AtMilliseconds),
            b"persist" => Self::Persist,
            b"flushdb" => Self::Flush { is_all: false },
            b"flushall" => Self::Flush { is_all: true },
            // A SET that returns the old value.
            b"getset" => Self::Set,
            b"mget" | b"touch" | b"pfcount" | b"sinter" | b"sunion" | b"sdiff" => Self::GetMany,
            name => Self::of_types(name),
        }
    }

    /// The commands of one key of each type.
    fn of_types(name: &[u8]) -> Self {
        match name {
            b"get" | b"strlen" | b"getrange" | b"substr" | b"getbit" | b"bitcount" | b"bitpos"
            | b"bitfield_ro" | b"dump" | b"sort_ro" => Self::Get,
            b"hget" | b"hmget" | b"hgetall" | b"hexists" | b"hkeys" | b"hvals" | b"hlen"
            | b"hstrlen" | b"hscan" | b"hrandfield" => Self::Get,
            b"lrange" | b"lindex" | b"llen" | b"lpos" => Self::Get,
            b"smembers" | b"sismember" | b"smismember" | b"scard" | b"srandmember" | b"sscan" => {
                Self::Get
            }
            b"zrange" | b"zrangebyscore" | b"zrevrange" | b"zrevrangebyscore" | b"zrangebylex"
            | b"zrevrangebylex" | b"zscore" | b"zmscore" | b"zrank" | b"zrevrank" | b"zcard"
            | b"zcount" | b"zlexcount" | b"zrandmember" | b"zscan" => Self::Get,
            b"geopos" | b"geodist" | b"geohash" | b"geosearch" | b"xrange" | b"xrevrange"
            | b"xlen" => Self::Get,
            b"incr" | b"decr" | b"incrby" | b"decrby" | b"incrbyfloat" | b"setbit"
            | b"bitfield" | b"pfadd" | b"restore" => Self::Update,
            b"hset" | b"hmset" | b"hsetnx" | b"hincrby" | b"hincrbyfloat" | b"hdel" => Self::Update,
            b"lpush" | b"rpush" | b"lpushx" | b"rpushx" | b"linsert" | b"lset" | b"ltrim"
            | b"lrem" | b"lpop" | b"rpop" => Self::Update,
            b"sadd" | b"srem" | b"spop" => Self::Update,
            b"zadd" | b"zincrby" | b"zrem" | b"zpopmin" | b"zpopmax" | b"zremrangebyscore"
            | b"zremrangebyrank" | b"zremrangebylex" => Self::Update,
            b"geoadd" | b"xadd" | b"xdel" | b"xtrim" => Self::Update,
            _ => Self::Other,
        }
    }

    /// The fewest arguments behind the name that it runs with, of those that are used.
    pub(super) fn arguments_min(self) -> usize {
        match self {
            Self::Flush { .. } | Self::Other => 0,
            Self::Get
            | Self::GetMany
            | Self::Update
            | Self::GetEx
            | Self::GetDelete
            | Self::Delete
            | Self::Persist => 1,
            Self::Set
            | Self::SetNew
            | Self::SetMany
            | Self::Append
            | Self::Rename
            | Self::Expire(_) => 2,
            Self::SetEx(_) | Self::SetRange => 3,
        }
    }
}
