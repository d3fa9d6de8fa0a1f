"""Networks on point clouds beside the best composition in PyTorch: a PointConv layer and an encoder.

    python benchmarks/points.py [--stream cpu] [--only NAME] [--size small] [--calls 15] [--json]

100,000 points in 8 clouds of different sizes, 64 channels, 27 kernel cells, 16 neighbours. Everyone
is given the neighbours. PyTorch multiplies the rows of each kernel cell with its matrix and adds them
with index_add, the rows being listed by cell beforehand, outside of the time. Results are checked in
double precision first. "of FMA" is the share of the machine's multiply-adds; "memory" is the share of
PyTorch's peak memory, beyond arguments and results, that ours takes. `make bench-peers` installs
PyTorch.
"""

import point_rows
from bench import driver

if __name__ == "__main__":
    driver.main(__doc__.splitlines()[0], "point_rows", point_rows.rows, stream="cpu")
