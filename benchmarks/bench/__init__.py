"""The common parts of the benchmarks: rows, peers in separate processes, the machine's limits."""
