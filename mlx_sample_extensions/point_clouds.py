"""Batches of point clouds with different numbers of points, without padding."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import mlx.core as mx
import mlx.utils
from mlx_sample_extensions._ext import (
    knn,
    radius_search,
    repeat_interleave,
    scatter,
    segment_reduce,
)
from mlx_sample_extensions.errors import refuse
from mlx_sample_extensions.subsampling import grid_subsample

INDEX_TYPES = (mx.int32, mx.uint32, mx.int64)


class _Clouds(ABC):
    """The base of the batches: points of all clouds one after the other."""

    positions: mx.array
    features: mx.array | None
    # A cache of structures that depend on the points, such as neighbours. Batches that differ only
    # in features share it.
    _structures: dict[Any, Any]

    # ---- properties ----

    @property
    @abstractmethod
    def lengths(self) -> mx.array:
        """The number of points of each cloud, of shape (B,)."""

    @property
    @abstractmethod
    def offsets(self) -> mx.array:
        """The start of each cloud, and the end, of shape (B + 1,)."""

    @property
    @abstractmethod
    def batch_size(self) -> int:
        """The number of clouds, B."""

    @property
    def total_points(self) -> int:
        """The number of points of all clouds, T."""
        return self.positions.shape[0]

    @property
    def indices(self) -> mx.array:
        """The cloud of each point, of shape (T,)."""
        if self._indices is None:
            numbers = mx.arange(self.batch_size, dtype=mx.int32)
            self._indices = repeat_interleave(
                numbers, self.lengths, 0, self.total_points, check=False
            )
        return self._indices

    def __len__(self) -> int:
        return self.batch_size

    def __repr__(self) -> str:
        features = "" if self.features is None else f", features={self.features.shape}"
        return (
            f"{type(self).__name__}(batch_size={self.batch_size}, "
            f"positions={self.positions.shape}{features})"
        )

    # ---- access ----

    def get_points(self, batch_idx: int) -> mx.array:
        """Positions of one cloud, of shape (points, D). Negative numbers count from the end."""
        start, end = self._range(batch_idx)
        return self.positions[start:end]

    def get_features(self, batch_idx: int) -> mx.array | None:
        """Features of one cloud, or None."""
        start, end = self._range(batch_idx)
        return None if self.features is None else self.features[start:end]

    def gather_by_index(self, idx: mx.array, *, check: bool = True) -> mx.array:
        """Positions of the points with the indices idx among all: idx's shape, then D."""
        idx = _index_array(self, "idx", idx)
        if check and idx.size and not 0 <= idx.min().item() <= idx.max().item() < self.total_points:
            _refuse(
                self,
                f"Invalid idx: its values must be in [0, {self.total_points}), but they go from "
                f"{idx.min().item()} to {idx.max().item()}.",
            )
        return mx.take(self.positions, idx, axis=0)

    def __getitem__(self, which: Any) -> "_Clouds":
        """The batch of the chosen clouds: an index, a slice, or a list or array of indices."""
        if getattr(which, "ndim", None) == 0:
            which = which.item()
        if isinstance(which, slice):
            start, stop, step = which.indices(self.batch_size)
            if step == 1:
                return self._stretch(start, max(start, stop))
            which = range(start, stop, step)
        elif isinstance(which, int):
            number = self._number(which)
            return self._stretch(number, number + 1)
        chosen = which.tolist() if hasattr(which, "tolist") else list(which)
        if any(isinstance(number, bool) for number in chosen):
            if len(chosen) != self.batch_size:
                _refuse(self, f"A mask must have {self.batch_size} values, not {len(chosen)}.")
            chosen = [number for number, wanted in enumerate(chosen) if wanted]
        numbers = mx.array([self._number(number) for number in chosen], dtype=mx.int32)
        lengths = self.lengths[numbers]
        total = int(lengths.sum().item())
        shift = self.offsets[numbers] - (mx.cumsum(lengths) - lengths)
        rows = mx.arange(total) + repeat_interleave(shift, lengths, 0, total, check=False)
        return self._with_rows(rows, lengths)

    def __iter__(self) -> Iterator["_Clouds"]:
        return (self[number] for number in range(self.batch_size))

    # ---- computation ----

    def segment_reduce(self, values: mx.array, operation: str = "sum") -> mx.array:
        """Values (T, ...) reduced over each cloud, as ``segment_reduce`` does: (B, ...)."""
        return segment_reduce(values, self.lengths, operation, check=False)

    def knn(self, k: int, queries: "_Clouds | None" = None) -> tuple[mx.array, mx.array, mx.array]:
        """The k nearest points of each query (by default of each point) in its cloud, as ``knn``."""
        queries = self._check_queries(queries)
        return knn(self.positions, queries.positions, k, self.lengths, queries.lengths, check=False)

    def radius_search(
        self, radius: float, max_neighbors: int, queries: "_Clouds | None" = None
    ) -> tuple[mx.array, mx.array, mx.array]:
        """The points near each query (by default each point) in its cloud, as ``radius_search``."""
        queries = self._check_queries(queries)
        return radius_search(
            self.positions,
            queries.positions,
            radius,
            max_neighbors,
            self.lengths,
            queries.lengths,
            check=False,
        )

    def grid_subsample(self, size: float, reduce: str = "mean") -> "_Clouds":
        """The batch with one point for each cell of a grid, as ``grid_subsample``."""
        positions, features, lengths, _ = grid_subsample(
            self.positions, size, self.features, self.lengths, reduce, check=False
        )
        return self._like(positions, features, lengths)

    def replace(self, positions: mx.array, features: mx.array | None = None) -> "_Clouds":
        """The batch with other points in the same clouds: positions (T, D), features (T, ...)."""
        _check_points(self, positions, features)
        if positions.shape[0] != self.total_points:
            _refuse(
                self,
                f"positions must have {self.total_points} rows, as before, but they have shape "
                f"{positions.shape}.",
            )
        batch = self._like(positions, features, self.lengths)
        if positions is self.positions:
            batch._structures = self._structures
        return batch

    # ---- padded arrays ----

    def to_dense(self, max_len: int | None = None) -> mx.array:
        """Positions with a row for each cloud, of shape (B, max_len, D), filled up with zeros.

        Args:
            max_len: Points of a row; by default those of the largest cloud. Larger clouds are cut.
        """
        return self.to_padded(max_len)[0]

    def to_padded(self, max_len: int | None = None) -> tuple[mx.array, mx.array | None, mx.array]:
        """Positions as from ``to_dense``, features (B, max_len, ...) likewise, and a mask
        (B, max_len) of bool that tells which elements are points."""
        if max_len is None:
            max_len = int(self.lengths.max().item()) if self.batch_size else 0
        if max_len < 0:
            _refuse(self, f"Invalid max_len {max_len}: it must not be negative.")
        place = mx.arange(max_len)[None]
        mask = place < self.lengths[:, None]
        rows = mx.where(mask, self.offsets[:-1, None] + place, 0)

        def padded(values: mx.array) -> mx.array:
            if not self.total_points:
                return mx.zeros((*mask.shape, *values.shape[1:]), values.dtype)
            shape = (*mask.shape, *[1] * (values.ndim - 1))
            gathered = mx.take(values, rows, axis=0)
            return mx.where(mask.reshape(shape), gathered, mx.zeros((), values.dtype))

        features = None if self.features is None else padded(self.features)
        return padded(self.positions), features, mask

    @classmethod
    def from_dense(
        cls,
        positions: mx.array,
        mask: mx.array | None = None,
        features: mx.array | None = None,
        lengths: mx.array | None = None,
    ) -> "_Clouds":
        """The batch of a padded array.

        Args:
            positions: Positions, of shape (B, max_len, D).
            mask: Which elements are points, of shape (B, max_len); by default all.
            features: Features, of shape (B, max_len, ...).
            lengths: Instead of a mask: how many elements at the start of each row are points.
        """
        if positions.ndim != 3:
            _refuse(cls, f"positions must have shape (B, max_len, D), not {positions.shape}.")
        clouds, places, _ = positions.shape
        if mask is not None and lengths is not None:
            _refuse(cls, "Either mask or lengths may be given, but not both.")
        if lengths is not None:
            lengths = _index_array(cls, "lengths", lengths)
            if lengths.shape != (clouds,) or (clouds and lengths.max().item() > places):
                _refuse(cls, f"lengths must be {clouds} values of at most {places}.")
            mask = mx.arange(places)[None] < lengths[:, None]
        elif mask is None:
            mask = mx.ones((clouds, places), mx.bool_)
        if mask.shape != (clouds, places):
            _refuse(cls, f"mask must have shape {(clouds, places)}, not {mask.shape}.")
        if features is not None and features.shape[:2] != (clouds, places):
            _refuse(cls, f"features must begin with {(clouds, places)}, not {features.shape}.")
        flat = mask.astype(mx.bool_).reshape(-1).tolist()
        rows = mx.array([row for row, there in enumerate(flat) if there], dtype=mx.int32)

        def ragged(values: mx.array) -> mx.array:
            return mx.take(values.reshape(clouds * places, *values.shape[2:]), rows, axis=0)

        return cls._make(
            ragged(positions),
            None if features is None else ragged(features),
            mask.astype(mx.int32).sum(1),
        )

    @classmethod
    def concatenate(cls, batches: Sequence["_Clouds"]) -> "_Clouds":
        """The clouds of several batches, of either class, in one batch of this class."""
        batches = list(batches)
        if not batches:
            _refuse(cls, "There must be at least one batch to concatenate.")
        with_features = [batch.features is not None for batch in batches]
        if any(with_features) and not all(with_features):
            _refuse(cls, "Either all batches must have features, or none.")
        return cls._make(
            mx.concatenate([batch.positions for batch in batches]),
            mx.concatenate([batch.features for batch in batches]) if all(with_features) else None,
            mx.concatenate([batch.lengths.astype(mx.int32) for batch in batches]),
        )

    # ---- implementation ----

    @classmethod
    @abstractmethod
    def _make(cls, positions: mx.array, features: mx.array | None, lengths: mx.array) -> "_Clouds":
        """A batch of the class."""

    def _like(self, positions: mx.array, features: mx.array | None, lengths: mx.array) -> "_Clouds":
        return self._make(positions, features, lengths)

    def _number(self, number: int) -> int:
        if not -self.batch_size <= number < self.batch_size:
            raise IndexError(
                f"[{type(self).__name__}] Cloud {number} is out of range: there are "
                f"{self.batch_size}."
            )
        return number % self.batch_size

    def _range(self, number: int) -> tuple[int, int]:
        if self._host_offsets is None:
            self._host_offsets = self.offsets.tolist()
        number = self._number(number)
        return self._host_offsets[number], self._host_offsets[number + 1]

    def _stretch(self, start: int, stop: int) -> "_Clouds":
        if start == stop:
            first = last = 0
        else:
            first, last = self._range(start)[0], self._range(stop - 1)[1]
        features = None if self.features is None else self.features[first:last]
        return self._like(self.positions[first:last], features, self.lengths[start:stop])

    def _with_rows(self, rows: mx.array, lengths: mx.array) -> "_Clouds":
        features = None if self.features is None else mx.take(self.features, rows, axis=0)
        return self._like(mx.take(self.positions, rows, axis=0), features, lengths)

    def _check_queries(self, queries: "_Clouds | None") -> "_Clouds":
        if queries is None:
            return self
        if queries.batch_size != self.batch_size:
            _refuse(
                self,
                f"queries must have as many clouds, {self.batch_size}, but they have "
                f"{queries.batch_size}.",
            )
        return queries


class PointCloudBatch(_Clouds):
    """Point clouds with a length for each.

    A tree for transformations: positions and features are its children, so that ``mx.grad`` for a
    batch gives a batch of gradients, with the same lengths.

    Args:
        positions: Points of all clouds, of shape (T, D).
        features: Features of the points, of shape (T, ...).
        lengths: Points of each cloud, of shape (B,), in sum T; by default all are one cloud.
        indices: The cloud of each point, of shape (T,), in ascending order: known to the caller, or
            instead of lengths, and then clouds up to the largest number exist.
        check: Whether the values of lengths and indices are checked, which evaluates them.

    Raises:
        ValueError: If an argument is not as described.
    """

    def __init__(
        self,
        positions: mx.array,
        features: mx.array | None = None,
        lengths: mx.array | None = None,
        indices: mx.array | None = None,
        *,
        check: bool = True,
    ) -> None:
        _check_points(self, positions, features)
        total = positions.shape[0]
        if indices is not None:
            indices = _index_array(self, "indices", indices)
            if indices.shape != (total,):
                _refuse(self, f"indices must have shape ({total},), not {indices.shape}.")
            if (
                check
                and total
                and (indices[0].item() < 0 or (indices[1:] < indices[:-1]).any().item())
            ):
                _refuse(self, "Invalid indices: they must not be negative, and in ascending order.")
        if lengths is None and indices is None:
            lengths = mx.array([total], dtype=mx.int32)
        elif lengths is None:
            count = int(indices[-1].item()) + 1 if total else 0
            lengths = scatter(mx.ones((total,), mx.int32), indices, 0, count, check=False)
        else:
            lengths = _index_array(self, "lengths", lengths)
            if lengths.ndim != 1:
                _refuse(self, f"lengths must have one dimension, not shape {lengths.shape}.")
            if check:
                _check_lengths(self, lengths, total)
                _check_agreement(self, lengths, indices)
        self._set(positions, features, lengths, indices)

    def _set(self, positions: Any, features: Any, lengths: mx.array, indices: Any = None) -> None:
        self.positions, self.features = positions, features
        self._lengths, self._indices = lengths, indices
        self._offsets = self._host_offsets = None
        self._structures = {}

    @classmethod
    def _make(cls, positions: Any, features: Any, lengths: mx.array) -> "PointCloudBatch":
        batch = cls.__new__(cls)
        batch._set(positions, features, lengths)
        return batch

    @property
    def lengths(self) -> mx.array:
        return self._lengths

    @property
    def offsets(self) -> mx.array:
        if self._offsets is None:
            self._offsets = _offsets(self._lengths)
        return self._offsets

    @property
    def batch_size(self) -> int:
        return self._lengths.shape[0]

    def to_offsets(self) -> "OffsetPointCloudBatch":
        """The same clouds with offsets."""
        return OffsetPointCloudBatch._make(self.positions, self.features, self.lengths)


class OffsetPointCloudBatch(_Clouds):
    """Point clouds with the offsets where they begin: access to one costs nothing.

    A tree for transformations, as :class:`PointCloudBatch` is.

    Args:
        positions: Points of all clouds, of shape (T, D).
        features: Features of the points, of shape (T, ...).
        offsets: Where each cloud begins, and T, of shape (B + 1,); by default all are one cloud.
        check: Whether the values of offsets are checked, which evaluates them.

    Raises:
        ValueError: If an argument is not as described.
    """

    def __init__(
        self,
        positions: mx.array,
        features: mx.array | None = None,
        offsets: mx.array | None = None,
        *,
        check: bool = True,
    ) -> None:
        _check_points(self, positions, features)
        total = positions.shape[0]
        if offsets is None:
            offsets = mx.array([0, total], dtype=mx.int32)
        offsets = _index_array(self, "offsets", offsets)
        if offsets.ndim != 1 or offsets.shape[0] < 1:
            _refuse(self, f"offsets must have shape (clouds + 1,), not {offsets.shape}.")
        if check:
            ends = offsets[0].item(), offsets[-1].item()
            if ends != (0, total) or (offsets[1:] < offsets[:-1]).any().item():
                _refuse(
                    self,
                    f"Invalid offsets: they must go from 0 up to the number of points, {total}, "
                    f"and never down, but they go from {ends[0]} to {ends[1]}.",
                )
        self._set(positions, features, offsets)

    def _set(self, positions: Any, features: Any, offsets: mx.array) -> None:
        self.positions, self.features, self._offsets = positions, features, offsets
        self._lengths = self._indices = self._host_offsets = None
        self._structures = {}

    @classmethod
    def _make(cls, positions: Any, features: Any, lengths: mx.array) -> "OffsetPointCloudBatch":
        batch = cls.__new__(cls)
        batch._set(positions, features, _offsets(lengths))
        return batch

    @property
    def lengths(self) -> mx.array:
        if self._lengths is None:
            self._lengths = self._offsets[1:] - self._offsets[:-1]
        return self._lengths

    @property
    def offsets(self) -> mx.array:
        return self._offsets

    @property
    def batch_size(self) -> int:
        return self._offsets.shape[0] - 1

    def as_lengths(self) -> mx.array:
        """The number of points of each cloud, of shape (B,)."""
        return self.lengths

    def to_lengths(self) -> PointCloudBatch:
        """The same clouds with lengths."""
        return PointCloudBatch._make(self.positions, self.features, self.lengths)


Clouds = _Clouds  # the type of arguments: a batch of either class


def _offsets(lengths: mx.array) -> mx.array:
    return mx.concatenate([mx.zeros((1,), mx.int32), mx.cumsum(lengths.astype(mx.int32))])


def _refuse(owner: Any, message: str) -> None:
    refuse(owner.__name__ if isinstance(owner, type) else type(owner).__name__, message)


def _index_array(owner: Any, name: str, values: Any) -> mx.array:
    values = values if isinstance(values, mx.array) else mx.array(values)
    if not values.size and values.dtype == mx.float32:
        values = values.astype(mx.int32)  # an empty list becomes float32
    if values.dtype not in INDEX_TYPES:
        _refuse(owner, f"{name} must be int32, uint32 or int64, but it is {values.dtype}.")
    return values


def _check_points(owner: Any, positions: Any, features: Any) -> None:
    for name, values in (("positions", positions), ("features", features)):
        if not isinstance(values, mx.array) and (name == "positions" or values is not None):
            raise TypeError(
                f"[{type(owner).__name__}] {name} must be an array, not {type(values).__name__}."
            )
    if positions.ndim != 2:
        _refuse(owner, f"positions must have shape (points, D), not {positions.shape}.")
    if features is not None and (features.ndim == 0 or features.shape[0] != positions.shape[0]):
        _refuse(
            owner,
            f"features must have as many rows as positions, {positions.shape[0]}, but they have "
            f"shape {features.shape}.",
        )


def _check_lengths(owner: Any, lengths: mx.array, total: int) -> None:
    if lengths.size and lengths.astype(mx.int64).min().item() < 0:
        _refuse(owner, "Invalid lengths: they must not be negative.")
    found = lengths.astype(mx.int64).sum().item() if lengths.size else 0
    if found != total:
        _refuse(owner, f"Invalid lengths: their sum is {found}, but there are {total} points.")


def _check_agreement(owner: Any, lengths: mx.array, indices: mx.array | None) -> None:
    if indices is None or not indices.size:
        return
    numbers = mx.arange(lengths.shape[0], dtype=indices.dtype)
    if not mx.array_equal(repeat_interleave(numbers, lengths, 0), indices).item():
        _refuse(owner, "Invalid indices: they do not say what lengths say.")


def _register(cls: type[_Clouds], parts: tuple[str, ...]) -> None:
    def flatten(batch: _Clouds) -> tuple[dict, tuple]:
        children = {"positions": batch.positions}
        if batch.features is not None:
            children["features"] = batch.features
        return children, tuple(getattr(batch, part) for part in parts)

    def unflatten(children: dict, rest: tuple) -> _Clouds:
        batch = cls.__new__(cls)
        batch._set(children["positions"], children.get("features"), *rest)
        return batch

    mlx.utils.register_tree_class(cls, flatten, unflatten)


_register(PointCloudBatch, ("_lengths", "_indices"))
_register(OffsetPointCloudBatch, ("_offsets",))
