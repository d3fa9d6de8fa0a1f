"""Learning rates that change with the number of steps."""

import math
from collections.abc import Callable

import mlx.core as mx

__all__ = [
    "cosine_decay",
    "exponential_decay",
    "join_schedules",
    "linear_schedule",
    "step_decay",
]

Step = int | mx.array
Schedule = Callable[[Step], float | mx.array]


def exponential_decay(init: float, decay_rate: float) -> Schedule:
    """``init * decay_rate^step``.

    Args:
        init: The first learning rate.
        decay_rate: What it is multiplied by after each step.
    """

    def schedule(step: Step) -> float | mx.array:
        return init * decay_rate**step

    return schedule


def step_decay(init: float, decay_rate: float, step_size: int) -> Schedule:
    """``init * decay_rate^(step // step_size)``.

    Args:
        init: The first learning rate.
        decay_rate: What it is multiplied by.
        step_size: After how many steps.
    """

    def schedule(step: Step) -> float | mx.array:
        return init * decay_rate ** (step // step_size)

    return schedule


def cosine_decay(init: float, decay_steps: int, end: float = 0.0) -> Schedule:
    """Half a period of a cosine from ``init`` to ``end``, then constant.

    From Loshchilov and Hutter (2017), *SGDR: stochastic gradient descent with warm restarts*.

    Args:
        init: The first learning rate.
        decay_steps: The number of steps on the way.
        end: The last learning rate.

    Raises:
        ValueError: If ``decay_steps`` is not positive.
    """
    if decay_steps < 1:
        raise ValueError(f"decay_steps must be greater than 0, but got {decay_steps}.")

    def schedule(step: Step) -> mx.array:
        angle = mx.minimum(step, decay_steps) * (math.pi / decay_steps)
        return end + 0.5 * (1.0 + mx.cos(angle)) * (init - end)

    return schedule


def join_schedules(schedules: list[Schedule], boundaries: list[int]) -> Schedule:
    """One schedule after the other, each of which counts steps from its own start.

    Args:
        schedules: The schedules.
        boundaries: The steps at which all but the first begin.

    Raises:
        ValueError: If there are no schedules, or not one boundary less than schedules.
    """
    if not schedules:
        raise ValueError("Must provide at least 1 schedule to join.")
    if len(schedules) != len(boundaries) + 1:
        raise ValueError(
            f"Received {len(boundaries)} boundaries but expected {len(schedules) - 1}."
        )

    def schedule(step: Step) -> float | mx.array:
        rate = schedules[0](step)
        for start, following in zip(boundaries, schedules[1:], strict=True):
            rate = mx.where(step < start, rate, following(step - start))
        return rate

    return schedule


def linear_schedule(init: float, end: float, steps: int) -> Schedule:
    """A straight line from ``init`` to ``end``, then constant.

    Args:
        init: The first learning rate.
        end: The last learning rate.
        steps: The number of steps on the way.

    Raises:
        ValueError: If ``steps`` is not positive.
    """
    if steps < 1:
        raise ValueError(f"steps must be greater than 0, but got {steps}.")

    def schedule(step: Step) -> mx.array:
        return init + mx.minimum(step, steps) * ((end - init) / steps)

    return schedule
