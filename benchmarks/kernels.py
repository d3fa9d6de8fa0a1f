"""Kernels through metal_kernel beside OpenCL on the CPU (Intel's runtime, PoCL) and PyTorch.

    python benchmarks/kernels.py [--only NAME] [--size small] [--calls 15] [--json]

Every peer computes the same inputs and is checked against NumPy first; then they run alternately,
with two threads each. A ratio is the peer's time divided by ours. PyTorch runs twice: as it is, and
as `kept`, where the C library keeps freed memory for the next result. `make bench-peers` installs
the peers; missing peers are omitted.
"""

import kernel_rows
from bench import driver

if __name__ == "__main__":
    driver.main(__doc__.splitlines()[0], "kernel_rows", kernel_rows.rows)
