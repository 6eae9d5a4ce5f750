"""Policies written in Python, for trying an idea out. Experimental: one thread, under the GIL."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Optional, Protocol

from nbuf import _nbuf
from nbuf._checks import whole
from nbuf._curve import _pages
from nbuf._errors import Error
from nbuf._progress import Progress, reporter
from nbuf._results import library
from nbuf._trace import Size, Trace, _inputs

# A key, the page of a file, or the name of a file and its page where there are several.
Key = Any

_BATCH = 1 << 16


class Policy(Protocol):
    """What decides which page leaves. What is in the cache is kept by nbuf, and never asked for.

    A class is called with the pages that the cache holds. Derive from nothing: these methods are enough.
    """

    def hit(self, key: Key) -> object:
        """The key was asked for, and is in the cache."""

    def miss(self, key: Key) -> object:
        """The key was asked for and comes into the cache, which has room for it now."""

    def evict(self) -> Key:
        """The cache is full. The key that leaves it."""

    def remove(self, key: Key) -> object:
        """The key is in the cache, and was discarded."""


class Request:
    """What libCacheSim's hooks are given: `obj_id`, and `obj_size`, which is 1."""

    __slots__ = ("obj_id", "obj_size")

    def __init__(self, obj_id: Key) -> None:
        self.obj_id = obj_id
        self.obj_size = 1


class CacheParams:
    """What libCacheSim's first hook is given: `cache_size`, in pages or keys."""

    def __init__(self, cache_size: int) -> None:
        self.cache_size = cache_size


class Hooks:
    """A policy of libCacheSim's hook functions, under the names that its `PluginCache` has for them."""

    def __init__(
        self,
        *,
        cache_init_hook: Callable[[Any], Any],
        cache_hit_hook: Callable[[Any, Any], object],
        cache_miss_hook: Callable[[Any, Any], object],
        cache_eviction_hook: Callable[[Any, Any], Key],
        cache_remove_hook: Callable[[Any, Key], object],
        cache_free_hook: Optional[Callable[[Any], object]] = None,
    ) -> None:
        self._init = cache_init_hook
        self._hit = cache_hit_hook
        self._miss = cache_miss_hook
        self._evict = cache_eviction_hook
        self._remove = cache_remove_hook
        self._free = cache_free_hook

    def _policy(self, size: int) -> _Hooked:
        return _Hooked(self, size)


class _Hooked:
    """Hooks with the data of one cache."""

    def __init__(self, hooks: Hooks, size: int) -> None:
        self._hooks = hooks
        self._data = hooks._init(CacheParams(size))
        self._request = Request(None)

    def hit(self, key: Key) -> None:
        self._hooks._hit(self._data, Request(key))

    def miss(self, key: Key) -> None:
        self._hooks._miss(self._data, Request(key))

    def evict(self) -> Key:
        return self._hooks._evict(self._data, self._request)

    def remove(self, key: Key) -> None:
        self._hooks._remove(self._data, key)

    def close(self) -> None:
        if self._hooks._free is not None:
            self._hooks._free(self._data)


def simulated(
    trace: Trace, size: Size, page_bytes: int, policy: Any, progress: Progress
) -> dict[str, Any]:
    """What one cache of a policy in Python did, as a document with one curve of one point."""
    with reporter(progress) as report:
        frame = _nbuf.rows(json.dumps(_inputs(trace, None)), table=trace._table, progress=report)
    if any(name == "key" for name, *_ in frame.columns()):
        page_bytes = 0
    pages = _pages(size, page_bytes) if isinstance(size, str) else whole("size", size)
    if pages < 1:
        raise Error(f"a cache of {size} holds no page: give a larger size")
    name = policy.__name__ if isinstance(policy, type) else type(policy).__name__
    made = _made(policy, pages, name)
    try:
        accesses, misses = _counted(frame, pages, page_bytes, made, name)
    finally:
        if isinstance(made, _Hooked):
            made.close()
    point = {"pages": pages, "accesses": accesses, "misses": misses}
    return {"curves": [{"policy": name, "page_bytes": page_bytes, "points": [point]}]}


def _made(policy: Any, pages: int, name: str) -> Any:
    """A policy for a cache of this size."""
    if isinstance(policy, Hooks):
        return policy._policy(pages)
    made = policy(pages) if isinstance(policy, type) else policy
    missing = [word for word in ("hit", "miss", "evict", "remove") if not callable(getattr(made, word, None))]
    if missing:
        raise Error(f"the policy {name} has no method {', '.join(missing)}: docs/python.md has an example")
    return made


def _counted(frame: _nbuf.Frame, size: int, page_bytes: int, policy: Any, name: str) -> tuple[int, int]:
    """Accesses and misses."""
    hit, miss, evict, remove = policy.hit, policy.miss, policy.evict, policy.remove
    cached: set[Key] = set()
    accesses = misses = 0
    for run, is_discard in _runs(frame, page_bytes):
        if is_discard:
            for key in run.among(cached):
                remove(key)
                cached.remove(key)
            continue
        for key in run:
            accesses += 1
            if key in cached:
                hit(key)
                continue
            misses += 1
            if len(cached) >= size:
                victim = evict()
                if victim not in cached:
                    raise Error(f"the policy {name} evicts {victim!r}, which is not in the cache")
                cached.remove(victim)
            cached.add(key)
            miss(key)
    return accesses, misses


class _Run:
    """Keys of one request: pages in a row, of a file if there are several."""

    __slots__ = ("_file", "_pages")

    def __init__(self, pages: range, file: Optional[str] = None) -> None:
        self._pages = pages
        self._file = file

    def __iter__(self) -> Iterator[Key]:
        return iter(self._pages) if self._file is None else ((self._file, page) for page in self._pages)

    def among(self, cached: set[Key]) -> list[Key]:
        """Those that are cached, in order. A discard may be of a whole disc: the shorter of both is walked."""
        if len(self._pages) <= len(cached):
            return [key for key in self if key in cached]
        if self._file is None:
            return sorted(key for key in cached if key in self._pages)
        return sorted(key for key in cached if key[0] == self._file and key[1] in self._pages)


def _runs(frame: _nbuf.Frame, page_bytes: int) -> Iterator[tuple[_Run, bool]]:
    """The keys or pages that each request asks for, in order, and whether they are discarded instead."""
    numpy = library("numpy")
    columns = {name: (numpy.asarray(numbers), texts) for name, _, numbers, texts in frame.columns()}
    ops, words = columns["op"]
    discards = {number for number, word in enumerate(words or []) if word == "discard"}
    flushes = {number for number, word in enumerate(words or []) if word == "flush"}
    for start in range(0, len(frame), _BATCH):
        part = slice(start, start + _BATCH)
        kinds = ops[part].tolist()
        if "key" in columns:
            for kind, key in zip(kinds, columns["key"][0][part].tolist()):
                if kind not in flushes:
                    yield _Run(range(key, key + 1)), kind in discards
            continue
        offsets, lengths = columns["offset_bytes"][0][part], columns["length_bytes"][0][part]
        files, names = columns.get("file", (numpy.zeros(0, "u8"), None))
        places = files[part].tolist() if names else [0] * len(kinds)
        for kind, offset, length, place in zip(kinds, offsets.tolist(), lengths.tolist(), places):
            if kind in flushes or not length:
                continue
            pages = range(offset // page_bytes, (offset + length - 1) // page_bytes + 1)
            file = names[place] if names and len(names) >= 2 else None
            yield _Run(pages, file), kind in discards
