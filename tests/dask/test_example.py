import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "dask_cluster.py"


@pytest.mark.slow
def test_the_example_gives_on_a_cluster_what_it_gives_on_one_machine():
    done = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.count("as on one machine: True") == 2
