import gc
from functools import reduce
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skecoc.data.executor import FAN_IN, LocalExecutor, States, add, merge_in_turn, merge_tree


def level_by_level(merge, summands):
    """What a cluster does: merge groups, then groups of the results, until one is left."""
    while True:
        groups = [summands[first : first + FAN_IN] for first in range(0, len(summands), FAN_IN)]
        summands = [merge_in_turn(merge, group) for group in groups]
        if len(summands) == 1:
            return summands[0]


@given(st.integers(1, 200))
def test_a_stream_is_merged_in_the_same_tree_as_a_list(n_summands):
    summands = [str(number) for number in range(n_summands)]
    assert merge_tree(lambda a, b: f"({a} {b})", iter(summands)) == level_by_level(lambda a, b: f"({a} {b})", summands)


def test_nothing_is_merged_to_nothing():
    assert merge_tree(add, []) is None
    assert merge_tree(add, [None, 2, None, 3]) == 5


def half(array):
    return array // 2


def split(array, factor):
    return array * factor, (int(array.sum()), np.array([len(array)]))


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_states_are_files_that_go_when_nothing_refers_to_them(tmp_path, n_jobs):
    arrays = [np.arange(n) for n in (5, 0, 3)]
    with LocalExecutor(tmp_path, n_jobs) as executor:
        halves = executor.map(half, States(arrays))
        states, (total, rows) = executor.step(split, halves, message=(10,))
        assert (total, rows.tolist()) == (sum(int((a // 2).sum()) for a in arrays), [8])
        assert int(executor.sum(np.sum, states)) == 10 * total
        folder = next(Path(tmp_path).iterdir())
        assert len(list(folder.iterdir())) == 6
        del halves
        gc.collect()
        assert len(list(folder.iterdir())) == 3
    assert not list(Path(tmp_path).iterdir())


def test_several_states_of_a_block_meet_in_one_call():
    with LocalExecutor() as executor:
        first, second = States([1, 2, 3]), States([10, 20, 30])
        together = executor.map(add, first, second)
        assert executor.sum(lambda x: (x,), together) == (reduce(int.__add__, [11, 22, 33]),)
