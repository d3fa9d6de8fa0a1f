"""The package mlx-anywhere itself; its arrays and kernels are in the package ``mlx``."""

from importlib.metadata import version

# The version of this package. `mlx.core.__version__` is the version of MLX whose interface it has.
__version__ = version("mlx-anywhere")
