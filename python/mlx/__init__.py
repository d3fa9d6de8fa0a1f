"""Arrays with MLX's API and Metal kernels on machines that Apple does not make."""

from mlx._conflicts import refuse_conflicts

refuse_conflicts()
del refuse_conflicts
