"""Mistakes that mypy finds; each line with one says which."""

import mlx.core as mx

a = mx.zeros((2, 3))
mx.sum(a, axis="rows")  # error: arg-type
mx.sum(a, axes=0)  # error: call-arg
extent: str = a.shape[0]  # error: assignment
a.reshaped(6)  # error: attr-defined
mx.random.normal((2,), key=7)  # error: arg-type
