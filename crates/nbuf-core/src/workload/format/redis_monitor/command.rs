//! What each command of Redis does to its keys.

use super::super::batch::Fault;
use super::argument::Argument;

/// Longer than the name of any command that is used.
const NAME_BYTES: usize = 24;

/// Commands that look at one key: of strings, hashes, lists, sets, sorted sets, places and streams.
const LOOKS: &str = "strlen getrange substr getbit bitcount bitpos bitfield_ro dump sort_ro \
    hget hmget hgetall hexists hkeys hvals hlen hstrlen hscan hrandfield lrange lindex llen lpos \
    smembers sismember smismember scard srandmember sscan zrange zrangebyscore zrevrange \
    zrevrangebyscore zrangebylex zrevrangebylex zscore zmscore zrank zrevrank zcard zcount \
    zlexcount zrandmember zscan geopos geodist geohash geosearch xrange xrevrange xlen";

/// Commands that change one key, and leave its size unknown or the same.
const UPDATES: &str = "incr decr incrby decrby incrbyfloat setbit bitfield pfadd restore \
    hset hmset hsetnx hincrby hincrbyfloat hdel lpush rpush lpushx rpushx linsert lset ltrim lrem \
    lpop rpop sadd srem spop zadd zincrby zrem zpopmin zpopmax zremrangebyscore zremrangebyrank \
    zremrangebylex geoadd xadd xdel xtrim";

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
            b"get" => Self::Get,
            // GETSET also returns the old value.
            b"set" | b"getset" => Self::Set,
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
            b"mget" | b"touch" | b"pfcount" | b"sinter" | b"sunion" | b"sdiff" => Self::GetMany,
            name if LOOKS.split(' ').any(|look| look.as_bytes() == name) => Self::Get,
            name if UPDATES.split(' ').any(|update| update.as_bytes() == name) => Self::Update,
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
