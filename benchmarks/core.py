"""The array core's kernels, products of matrices and convolutions beside PyTorch.

    python benchmarks/core.py [--only NAME] [--size small] [--calls 15] [--json]

Both compute the same inputs and are checked against NumPy; then they run alternately, with two
threads each. A ratio is PyTorch's time divided by ours; for `kept` the C library keeps PyTorch's
freed memory. `make bench-peers` installs it.
"""

import core_rows
from bench import driver

if __name__ == "__main__":
    driver.main(__doc__.splitlines()[0], "core_rows", core_rows.rows)
