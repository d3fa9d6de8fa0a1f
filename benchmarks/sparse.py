"""Sparse operations on point clouds beside the best composition in PyTorch, or nanoflann's trees.

    python benchmarks/sparse.py [--stream cpu] [--only NAME] [--size small] [--calls 15] [--json]

Every peer computes the same inputs and is checked against NumPy first; then they run alternately,
with two threads each. A ratio is the peer's time divided by ours; for `kept` the C library keeps
PyTorch's freed memory. "memory" is the share of the peer's peak memory, beyond arguments and
results, that we use. `make bench-peers` installs the peers but nanoflann, which is Debian's
libnanoflann-dev.
"""

import sparse_rows
from bench import driver

if __name__ == "__main__":
    driver.main(__doc__.splitlines()[0], "sparse_rows", sparse_rows.rows, stream="cpu")
