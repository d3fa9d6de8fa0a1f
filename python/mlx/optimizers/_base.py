"""The base class of optimizers, and an optimizer that combines several."""

from collections.abc import Callable
from typing import Any

import mlx.core as mx
from mlx.nn.layers.base import Module
from mlx.utils import tree_flatten, tree_map, tree_merge, tree_unflatten

LearningRate = float | mx.array | Callable[[mx.array], float | mx.array]
ParameterFilter = Callable[[str, mx.array], bool]


class Optimizer:
    """Changes parameters by their gradients; the base class of all optimizers.

    A derived class has :meth:`init_single` and :meth:`apply_single`, which treat one parameter. The
    values that it keeps for each are in :attr:`state`, in a tree like that of the parameters, next
    to the number of steps and the learning rate.

    Args:
        schedulers: Functions from the number of steps to the value of an item of the state, by the
            name of that item.
    """

    def __init__(self, schedulers: dict[str, Callable[[mx.array], Any]] | None = None) -> None:
        self._initialized = False
        self._state: dict[str, Any] = {"step": mx.array(0, mx.uint64)}
        self._schedulers = dict(schedulers or {})

    def update(self, model: Module, gradients: dict[str, Any]) -> None:
        """Changes the parameters of a model.

        Args:
            model: The model.
            gradients: The gradients by its parameters, or some of them, structured like
                :meth:`mlx.nn.Module.parameters`.
        """
        model.update(self.apply_gradients(gradients, model))

    def init(self, parameters: dict[str, Any]) -> None:
        """Makes the state for parameters that have none yet.

        The first step does so, too. Programs call this before they load a state, or compile a step.

        Args:
            parameters: A tree of parameters.
        """

        def new_state(parameter: mx.array) -> dict[str, Any]:
            state: dict[str, Any] = {}
            self.init_single(parameter, state)
            return state

        fresh = tree_map(new_state, parameters)
        # Changes the dictionary in place: a compiled step may hold it.
        self._state.update(_with_missing(self._state, fresh))
        self._initialized = True

    def init_single(self, parameter: mx.array, state: dict[str, Any]) -> None:
        """Puts the initial state of a parameter into ``state``, an empty dictionary."""
        raise NotImplementedError(f"{type(self).__name__} has no init_single")

    def apply_gradients(self, gradients: dict[str, Any], parameters: dict[str, Any]) -> Any:
        """Takes one step.

        Args:
            gradients: A tree of gradients.
            parameters: A tree of parameters, with at least the same structure.

        Returns:
            The new parameters, in a tree like the gradients'.
        """
        if not self._initialized:
            self.init(gradients)
        for name, schedule in self._schedulers.items():
            self._set_item(name, schedule(self.step))
        self._state["step"] = self.step + 1
        return tree_map(self.apply_single, gradients, parameters, self._state)

    def apply_single(
        self, gradient: mx.array, parameter: mx.array, state: dict[str, Any]
    ) -> mx.array:
        """Returns the new value of a parameter, and changes ``state``, the parameter's state."""
        raise NotImplementedError(f"{type(self).__name__} has no apply_single")

    @property
    def state(self) -> dict[str, Any]:
        """The state: ``step``, ``learning_rate``, and a dictionary for each parameter."""
        return self._state

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        # A state from a file may lack entries that a new optimizer has.
        self._initialized = False
        self._state = state

    @property
    def step(self) -> mx.array:
        """The number of steps so far."""
        return self._state["step"]

    @property
    def learning_rate(self) -> mx.array:
        """The learning rate. A schedule, if there is one, sets it anew before each step."""
        return self._state["learning_rate"]

    @learning_rate.setter
    def learning_rate(self, learning_rate: float | mx.array) -> None:
        self._set_item("learning_rate", learning_rate)

    def _set_item(self, name: str, value: float | mx.array) -> None:
        self._state[name] = mx.array(value)

    def _maybe_schedule(self, name: str, value: Any) -> None:
        """Takes an item of the state, or a function from the number of steps to it."""
        if callable(value):
            self._schedulers[name] = value
            value = value(self.step)
        self._set_item(name, value)


def _with_missing(state: Any, fresh: Any) -> Any:
    """A state, with missing entries taken from another one."""
    if isinstance(state, dict) and isinstance(fresh, dict):
        missing = {key: value for key, value in fresh.items() if key not in state}
        return {k: _with_missing(v, fresh.get(k)) for k, v in state.items()} | missing
    if isinstance(state, list) and isinstance(fresh, (list, tuple)):
        longer = [*state, *({} for _ in fresh[len(state) :])]
        return [_with_missing(a, b) for a, b in zip(longer, fresh, strict=False)]
    return state


class MultiOptimizer(Optimizer):
    """Several optimizers, each for a part of the parameters.

    Args:
        optimizers: The optimizers.
        filters: For all of them but the last, a function of a parameter's path and gradient that
            says whether the optimizer takes it. The first that does gets it, and the last optimizer
            what is left.

    Raises:
        ValueError: If there is not one filter less than optimizers.
    """

    def __init__(
        self, optimizers: list[Optimizer], filters: list[ParameterFilter] | None = None
    ) -> None:
        super().__init__()
        self._state = {}
        self.optimizers = list(optimizers)
        given = list(filters or [])
        if len(given) != len(self.optimizers) - 1:
            raise ValueError(f"Given {len(given)} filters but {len(optimizers) - 1} needed.")
        self.filters = [*given, lambda *_: True]

    def _parts(self, tree: Any) -> list[Any]:
        """The part of a tree that each optimizer takes."""
        parts: list[list[tuple[str, mx.array]]] = [[] for _ in self.optimizers]
        for path, leaf in tree_flatten(tree):
            first = next(i for i, wanted in enumerate(self.filters) if wanted(path, leaf))
            parts[first].append((path, leaf))
        return [tree_unflatten(part) for part in parts]

    def init(self, parameters: dict[str, Any]) -> None:
        """Makes the states of all optimizers, see :meth:`Optimizer.init`."""
        for optimizer, part in zip(self.optimizers, self._parts(parameters), strict=True):
            optimizer.init(part)
        self._initialized = True

    def apply_gradients(self, gradients: dict[str, Any], parameters: dict[str, Any]) -> Any:
        """Takes one step with all optimizers, see :meth:`Optimizer.apply_gradients`."""
        result: Any = {}
        for optimizer, part in zip(self.optimizers, self._parts(gradients), strict=True):
            result = tree_merge(result, optimizer.apply_gradients(part, parameters))
        return result

    @property
    def state(self) -> dict[str, Any]:
        """The states of the optimizers, in the list ``states``."""
        return {"states": [optimizer.state for optimizer in self.optimizers]}

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        states = state.get("states")
        if not isinstance(states, list) or len(states) != len(self.optimizers):
            raise ValueError(
                "Invalid state provided: it must have a list 'states' with one for each of the"
                f" {len(self.optimizers)} optimizers."
            )
        for optimizer, one in zip(self.optimizers, states, strict=True):
            optimizer.state = one

    @property
    def learning_rate(self) -> mx.array:
        """The learning rate of the first optimizer; setting it sets those of all."""
        return self.optimizers[0].learning_rate

    @learning_rate.setter
    def learning_rate(self, learning_rate: float | mx.array) -> None:
        for optimizer in self.optimizers:
            optimizer.learning_rate = learning_rate
