"""Policies in Python hit what the same policies of the library hit."""

from collections import OrderedDict, deque

import nbuf
import numpy
import pytest


class Lru:
    def __init__(self, size):
        self.pages = OrderedDict()

    def hit(self, key):
        self.pages.move_to_end(key)

    def miss(self, key):
        self.pages[key] = None

    def evict(self):
        return self.pages.popitem(last=False)[0]

    def remove(self, key):
        del self.pages[key]


class Fifo:
    def __init__(self, size):
        self.size, self.pages = size, deque()

    def hit(self, key):
        pass

    def miss(self, key):
        self.pages.append(key)
        assert len(self.pages) <= self.size

    def evict(self):
        return self.pages.popleft()

    def remove(self, key):
        self.pages.remove(key)


HOOKS = nbuf.Hooks(
    cache_init_hook=lambda parameters: OrderedDict(size=parameters.cache_size),
    cache_hit_hook=lambda data, request: data.move_to_end(request.obj_id),
    cache_miss_hook=lambda data, request: data.update({request.obj_id: request.obj_size}),
    # The first is the size.
    cache_eviction_hook=lambda data, request: data.popitem(last=False)[0]
    if next(iter(data)) != "size"
    else (data.pop("size"), data.popitem(last=False)[0])[1],
    cache_remove_hook=lambda data, obj_id: data.pop(obj_id),
    cache_free_hook=lambda data: data.clear(),
)


@pytest.mark.parametrize("size", [1, 7, 200, 5000])
@pytest.mark.parametrize("name, policy", [("lru", Lru), ("fifo", Fifo), ("lru", HOOKS)])
def test_a_policy_in_python_hits_what_that_of_the_library_hits(zipf, native, requests, name, policy, size):
    texts = nbuf.read_trace(key=numpy.array(["a", "b", "a", "c", "a", "b"] * 9))
    for trace in (zipf, native, requests, requests.drop_columns("file"), texts):
        want = nbuf.simulate(trace, policy=name, size=size)
        assert nbuf.simulate(trace, policy=policy, size=size).hit_ratio == want.hit_ratio
    for text in (f"{64 * size}KiB", f"{size}p"):
        pages = {"size": text, "page": "64KiB"}
        want = nbuf.simulate(native, policy=name, **pages)
        assert nbuf.simulate(native, policy=policy, **pages).hit_ratio == want.hit_ratio


def test_a_policy_that_is_made_already_is_used_as_it_is(zipf):
    own = Lru(0)
    assert nbuf.simulate(zipf, policy=own, size=50).to_dict()["curves"][0]["policy"] == "Lru"
    assert len(own.pages) == 50


class Liar(Lru):
    def evict(self):
        return -1


class Silent:
    def hit(self, key):
        pass


class Broken(Lru):
    def hit(self, key):
        raise ZeroDivisionError("mine")


@pytest.mark.parametrize(
    "options, words",
    [
        ({"policy": Liar, "size": 5}, "evicts -1, which is not in the cache"),
        ({"policy": Silent(), "size": 5}, "Silent has no method miss, evict, remove"),
        ({"policy": Lru, "size": 0}, "holds no page"),
        ({"policy": Lru, "size": "1MiB"}, "have no bytes"),
        ({"policy": Lru, "size": 5, "disc": "nvme-ssd"}, "no disc behind it"),
    ],
)
def test_what_a_policy_does_wrong_is_said(zipf, options, words):
    with pytest.raises(nbuf.Error, match=words):
        nbuf.simulate(zipf, **options)


def test_an_error_of_the_policy_is_its_own(zipf):
    with pytest.raises(ZeroDivisionError, match="mine"):
        nbuf.simulate(zipf, policy=Broken, size=5)


def test_a_discard_of_a_whole_disc_is_not_walked_page_by_page():
    ops = numpy.array(["read", "read", "discard", "read", "read"])
    offsets = numpy.array([4096, 1 << 40, 8192, 4096, 1 << 40], "u8")
    lengths = numpy.array([4096, 4096, 1 << 50, 4096, 4096], "u8")
    trace = nbuf.read_trace(op=ops, offset=offsets, length=lengths)
    want = nbuf.simulate(trace, policy="lru", size=10)
    assert want.hit_ratio == 0.25
    assert nbuf.simulate(trace, policy=Lru, size=10).hit_ratio == want.hit_ratio
