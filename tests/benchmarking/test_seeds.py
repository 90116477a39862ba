import hashlib
from itertools import product

from skecoc.benchmarking.seeds import seed_of


def test_the_seed_is_a_hash_of_the_identity_alone():
    digest = hashlib.blake2b(b"(0, 'folds', 'iris', 0)", digest_size=4).hexdigest()
    assert seed_of(0, "folds", "iris", 0) == int(digest, 16)


def test_different_runs_have_different_seeds():
    seeds = {seed_of(*identity) for identity in product(range(4), ["iris", "wine"], range(10), range(10))}
    assert len(seeds) == 800


def test_where_one_part_ends_matters():
    assert seed_of("a", "bc") != seed_of("ab", "c")
    assert seed_of(1, "1") != seed_of("1", 1)


def test_seeds_fit_numpy():
    assert all(0 <= seed_of(number) < 2**32 for number in range(1000))


def test_a_file_name_that_is_not_unicode():
    assert seed_of("caf\udce9.csv") != seed_of("cafe.csv")
