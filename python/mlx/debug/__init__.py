"""A debugger of kernels: `python -m mlx.debug script.py`. docs/debugging.md describes it."""
