"""Sparse operations of point clouds beside the best composition in PyTorch, or trees.

    python benchmarks/sparse.py [--stream cpu] [--only NAME] [--size small] [--calls 15] [--json]

Every peer computes the same inputs and is checked against NumPy first; then they run in turns, with
two threads each. A ratio is the peer's time by ours; `kept` is PyTorch with the C library told to
keep freed memory. "memory" is the share of the peer's peak memory, beyond arguments and results, that
ours takes. `make bench-peers` installs the peers but nanoflann, which is Debian's libnanoflann-dev.
"""

import sparse_rows
from bench import driver

if __name__ == "__main__":
    driver.main(__doc__.splitlines()[0], "sparse_rows", sparse_rows.rows, stream="cpu")
