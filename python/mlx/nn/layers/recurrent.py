"""Recurrent layers, which process a sequence step by step."""

import math
from collections.abc import Callable

import mlx.core as mx
from mlx.nn.layers.activations import tanh
from mlx.nn.layers.base import Module


class RNN(Module):
    """A recurrent layer: ``h = nonlinearity(Wxh @ x + Whh @ h_before + bias)``.

    From Elman (1990), *Finding structure in time*. ``Wxh`` has shape (hidden_size, input_size),
    ``Whh`` (hidden_size, hidden_size), ``bias`` (hidden_size,); all start uniformly between
    ``-1 / sqrt(hidden_size)`` and ``1 / sqrt(hidden_size)``.

    Args:
        input_size: The number of features of the input.
        hidden_size: That of the output.
        bias: Whether there is a ``bias``.
        nonlinearity: The function; the hyperbolic tangent if None.

    Raises:
        ValueError: If ``nonlinearity`` cannot be called.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: Callable[[mx.array], mx.array] | None = None,
    ) -> None:
        super().__init__()
        self.nonlinearity = tanh if nonlinearity is None else nonlinearity
        if not callable(self.nonlinearity):
            raise ValueError(
                f"[RNN] Argument nonlinearity must be a function, but it is {nonlinearity!r}."
            )
        self.hidden_size = hidden_size
        self.Wxh = _initial((hidden_size, input_size), hidden_size)
        self.Whh = _initial((hidden_size, hidden_size), hidden_size)
        self.bias = _initial((hidden_size,), hidden_size) if bias else None

    def _extra_repr(self) -> str:
        return (
            f"input_dims={self.Wxh.shape[1]}, hidden_size={self.hidden_size},"
            f" nonlinearity={self.nonlinearity}, bias={self.bias is not None}"
        )

    def __call__(self, x: mx.array, hidden: mx.array | None = None) -> mx.array:
        """All states, of shape (..., L, hidden_size).

        Args:
            x: The inputs, of shape (..., L, input_size).
            hidden: The state before the first, of shape (..., hidden_size); zero if None.
        """
        x = _affine(x, self.Wxh, self.bias)
        states = []
        for i in range(x.shape[-2]):
            before = x[..., i, :]
            if hidden is not None:
                before = before + hidden @ self.Whh.T
            hidden = self.nonlinearity(before)
            states.append(hidden)
        return _stacked(states, x, self.hidden_size)


class GRU(Module):
    """A recurrent layer with two gates.

    With ``r``, ``z`` the sigmoids of ``W x + U h + b``, it is ``n = tanh(Wn x + bn + r * (Un h +
    bhn))`` and ``h = (1 - z) * n + z * h_before``. From Cho et al. (2014), *Learning phrase
    representations using RNN encoder-decoder*. ``Wx`` has shape (3 * hidden_size, input_size), ``Wh``
    (3 * hidden_size, hidden_size), ``b`` (3 * hidden_size,), in the order r, z, n, and ``bhn``
    (hidden_size,); all start uniformly between plus and minus ``1 / sqrt(hidden_size)``.

    Args:
        input_size: The number of features of the input.
        hidden_size: That of the output.
        bias: Whether there are ``b`` and ``bhn``.
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.Wx = _initial((3 * hidden_size, input_size), hidden_size)
        self.Wh = _initial((3 * hidden_size, hidden_size), hidden_size)
        self.b = _initial((3 * hidden_size,), hidden_size) if bias else None
        self.bhn = _initial((hidden_size,), hidden_size) if bias else None

    def _extra_repr(self) -> str:
        return (
            f"input_dims={self.Wx.shape[1]}, hidden_size={self.hidden_size},"
            f" bias={self.b is not None}"
        )

    def __call__(self, x: mx.array, hidden: mx.array | None = None) -> mx.array:
        """All states, of shape (..., L, hidden_size).

        Args:
            x: The inputs, of shape (..., L, input_size).
            hidden: The state before the first, of shape (..., hidden_size); zero if None.
        """
        x = _affine(x, self.Wx, self.b)
        split = 2 * self.hidden_size
        gates_of_x, new_of_x = x[..., :split], x[..., split:]
        states = []
        for i in range(x.shape[-2]):
            gates, new = gates_of_x[..., i, :], new_of_x[..., i, :]
            if hidden is not None:
                h = hidden @ self.Wh.T
                gates, h_new = gates + h[..., :split], h[..., split:]
            else:
                h_new = mx.zeros_like(new)
            if self.bhn is not None:
                h_new = h_new + self.bhn
            r, z = mx.split(mx.sigmoid(gates), 2, axis=-1)
            n = mx.tanh(new + r * h_new)
            hidden = (1 - z) * n + (0 if hidden is None else z * hidden)
            states.append(hidden)
        return _stacked(states, x, self.hidden_size)


class LSTM(Module):
    """A recurrent layer with a memory cell.

    With ``i``, ``f``, ``o`` the sigmoids and ``g`` the hyperbolic tangent of ``W x + U h + b``, it is
    ``c = f * c_before + i * g`` and ``h = o * tanh(c)``. From Hochreiter and Schmidhuber (1997),
    *Long short-term memory*, with the forget gate of Gers et al. (2000). ``Wx`` has shape
    (4 * hidden_size, input_size), ``Wh`` (4 * hidden_size, hidden_size), ``bias``
    (4 * hidden_size,), in the order i, f, g, o; all start uniformly between plus and minus
    ``1 / sqrt(hidden_size)``.

    Args:
        input_size: The number of features of the input.
        hidden_size: That of the output.
        bias: Whether there is a ``bias``.
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True) -> None:
        super().__init__()
        self.hidden_size = hidden_size
        self.Wx = _initial((4 * hidden_size, input_size), hidden_size)
        self.Wh = _initial((4 * hidden_size, hidden_size), hidden_size)
        self.bias = _initial((4 * hidden_size,), hidden_size) if bias else None

    def _extra_repr(self) -> str:
        return (
            f"input_dims={self.Wx.shape[1]}, hidden_size={self.hidden_size},"
            f" bias={self.bias is not None}"
        )

    def __call__(
        self, x: mx.array, hidden: mx.array | None = None, cell: mx.array | None = None
    ) -> tuple[mx.array, mx.array]:
        """All states and all cells, both of shape (..., L, hidden_size).

        Args:
            x: The inputs, of shape (..., L, input_size).
            hidden: The state before the first, of shape (..., hidden_size); zero if None.
            cell: The cell before the first; zero if None.
        """
        x = _affine(x, self.Wx, self.bias)
        states, cells = [], []
        for step in range(x.shape[-2]):
            gates = x[..., step, :]
            if hidden is not None:
                gates = gates + hidden @ self.Wh.T
            i, f, g, o = mx.split(gates, 4, axis=-1)
            added = mx.sigmoid(i) * mx.tanh(g)
            cell = added if cell is None else mx.sigmoid(f) * cell + added
            hidden = mx.sigmoid(o) * mx.tanh(cell)
            states.append(hidden)
            cells.append(cell)
        return _stacked(states, x, self.hidden_size), _stacked(cells, x, self.hidden_size)


def _initial(shape: tuple[int, ...], hidden_size: int) -> mx.array:
    scale = 1 / math.sqrt(hidden_size)
    return mx.random.uniform(-scale, scale, shape)


def _affine(x: mx.array, weight: mx.array, bias: mx.array | None) -> mx.array:
    """``x @ weight.T + bias`` for all steps at once."""
    return x @ weight.T if bias is None else mx.addmm(bias, x, weight.T)


def _stacked(steps: list[mx.array], x: mx.array, size: int) -> mx.array:
    if not steps:  # an empty sequence
        return mx.zeros((*x.shape[:-1], size), x.dtype)
    return mx.stack(steps, axis=-2)
