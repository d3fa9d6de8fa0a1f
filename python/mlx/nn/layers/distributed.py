"""Layers whose parameters are divided among the processes of a group.

The two kinds of linear layers are used in pairs: the first divides its outputs among the processes,
the second sums the products of these parts, as in Shoeybi et al. (2019), *Megatron-LM: training
multi-billion parameter language models using model parallelism*.
"""

import math
from collections.abc import Callable
from typing import Any

import mlx.core as mx
from mlx.nn.layers.base import Module, is_floating
from mlx.nn.layers.linear import Linear
from mlx.nn.layers.quantized import Quantized
from mlx.utils import tree_flatten, tree_map_with_path, tree_unflatten

Group = mx.distributed.Group
# The return values of a predicate of `shard_inplace`.
Sharding = int | tuple[int, int | list] | None


def sum_gradients(group: Group) -> Callable[[mx.array], mx.array]:
    """A function that returns its argument, and whose gradient is summed over the processes."""
    if group.size() == 1:
        return lambda x: x

    @mx.custom_function
    def identity(x: mx.array) -> mx.array:
        return x

    @identity.vjp
    def summed(x: mx.array, cotangent: mx.array, _: mx.array) -> mx.array:
        return mx.distributed.all_sum(cotangent, group=group)

    return identity


# ---- parts of parameters ----


def _part(x: mx.array, axis: int, segments: int | list, group: Group) -> mx.array:
    """This process's part of an array: an equal part of each of its segments."""
    count, rank = group.size(), group.rank()
    if count == 1:
        return x
    bounds = segments if isinstance(segments, int) else _positions(segments, x.shape[axis])
    pieces = mx.split(x, bounds, axis=axis)
    mine = [mx.split(piece, count, axis=axis)[rank] for piece in pieces]
    return mx.contiguous(mx.concatenate(mine, axis=axis))


def _positions(segments: list, size: int) -> list[int]:
    """Where segments end; numbers between 0 and 1 are fractions of the size."""
    return [int(s * size) if isinstance(s, float) and 0 < s < 1 else int(s) for s in segments]


def _axis_all_to_sharded(path: str, weight: mx.array) -> int:
    return max(weight.ndim - 2, 0)


def _axis_sharded_to_all(path: str, weight: mx.array) -> int | None:
    # Every process has the whole bias.
    return None if path.rpartition(".")[2] == "bias" else -1


_AXES = {"all-to-sharded": _axis_all_to_sharded, "sharded-to-all": _axis_sharded_to_all}


def _check_sharding(sharding: Any) -> None:
    if sharding not in _AXES:
        raise ValueError(
            f"Argument sharding={sharding!r} is not supported, choose one of"
            f" {' or '.join(map(repr, _AXES))}."
        )


def _parts(
    parameters: Any,
    sharding: str | Callable[[str, mx.array], Sharding],
    segments: int | list,
    group: Group,
) -> Any:
    """The same tree with this process's parts of its arrays."""
    predicate = _AXES[sharding] if isinstance(sharding, str) else sharding

    def part(path: str, weight: mx.array) -> mx.array:
        how = predicate(path, weight)
        if how is None:
            return weight
        axis, own_segments = how if isinstance(how, tuple) else (how, segments)
        return _part(weight, axis, own_segments, group)

    return tree_map_with_path(part, parameters)


def shard_inplace(
    module: Module,
    sharding: str | Callable[[str, mx.array], Sharding],
    *,
    segments: int | list = 1,
    group: Group | None = None,
) -> None:
    """Replaces the parameters of a module by this process's parts of them.

    What the module computes stays as it is: see :func:`shard_linear` for layers that communicate.

    Args:
        module: The module, which is changed.
        sharding: ``"all-to-sharded"`` divides outputs, ``"sharded-to-all"`` inputs. Or a function of
            a parameter's path and value that returns an axis, an axis and segments, or None for
            parameters to leave alone.
        segments: Several matrices may lie one after the other, each of which is divided: their
            number, or where they end, as positions or fractions of the size.
        group: The processes; all of them if None.

    Raises:
        ValueError: If there is no such sharding, or a size cannot be divided equally.
    """
    if not callable(sharding):
        _check_sharding(sharding)
    group = group or mx.distributed.init()
    module.update(_parts(module.parameters(), sharding, segments, group))


def shard_linear(
    module: Module, sharding: str, *, segments: int | list = 1, group: Group | None = None
) -> Module:
    """Makes a layer that has this process's part of a linear layer.

    Args:
        module: A :class:`Linear` or :class:`QuantizedLinear`.
        sharding: ``"all-to-sharded"`` divides outputs: an :class:`AllToShardedLinear`.
            ``"sharded-to-all"`` divides inputs: a :class:`ShardedToAllLinear`.
        segments: See :func:`shard_inplace`.
        group: The processes; all of them if None.

    Raises:
        ValueError: If there is no such sharding, or a size cannot be divided equally.
    """
    _check_sharding(sharding)
    outputs = sharding == "all-to-sharded"
    if isinstance(module, Linear):
        linear = AllToShardedLinear if outputs else ShardedToAllLinear
        return linear.from_linear(module, segments=segments, group=group)
    quantized = QuantizedAllToShardedLinear if outputs else QuantizedShardedToAllLinear
    return quantized.from_quantized_linear(module, segments=segments, group=group)


def _divided(what: str, size: int, group: Group) -> int:
    if size % group.size() != 0:
        raise ValueError(f"Cannot shard the {what} of size {size} across {group.size()} devices.")
    return size // group.size()


# ---- linear layers ----


class AllToShardedLinear(Module):
    """A linear layer of which each process computes a part of the outputs.

    All processes have the same input. This one has ``weight`` of shape
    (output_dims / processes, input_dims) and ``bias`` of shape (output_dims / processes,).

    Args:
        input_dims: The size of the input's last axis.
        output_dims: The size of the output's, in all processes together.
        bias: Whether there is a ``bias``.
        group: The processes; all of them if None.

    Raises:
        ValueError: If ``output_dims`` cannot be divided equally.
    """

    def __init__(
        self, input_dims: int, output_dims: int, bias: bool = True, group: Group | None = None
    ) -> None:
        super().__init__()
        scale = math.sqrt(1.0 / input_dims)
        self.group = group or mx.distributed.init()
        outputs = _divided("output", output_dims, self.group)
        self.weight = mx.random.uniform(-scale, scale, (outputs, input_dims))
        if bias:
            self.bias = mx.random.uniform(-scale, scale, (outputs,))

    def _extra_repr(self) -> str:
        outputs, inputs = self.weight.shape
        outputs *= self.group.size()
        return f"input_dims={inputs}, output_dims={outputs}, bias={'bias' in self}"

    def __call__(self, x: mx.array) -> mx.array:
        x = sum_gradients(self.group)(x)
        if "bias" in self:
            return mx.addmm(self["bias"], x, self["weight"].T)
        return x @ self["weight"].T

    @classmethod
    def from_linear(
        cls, linear_layer: Module, *, segments: int | list = 1, group: Group | None = None
    ) -> "AllToShardedLinear":
        """A layer with this process's part of a :class:`Linear`; see :func:`shard_inplace`."""
        outputs, inputs = linear_layer.weight.shape
        layer = cls(inputs, outputs, False, group)
        _take_parts(layer, linear_layer, "all-to-sharded", segments)
        return layer


class ShardedToAllLinear(Module):
    """A linear layer of which each process has a part of the inputs.

    All processes get the whole output. This one has ``weight`` of shape
    (output_dims, input_dims / processes) and the whole ``bias``, of shape (output_dims,).

    Args:
        input_dims: The size of the input's last axis, in all processes together.
        output_dims: The size of the output's.
        bias: Whether there is a ``bias``.
        group: The processes; all of them if None.

    Raises:
        ValueError: If ``input_dims`` cannot be divided equally.
    """

    def __init__(
        self, input_dims: int, output_dims: int, bias: bool = True, group: Group | None = None
    ) -> None:
        super().__init__()
        scale = math.sqrt(1.0 / input_dims)
        self.group = group or mx.distributed.init()
        inputs = _divided("input", input_dims, self.group)
        self.weight = mx.random.uniform(-scale, scale, (output_dims, inputs))
        if bias:
            self.bias = mx.random.uniform(-scale, scale, (output_dims,))

    def _extra_repr(self) -> str:
        outputs, inputs = self.weight.shape
        inputs *= self.group.size()
        return f"input_dims={inputs}, output_dims={outputs}, bias={'bias' in self}"

    def __call__(self, x: mx.array) -> mx.array:
        y = mx.distributed.all_sum(x @ self["weight"].T, group=self.group)
        return y + self["bias"] if "bias" in self else y

    @classmethod
    def from_linear(
        cls, linear_layer: Module, *, segments: int | list = 1, group: Group | None = None
    ) -> "ShardedToAllLinear":
        """A layer with this process's part of a :class:`Linear`; see :func:`shard_inplace`."""
        outputs, inputs = linear_layer.weight.shape
        layer = cls(inputs, outputs, False, group)
        _take_parts(layer, linear_layer, "sharded-to-all", segments)
        return layer


def _take_parts(layer: Any, whole: Module, sharding: str, segments: int | list) -> None:
    """Gives a layer its process's parts of another layer's parameters."""
    parts = _parts(whole.parameters(), sharding, segments, layer.group)
    for name, value in parts.items():
        setattr(layer, name, value)


# ---- quantised linear layers ----


class _QuantizedPart(Quantized):
    """The base of the quantised layers here. Their parameters are always frozen."""

    group: Group

    def unfreeze(self, *args: Any, **kwargs: Any) -> "_QuantizedPart":
        """Unfreezes modules below; the layer's own parameters stay frozen."""
        super().unfreeze(*args, **kwargs)
        self.freeze(recurse=False)
        return self


class QuantizedAllToShardedLinear(_QuantizedPart):
    """The same as :class:`AllToShardedLinear`, with a quantised matrix.

    Args:
        input_dims: The size of the input's last axis.
        output_dims: The size of the output's, in all processes together.
        bias: Whether there is a ``bias``.
        group_size: The number of weights that share a scale; if None, that of the mode.
        bits: The number of bits of a weight; if None, that of the mode.
        mode: The kind of quantisation.
        group: The processes; all of them if None.

    Raises:
        ValueError: If ``output_dims`` cannot be divided equally.
    """

    def __init__(
        self,
        input_dims: int,
        output_dims: int,
        bias: bool = True,
        group_size: int | None = 64,
        bits: int | None = 4,
        mode: str = "affine",
        group: Group | None = None,
    ) -> None:
        super().__init__(group_size, bits, mode)
        self.group = group or mx.distributed.init()
        scale = math.sqrt(1 / input_dims)
        outputs = _divided("output", output_dims, self.group)
        self._set_weight(mx.random.uniform(-scale, scale, (outputs, input_dims)))
        if bias:
            self.bias = mx.zeros((outputs,))
        self.freeze()

    def _extra_repr(self) -> str:
        return (
            f"input_dims={self._columns()},"
            f" output_dims={self.weight.shape[0] * self.group.size()},"
            f" bias={'bias' in self}, {self._text_of_settings()}"
        )

    def __call__(self, x: mx.array) -> mx.array:
        y = self._product(sum_gradients(self.group)(x))
        return y + self["bias"] if "bias" in self else y

    @classmethod
    def from_quantized_linear(
        cls,
        quantized_linear_layer: Module,
        *,
        segments: int | list = 1,
        group: Group | None = None,
    ) -> "QuantizedAllToShardedLinear":
        """A layer with this process's part of a :class:`QuantizedLinear`."""
        old = quantized_linear_layer
        outputs, inputs = old.weight.shape[0], old.weight.shape[1] * 32 // old.bits
        layer = cls(inputs, outputs, False, old.group_size, old.bits, old.mode, group)
        _take_parts(layer, old, "all-to-sharded", segments)
        layer.freeze()
        return layer


class QuantizedShardedToAllLinear(_QuantizedPart):
    """The same as :class:`ShardedToAllLinear`, with a quantised matrix.

    Args:
        input_dims: The size of the input's last axis, in all processes together.
        output_dims: The size of the output's.
        bias: Whether there is a ``bias``.
        group_size: The number of weights that share a scale; if None, that of the mode.
        bits: The number of bits of a weight; if None, that of the mode.
        mode: The kind of quantisation.
        group: The processes; all of them if None.

    Raises:
        ValueError: If ``input_dims`` cannot be divided equally.
    """

    def __init__(
        self,
        input_dims: int,
        output_dims: int,
        bias: bool = True,
        group_size: int | None = 64,
        bits: int | None = 4,
        mode: str = "affine",
        group: Group | None = None,
    ) -> None:
        super().__init__(group_size, bits, mode)
        self.group = group or mx.distributed.init()
        scale = math.sqrt(1 / input_dims)
        inputs = _divided("input", input_dims, self.group)
        self._set_weight(mx.random.uniform(-scale, scale, (output_dims, inputs)))
        if bias:
            self.bias = mx.zeros((output_dims,))
        self.freeze()

    def _extra_repr(self) -> str:
        return (
            f"input_dims={self._columns() * self.group.size()},"
            f" output_dims={self.weight.shape[0]},"
            f" bias={'bias' in self}, {self._text_of_settings()}"
        )

    def __call__(self, x: mx.array) -> mx.array:
        y = mx.distributed.all_sum(self._product(x), group=self.group)
        return y + self["bias"] if "bias" in self else y

    @classmethod
    def from_quantized_linear(
        cls,
        quantized_linear_layer: Module,
        *,
        segments: int | list = 1,
        group: Group | None = None,
    ) -> "QuantizedShardedToAllLinear":
        """A layer with this process's part of a :class:`QuantizedLinear`."""
        old = quantized_linear_layer
        outputs, inputs = old.weight.shape[0], old.weight.shape[1] * 32 // old.bits
        layer = cls(inputs, outputs, False, old.group_size, old.bits, old.mode, group)
        _take_parts(layer, old, "sharded-to-all", segments)
        layer.freeze()
        return layer


# ---- modules whose parameters are all divided ----


class FullyShardedModule(Module):
    """A module of whose parameters each process keeps a part.

    Calling it gathers the parameters, calls the module and drops them again; gradients are averaged
    over the processes and divided like the parameters. From Rajbhandari et al. (2020), *ZeRO:
    memory optimizations toward training trillion parameter models*.

    Args:
        module: The module, which becomes part of this one. Parameters of fully sharded modules below
            it stay as they are.
        group: The processes; all of them if None.
        compute_dtype: The type of the gathered floating-point parameters; their own if None.

    Raises:
        ValueError: If the first axis of a parameter cannot be divided equally.
    """

    def __init__(
        self, module: Module, group: Group | None = None, compute_dtype: mx.Dtype | None = None
    ) -> None:
        super().__init__()
        group = group or mx.distributed.init()
        parameters = _unsharded_parameters(module)
        # A plain attribute: as an attribute of the module, the list would be an item.
        object.__setattr__(self, "_paths", [path for path, _ in parameters])
        self._gathered = _gather_function(group, compute_dtype)
        self._own_part = lambda x: _part(x, 0, 1, group)
        for path, parameter in parameters:
            _check_rows(path, parameter, group)
        self.module = module
        _set(module, [(path, self._own_part(parameter)) for path, parameter in parameters])

    def _extra_repr(self) -> str:
        return f"num_sharded_params={len(self._paths)}"

    def _call_gathered(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Calls a function while the module has its whole parameters."""
        parts = _get(self.module, self._paths)
        whole = {path: self._gathered(part) for path, part in parts.items()}
        _set(self.module, list(whole.items()))
        try:
            return function(*args, **kwargs)
        finally:
            # Values that the call has changed, such as running means, are divided again.
            now = _get(self.module, self._paths)
            _set(
                self.module,
                [
                    (path, parts[path] if now[path] is whole[path] else self._own_part(now[path]))
                    for path in self._paths
                ],
            )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call_gathered(self.module, *args, **kwargs)

    def as_linear(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the method ``as_linear`` of the module."""
        return self._call_gathered(self.module.as_linear, *args, **kwargs)


def fully_shard(
    module: Module, *, group: Group | None = None, compute_dtype: mx.Dtype | None = None
) -> Module:
    """A :class:`FullyShardedModule`, or the module itself where there is only one process.

    The arguments and errors are those of :class:`FullyShardedModule`.
    """
    group = group or mx.distributed.init()
    return module if group.size() == 1 else FullyShardedModule(module, group, compute_dtype)


def _unsharded_parameters(module: Module) -> list[tuple[str, mx.array]]:
    """The parameters of a module that are not yet divided."""

    def wanted(owner: Module, key: str, value: Any) -> bool:
        is_sharded = isinstance(value, FullyShardedModule)
        return not is_sharded and Module.valid_parameter_filter(owner, key, value)

    if isinstance(module, FullyShardedModule):
        return []
    return list(tree_flatten(module.filter_and_map(wanted)))


def _check_rows(path: str, parameter: mx.array, group: Group) -> None:
    if group.size() == 1:
        return
    if parameter.ndim == 0:
        raise ValueError(f"Cannot shard parameter {path!r} because it is a scalar.")
    if parameter.shape[0] % group.size() != 0:
        raise ValueError(
            f"Cannot shard parameter {path!r} with shape {parameter.shape} across {group.size()}"
            f" devices: axis 0 must be divisible by {group.size()}."
        )


def _gather_function(
    group: Group, compute_dtype: mx.Dtype | None
) -> Callable[[mx.array], mx.array]:
    """A function from a part to the whole parameter; its gradient is the part's."""

    def converted(x: mx.array) -> mx.array:
        if compute_dtype is None or not is_floating(x.dtype):
            return x
        return x.astype(compute_dtype)

    if group.size() == 1:
        return converted

    @mx.custom_function
    def gather(x: mx.array) -> mx.array:
        return mx.distributed.all_gather(converted(x), group=group)

    @gather.vjp
    def scatter(x: mx.array, cotangent: mx.array, _: mx.array) -> mx.array:
        mean = mx.distributed.sum_scatter(cotangent, group=group) / group.size()
        return mean.astype(x.dtype)

    return gather


def _get(module: Module, paths: list[str]) -> dict[str, mx.array]:
    parameters = dict(tree_flatten(module.parameters()))
    return {path: parameters[path] for path in paths}


def _set(module: Module, parameters: list[tuple[str, mx.array]]) -> None:
    if parameters:
        module.update(tree_unflatten(parameters))
