"""Layers of networks on point clouds: they take and return ragged batches."""

from mlx_sample_extensions.nn.convolution import PointConv
from mlx_sample_extensions.nn.decoder import PointCNNDecoder, PointUNet
from mlx_sample_extensions.nn.encoder import PointCNNEncoder
from mlx_sample_extensions.nn.interpolation import interpolate
from mlx_sample_extensions.nn.levels import PointLevels
from mlx_sample_extensions.nn.neighborhoods import Neighborhood, find_neighbors
from mlx_sample_extensions.nn.point_cnn import PointCNNConv
from mlx_sample_extensions.nn.pointwise import GlobalPool, PointBatchNorm, PointMLP

__all__ = [
    "GlobalPool",
    "Neighborhood",
    "PointBatchNorm",
    "PointCNNConv",
    "PointCNNDecoder",
    "PointCNNEncoder",
    "PointConv",
    "PointLevels",
    "PointMLP",
    "PointUNet",
    "find_neighbors",
    "interpolate",
]
