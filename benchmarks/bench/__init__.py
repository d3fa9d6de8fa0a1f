"""What the benchmarks share: rows, peers in processes of their own, and the machine's limits."""
