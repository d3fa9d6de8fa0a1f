"""Operations of mlx.core, and a transformer built of them, beside PyTorch.

    python benchmarks/ops.py [--only NAME] [--size small] [--calls 15] [--json]

Both compute the same inputs and are checked against NumPy; then they run alternately, with two
threads each. A ratio is PyTorch's time divided by ours; for `kept` the C library keeps PyTorch's
freed memory. Rows named "x 100" call a small operation 100 times. `make bench-peers` installs
PyTorch.
"""

import ops_rows
from bench import driver

if __name__ == "__main__":
    driver.main(__doc__.splitlines()[0], "ops_rows", ops_rows.rows)
