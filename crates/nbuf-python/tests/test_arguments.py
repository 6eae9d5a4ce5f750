"""Arguments that cannot be are one clear exception, and cost no work."""

import nbuf
import pytest


class Lru:
    """A policy in Python that is never asked."""

    def hit(self, key): ...

    def miss(self, key): ...

    def evict(self): ...

    def remove(self, key): ...


WRONG = [
    (lambda trace: nbuf.curve(trace, page=0), "page is 0: write bytes from 1 to 1GiB"),
    (lambda trace: nbuf.curve(trace, page=1000), "page is 1000: write a power of two"),
    (lambda trace: nbuf.curve(trace, page=[4096, "3KiB"]), "page is '3KiB': write a power of two"),
    (lambda trace: nbuf.curve(trace, page="2GiB"), "page is '2GiB': write bytes from 1 to 1GiB"),
    (lambda trace: nbuf.curve(trace, page=512.5), "page is 512.5: write a whole number"),
    (lambda trace: nbuf.curve(trace, page=-4096), "page is -4096: write a whole number from 0"),
    (lambda trace: nbuf.fleet(trace, page=0), "page is 0: write bytes from 1 to 1GiB"),
    (lambda trace: nbuf.fleet(trace, page=1000), "page is 1000: write a power of two"),
    (lambda trace: nbuf.simulate(trace, size=10, page=0, policy=Lru), "page is 0: write bytes"),
    (lambda trace: nbuf.simulate(trace, size=10, page=0, disc="nvme-ssd"), "page is 0: write bytes"),
    (lambda trace: nbuf.stat(trace, page=0), "page is 0: write bytes"),
    (lambda trace: nbuf.write_trace(trace, "never", format="oracleGeneral", page=0), "page is 0: write bytes"),
    (lambda trace: nbuf.fleet(trace, budget=-1), "budget is -1: write a whole number"),
    (lambda trace: nbuf.fleet(trace, budget=0), "budget is 0: write a number of pages"),
    (lambda trace: nbuf.fleet(trace, budget="0B"), "budget is '0B': write a number of pages"),
    (lambda trace: nbuf.fleet(trace, budget=0.5), "budget is 0.5: write a whole number"),
    (lambda trace: nbuf.fleet(trace, budget=2**60), "write a number of pages"),
    (lambda trace: nbuf.fleet(trace, budget=[1]), r"budget is \[1\]: write a whole number"),
    (lambda trace: nbuf.fleet(trace, budget="10%"), "is a share"),
    (lambda trace: nbuf.fleet(trace, hit_ratio="high"), "hit_ratio is 'high': write a number"),
    (lambda trace: nbuf.fleet(trace, hit_ratio=1.0), "1.0 is no hit ratio"),
    (lambda trace: nbuf.fleet(trace, budget=9, miss_ms=-1), "miss_ms is -1: write a number that is not negative"),
    (lambda trace: nbuf.fleet(trace, budget=9, miss_price="x"), "miss_price is 'x'"),
    (lambda trace: nbuf.fleet(trace, budget=9, gib_price=float("nan")), "gib_price is nan"),
    (lambda trace: nbuf.allocate([nbuf.curve(trace)], budget=-1), "budget is -1"),
    (lambda trace: nbuf.allocate([nbuf.curve([1, 2, 1])], budget="1MiB"), "keys, which have no bytes"),
    (lambda trace: nbuf.curve(trace, seed=-1), "seed is -1: write a whole number from 0"),
    (lambda trace: nbuf.curve(trace, threads=-1), "threads is -1: write a whole number from 0"),
    (lambda trace: nbuf.curve(trace, threads=2**70), "threads is 1180591620717411303424: write"),
    (lambda trace: nbuf.simulate(trace, size=10, seed="x"), "seed is 'x': write a whole number"),
    (lambda trace: nbuf.curve(trace, sizes=[1.5]), "a size is 1.5: write a whole number"),
    (lambda trace: nbuf.simulate(trace, size=1.5), "a size is 1.5: write a whole number"),
    (lambda trace: nbuf.simulate(trace, size=1.5, policy=Lru), "size is 1.5: write a whole number"),
    (lambda trace: nbuf.curve(trace, memory=1.5), "memory is 1.5: write a whole number"),
    (lambda trace: nbuf.curve(trace, overhead=-1), "overhead is -1"),
    (lambda trace: nbuf.curve(trace, ttl=0.5), "ttl is 0.5: write a whole number"),
    (lambda trace: nbuf.curve(trace, sample=[1]), r"sample is \[1\]: write a number"),
    (lambda trace: nbuf.curve(trace, warmup="long"), "warmup is 'long': write a number"),
    (lambda trace: nbuf.generate("zipf", "never", seed=-1), "seed is -1"),
    (lambda trace: nbuf.generate("zipf", "never", accesses=1e6), "accesses is 1000000.0: write a whole number"),
    (lambda trace: nbuf.allocate(["a"], 5), "str is no curve: give what nbuf.curve returns"),
    (lambda trace: nbuf.merge({"a": 5}), "int is no curve"),
    (lambda trace: nbuf.plot("x"), "plot draws curves, and not str"),
    (lambda trace: nbuf.fleet(trace, engine=5), "int is no engine: give local, dask"),
    (lambda trace: nbuf.fleet(trace, engine="flink"), "no runner `flink`: write one of local"),
    (lambda trace: nbuf.fleet(trace, workers=0), "workers is 0: write a whole number from 1"),
    (lambda trace: nbuf.fleet(trace, policies="lru", policy_size=0), "policy_size is 0: write a whole number from 1"),
    (lambda trace: nbuf.fleet([]), "list of traces is empty"),
    (lambda trace: nbuf.fleet(7), "cannot be read from int"),
]


@pytest.mark.parametrize(("call", "words"), WRONG)
def test_an_argument_that_cannot_be(native, call, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(nbuf.Error, match=words) as raised:
        call(str(native))
    assert "\n" not in str(raised.value)
    # No plan was made, and nothing was written.
    assert not list(tmp_path.iterdir())
