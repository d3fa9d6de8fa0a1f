"""Loss functions.

``reduction`` says how the losses of the examples are combined: ``"none"`` returns them as they are,
``"mean"`` and ``"sum"`` return one number.
"""

import math
from typing import Literal, Optional, get_args  # noqa: F401 (MLX's module has these names, too)

import mlx.core as mx

Reduction = Literal["none", "mean", "sum"]


def _reduced(loss: mx.array, reduction: str) -> mx.array:
    if reduction not in get_args(Reduction):
        raise ValueError(
            f"Invalid reduction. Argument reduction must be one of {get_args(Reduction)}, but it is"
            f" {reduction!r}."
        )
    if reduction == "none":
        return loss
    return mx.mean(loss) if reduction == "mean" else mx.sum(loss)


def _check_same_shape(**arrays: mx.array) -> None:
    """Raises ValueError unless both arrays have the same shape."""
    (first, a), (second, b) = arrays.items()
    if a.shape != b.shape:
        raise ValueError(
            f"{first.capitalize()} shape {a.shape} does not match {second} shape {b.shape}."
        )


def _weighted(loss: mx.array, weights: mx.array | None) -> mx.array:
    if weights is None:
        return loss
    if weights.shape != loss.shape:
        raise ValueError(
            f"Weights with shape {weights.shape} is not the same as output loss with shape"
            f" {loss.shape}."
        )
    return loss * weights


def cross_entropy(
    logits: mx.array,
    targets: mx.array,
    weights: mx.array | None = None,
    axis: int = -1,
    label_smoothing: float = 0.0,
    reduction: Reduction = "none",
) -> mx.array:
    """The cross entropy of classes: ``log(sum(exp(logits))) - sum(p * logits)``.

    With probabilities as targets, the largest logit is subtracted from all first, so that the sums stay
    in range.

    Label smoothing replaces the probabilities ``p`` by ``(1 - s) * p + s / classes``; see Szegedy et al.
    (2016), *Rethinking the inception architecture for computer vision*.

    Args:
        logits: The scores of the classes, which lie along ``axis``.
        targets: The numbers of the right classes, integers of the shape of ``logits`` without
            ``axis``; or probabilities of all classes, of the shape of ``logits``.
        weights: The losses are multiplied by it; of their shape.
        axis: The axis of the classes.
        label_smoothing: The amount ``s``, in [0, 1).
        reduction: See above.

    Raises:
        ValueError: If shapes do not match or ``label_smoothing`` is out of range.
    """
    if not 0 <= label_smoothing < 1:
        raise ValueError(f"Label smoothing must be in [0, 1), got {label_smoothing}.")
    are_probabilities = targets.ndim == logits.ndim
    wanted = list(logits.shape)
    if not are_probabilities:
        del wanted[axis]
    if list(targets.shape) != wanted:
        raise ValueError(
            f"Targets shape {targets.shape} does not match logits shape {logits.shape}."
        )
    if are_probabilities:
        # The subtraction matters only if the probabilities do not add up to 1.
        logits = logits - mx.stop_gradient(mx.max(logits, axis=axis, keepdims=True))
        score = mx.sum(logits * targets, axis=axis)
    else:
        chosen = mx.take_along_axis(logits, mx.expand_dims(targets, axis), axis)
        score = chosen.squeeze(axis)
    loss = mx.logsumexp(logits, axis=axis)
    if label_smoothing > 0:
        mean = mx.mean(logits, axis=axis)
        loss = loss - (1 - label_smoothing) * score - label_smoothing * mean
    else:
        loss = loss - score
    return _reduced(_weighted(loss, weights), reduction)


def binary_cross_entropy(
    inputs: mx.array,
    targets: mx.array,
    weights: mx.array | None = None,
    with_logits: bool = True,
    reduction: Reduction = "mean",
) -> mx.array:
    """The cross entropy of two classes: ``-(t * log(p) + (1 - t) * log(1 - p))``.

    Args:
        inputs: Scores, whose sigmoid is the probability ``p``; or the probabilities themselves.
        targets: The probabilities ``t``, of the same shape.
        weights: The losses are multiplied by it; of their shape.
        with_logits: Whether ``inputs`` are scores. If not, logarithms are at least -100.
        reduction: See above.

    Raises:
        ValueError: If shapes do not match.
    """
    _check_same_shape(inputs=inputs, targets=targets)
    if with_logits:
        loss = mx.logaddexp(0.0, inputs) - inputs * targets
    else:
        log_yes = mx.clip(mx.log(inputs), -100, None)
        log_no = mx.clip(mx.log(1 - inputs), -100, None)
        loss = -(targets * log_yes + (1 - targets) * log_no)
    return _reduced(_weighted(loss, weights), reduction)


def l1_loss(predictions: mx.array, targets: mx.array, reduction: Reduction = "mean") -> mx.array:
    """The absolute error, ``|predictions - targets|``.

    Args:
        predictions: Any array.
        targets: An array of the same shape.
        reduction: See above.

    Raises:
        ValueError: If shapes do not match.
    """
    _check_same_shape(predictions=predictions, targets=targets)
    return _reduced(mx.abs(predictions - targets), reduction)


def mse_loss(predictions: mx.array, targets: mx.array, reduction: Reduction = "mean") -> mx.array:
    """The squared error, ``(predictions - targets)^2``.

    Args:
        predictions: Any array.
        targets: An array of the same shape.
        reduction: See above.

    Raises:
        ValueError: If shapes do not match.
    """
    _check_same_shape(predictions=predictions, targets=targets)
    return _reduced(mx.square(predictions - targets), reduction)


def nll_loss(
    inputs: mx.array, targets: mx.array, axis: int = -1, reduction: Reduction = "none"
) -> mx.array:
    """The negative log likelihood: minus the logarithm given for the right class.

    Args:
        inputs: Logarithms of the probabilities of the classes, which lie along ``axis``.
        targets: The numbers of the right classes, of the shape of ``inputs`` without ``axis``.
        axis: The axis of the classes.
        reduction: See above.
    """
    chosen = mx.take_along_axis(inputs, mx.expand_dims(targets, axis), axis)
    return _reduced(-chosen.squeeze(axis), reduction)


def gaussian_nll_loss(
    inputs: mx.array,
    targets: mx.array,
    vars: mx.array,
    full: bool = False,
    eps: float = 1e-6,
    reduction: Reduction = "mean",
) -> mx.array:
    """The negative log likelihood of normal distributions: ``(log(v) + (targets - inputs)^2 / v) / 2``.

    From Nix and Weigend (1994), *Estimating the mean and variance of the target probability
    distribution*.

    Args:
        inputs: The means of the distributions.
        targets: Samples of them, of the same shape.
        vars: The variances ``v``, of the same shape.
        full: Whether the constant ``log(2 * pi) / 2`` is added.
        eps: The least variance.
        reduction: See above.

    Raises:
        ValueError: If shapes do not match.
    """
    _check_same_shape(inputs=inputs, targets=targets)
    _check_same_shape(inputs=inputs, vars=vars)
    vars = mx.maximum(vars, eps)
    loss = 0.5 * (mx.log(vars) + mx.square(targets - inputs) / vars)
    return _reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


def kl_div_loss(
    inputs: mx.array, targets: mx.array, axis: int = -1, reduction: Reduction = "none"
) -> mx.array:
    """The Kullback-Leibler divergence: ``sum(exp(targets) * (targets - inputs))``.

    Args:
        inputs: Logarithms of the probabilities of a distribution that approximates another.
        targets: Logarithms of the probabilities of that.
        axis: The axis that sums are along.
        reduction: See above.
    """
    return _reduced(mx.sum(mx.exp(targets) * (targets - inputs), axis=axis), reduction)


def smooth_l1_loss(
    predictions: mx.array, targets: mx.array, beta: float = 1.0, reduction: Reduction = "mean"
) -> mx.array:
    """``d^2 / (2 * beta)`` where the error ``d`` is below ``beta``, ``d - beta / 2`` elsewhere.

    From Girshick (2015), *Fast R-CNN*.

    Args:
        predictions: Any array.
        targets: An array of the same shape.
        beta: The error at which the parabola becomes a line.
        reduction: See above.

    Raises:
        ValueError: If shapes do not match.
    """
    _check_same_shape(predictions=predictions, targets=targets)
    difference = mx.abs(predictions - targets)
    line = difference - 0.5 * beta
    if beta == 0:
        return _reduced(line, reduction)
    parabola = 0.5 * mx.square(difference) / beta
    return _reduced(mx.where(difference < beta, parabola, line), reduction)


def triplet_loss(
    anchors: mx.array,
    positives: mx.array,
    negatives: mx.array,
    axis: int = -1,
    p: int = 2,
    margin: float = 1.0,
    eps: float = 1e-6,
    reduction: Reduction = "none",
) -> mx.array:
    """``max(|anchors - positives| - |anchors - negatives| + margin, 0)``.

    From Balntas et al. (2016), *Learning local feature descriptors with triplets and shallow
    convolutional neural networks*.

    Args:
        anchors: Vectors along ``axis``.
        positives: Vectors that should be near.
        negatives: Vectors that should be far.
        axis: The axis of the vectors.
        p: The degree of the norm.
        margin: How much farther negatives should be.
        eps: Added to the sum in the norm, so that its root has a derivative.
        reduction: See above.
    """

    def distance(a: mx.array, b: mx.array) -> mx.array:
        difference = a - b
        powers = mx.square(difference) if p == 2 else mx.power(mx.abs(difference), p)
        total = mx.sum(powers, axis=axis) + eps
        return mx.sqrt(total) if p == 2 else mx.power(total, 1 / p)

    loss = distance(anchors, positives) - distance(anchors, negatives) + margin
    return _reduced(mx.maximum(loss, 0), reduction)


def hinge_loss(inputs: mx.array, targets: mx.array, reduction: Reduction = "none") -> mx.array:
    """``max(1 - inputs * targets, 0)``.

    Args:
        inputs: Scores.
        targets: 1 or -1.
        reduction: See above.
    """
    return _reduced(mx.maximum(1 - inputs * targets, 0), reduction)


def huber_loss(
    inputs: mx.array, targets: mx.array, delta: float = 1.0, reduction: Reduction = "none"
) -> mx.array:
    """``d^2 / 2`` where the error ``d`` is at most ``delta``, ``delta * (d - delta / 2)`` elsewhere.

    From Huber (1964), *Robust estimation of a location parameter*.

    Args:
        inputs: Any array.
        targets: The desired values.
        delta: The error at which the parabola becomes a line.
        reduction: See above.
    """
    error = mx.abs(inputs - targets)
    line = delta * (error - 0.5 * delta)
    return _reduced(mx.where(error <= delta, 0.5 * mx.square(error), line), reduction)


def log_cosh_loss(inputs: mx.array, targets: mx.array, reduction: Reduction = "none") -> mx.array:
    """``log(cosh(inputs - targets))``.

    Args:
        inputs: Any array.
        targets: What it should be.
        reduction: See above.
    """
    error = inputs - targets
    return _reduced(mx.logaddexp(error, -error) - math.log(2), reduction)


def cosine_similarity_loss(
    x1: mx.array,
    x2: mx.array,
    axis: int = 1,
    eps: float = 1e-8,
    reduction: Reduction = "none",
) -> mx.array:
    """The cosine of the angle: ``sum(x1 * x2) / max(|x1| * |x2|, eps)``.

    Args:
        x1: Vectors along ``axis``.
        x2: Likewise.
        axis: The axis of the vectors.
        eps: The least denominator.
        reduction: See above.
    """
    lengths = mx.linalg.norm(x1, axis=axis) * mx.linalg.norm(x2, axis=axis)
    return _reduced(mx.sum(x1 * x2, axis=axis) / mx.maximum(lengths, eps), reduction)


def margin_ranking_loss(
    inputs1: mx.array,
    inputs2: mx.array,
    targets: mx.array,
    margin: float = 0.0,
    reduction: Reduction = "none",
) -> mx.array:
    """``max(-targets * (inputs1 - inputs2) + margin, 0)``.

    Args:
        inputs1: Scores.
        inputs2: Other scores, of the same shape.
        targets: 1 where the first should be greater, -1 where the second should; of the same shape.
        margin: By how much.
        reduction: See above.

    Raises:
        ValueError: If shapes do not match.
    """
    if not inputs1.shape == inputs2.shape == targets.shape:
        raise ValueError(
            f"The shapes of the arguments do not match: inputs1.shape={inputs1.shape},"
            f" inputs2.shape={inputs2.shape} and targets.shape={targets.shape}."
        )
    return _reduced(mx.maximum(margin - targets * (inputs1 - inputs2), 0), reduction)
