"""Gradients of models: with respect to parameters, with less memory, and over several processes."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import mlx.core as mx
from mlx.nn.layers.base import Module
from mlx.utils import tree_flatten, tree_map, tree_reduce, tree_unflatten


def value_and_grad(model: Module, fn: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a function that returns the value of another and its gradient in a model's parameters.

    Args:
        model: The model. The gradient is with respect to its trainable parameters.
        fn: A function that uses the model and returns a loss, or a tuple that begins with one.

    Returns:
        A function of the same arguments that returns what ``fn`` does and the gradient, structured
        like :meth:`Module.trainable_parameters`.
    """

    def with_parameters(parameters: Any, *args: Any, **kwargs: Any) -> Any:
        model.update(parameters)
        return fn(*args, **kwargs)

    differentiated = mx.value_and_grad(with_parameters)

    @wraps(fn)
    def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
        return differentiated(model.trainable_parameters(), *args, **kwargs)

    return value_and_gradient


def checkpoint(module: Module, fn: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Makes a function that recomputes its intermediate values for the gradient.

    From Chen et al. (2016), *Training deep nets with sublinear memory cost*.

    Args:
        module: The module. Gradients are with respect to its parameters and the arguments.
        fn: A function that uses the module; calling the module if None.

    Returns:
        A function of the same arguments and with the same result.
    """
    function = module if fn is None else fn

    def with_parameters(parameters: Any, *args: Any, **kwargs: Any) -> Any:
        module.update(parameters)
        return function(*args, **kwargs)

    checkpointed = mx.checkpoint(with_parameters)

    def call(*args: Any, **kwargs: Any) -> Any:
        return checkpointed(module.trainable_parameters(), *args, **kwargs)

    return call if fn is None else wraps(fn)(call)


def average_gradients(
    gradients: Any,
    group: "mx.distributed.Group | None" = None,
    all_reduce_size: int = 32 * 1024**2,
    communication_stream: mx.Stream | None = None,
) -> Any:
    """The mean of the gradients of all processes.

    Args:
        gradients: A tree of arrays, of the same structure in all processes.
        group: The processes; all of them if None.
        all_reduce_size: Small arrays are sent in messages of about so many bytes; each on its own
            if it is not positive.
        communication_stream: Accepted; a group communicates on a stream of its own.
    """
    group = group or mx.distributed.init()
    count = group.size()
    if count == 1:
        return gradients

    def average(x: mx.array) -> mx.array:
        return mx.distributed.all_sum(x, group=group, stream=communication_stream) / count

    if all_reduce_size <= 0:
        return tree_map(average, gradients)
    averaged: dict[str, mx.array] = {}
    leaves = list(tree_flatten(gradients))
    for batch in _batches(leaves, all_reduce_size):
        whole = average(mx.concatenate([array.reshape(-1) for _, array in batch]))
        start = 0
        for path, array in batch:
            averaged[path] = whole[start : start + array.size].reshape(array.shape)
            start += array.size
    return tree_unflatten([(path, averaged[path]) for path, _ in leaves])


def _batches(leaves: list[tuple[str, mx.array]], size: int) -> list[list[tuple[str, mx.array]]]:
    """Groups of neighbouring arrays of one type, each with at least so many bytes if possible."""
    batches: list[list[tuple[str, mx.array]]] = []
    bytes_of_last = size
    for path, array in leaves:
        if bytes_of_last >= size or batches[-1][0][1].dtype != array.dtype:
            batches.append([])
            bytes_of_last = 0
        batches[-1].append((path, array))
        bytes_of_last += array.nbytes
    return batches


def clip_grad_norm_sharded(
    gradients: Any, max_norm: float, group: "mx.distributed.Group | None" = None
) -> tuple[Any, mx.array]:
    """Scales gradients that are divided among processes, so that their whole norm is bounded.

    The same as :func:`mlx.optimizers.clip_grad_norm`, with a sum over the processes.

    Args:
        gradients: A tree of arrays, the part of this process.
        max_norm: The largest norm.
        group: The processes; all of them if None.

    Returns:
        The scaled tree, and the norm of the whole before.
    """
    group = group or mx.distributed.init()
    squares = tree_reduce(
        lambda total, g: total + g.astype(mx.float32).square().sum(), gradients, mx.array(0.0)
    )
    norm = mx.sqrt(mx.distributed.all_sum(squares, group=group))
    return scaled_to_norm(gradients, norm, max_norm), norm


def scaled_to_norm(gradients: Any, norm: mx.array, max_norm: float) -> Any:
    """A tree of arrays with a norm, scaled so that the norm is at most another."""
    factor = mx.minimum(max_norm / (norm + 1e-6), 1.0)
    return tree_map(lambda g: g * factor.astype(g.dtype), gradients)
