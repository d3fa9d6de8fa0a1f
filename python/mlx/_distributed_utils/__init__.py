"""The commands ``mlx.launch`` and ``mlx.distributed_config``."""
