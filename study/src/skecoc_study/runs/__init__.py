"""Experiments of any kind: their plans, the runner, the store of runs, results and their convergence."""
