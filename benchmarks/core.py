"""The array core's kernels, products of matrices and convolutions beside PyTorch.

    python benchmarks/core.py [--only NAME] [--size small] [--calls 15] [--json]

Both compute the same inputs and are checked against NumPy; then they run in turns, with two threads
each. A ratio is PyTorch's time by ours; `kept` is PyTorch with the C library told to keep freed
memory. `make bench-peers` installs it.
"""

import core_rows
from bench import driver

if __name__ == "__main__":
    driver.main(__doc__.splitlines()[0], "core_rows", core_rows.rows)
