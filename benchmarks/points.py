"""Networks on point clouds beside the best composition in PyTorch: a PointConv layer and an encoder.

    python benchmarks/points.py [--stream cpu] [--only NAME] [--size small] [--calls 15] [--json]

There are 100,000 points in 8 clouds of different sizes, with 64 channels, 27 kernel cells and 16
neighbours, which are inputs of all peers. PyTorch multiplies the rows of each kernel cell by its
matrix and adds them with index_add; the lists of rows are made before the timed part. Results are
first checked in double precision. "of FMA" is the share of the machine's peak of multiply-adds;
"memory" is the share of PyTorch's peak memory, beyond arguments and results, that we use.
`make bench-peers` installs PyTorch.
"""

import point_rows
from bench import driver

if __name__ == "__main__":
    driver.main(__doc__.splitlines()[0], "point_rows", point_rows.rows, stream="cpu")
