"""Distances against the definition."""

import nbuf
import numpy
import pytest


def brute_force(pages):
    stack, found = [], []
    for page in pages:
        at = stack.index(page) + 1 if page in stack else nbuf.COLD
        found.append(at)
        if at != nbuf.COLD:
            stack.remove(page)
        stack.insert(0, page)
    return found


@pytest.mark.parametrize("seed", range(8))
def test_random_pages_are_as_deep_as_in_a_list(seed):
    random = numpy.random.default_rng(seed)
    pages = random.integers(0, 2 ** random.integers(1, 8), 1500)
    assert nbuf.distances(pages).tolist() == brute_force(pages.tolist())


def test_a_histogram_of_distances_is_the_curve(zipf):
    import pyarrow

    keys = pyarrow.table(zipf)["key"].to_numpy()
    found = nbuf.distances(keys)
    for point in nbuf.curve(zipf).points():
        assert point.hits == int((found <= point.size_pages).sum())


def test_the_result_is_an_array_that_can_be_written():
    found = nbuf.distances([3, 3, 4])
    assert found.dtype == numpy.dtype("u8") and found.flags.writeable
    found[0] = 1
    assert found.tolist() == [1, 1, nbuf.COLD]
    assert nbuf.distances(numpy.array([], dtype="u8")).tolist() == []
