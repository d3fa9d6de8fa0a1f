"""The package mlx-anywhere itself; its arrays and kernels are in the package ``mlx``."""

from importlib.metadata import version

# Ours. `mlx.core.__version__` is the version of MLX whose interface this is.
__version__ = version("mlx-anywhere")
