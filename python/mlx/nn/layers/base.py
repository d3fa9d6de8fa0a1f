"""The class that layers and models derive from: a dictionary of parameters and modules."""

import textwrap
from collections.abc import Callable, Iterable
from typing import Any

import mlx.core as mx
from mlx.utils import tree_flatten, tree_unflatten

_ABSENT = object()
Filter = Callable[["Module", str, Any], bool]


def is_floating(dtype: mx.Dtype) -> bool:
    """Whether a dtype is one of real or complex floating-point numbers."""
    return mx.issubdtype(dtype, mx.floating)


class Module(dict):
    """A layer, or a model made of layers.

    A module is a dictionary. An attribute whose value is an array, a dictionary (another module is
    one), a list or a tuple becomes an item of it; other attributes are plain attributes. Arrays
    are parameters unless their name begins with an underscore, and modules may lie in lists and
    dictionaries. Names of parameters in files are paths such as ``"layers.0.weight"``.

    Example:
        >>> import mlx.core as mx, mlx.nn as nn
        >>> class Scale(nn.Module):
        ...     def __init__(self, dims: int):
        ...         super().__init__()
        ...         self.factor = mx.ones((dims,))
        ...     def __call__(self, x):
        ...         return self.factor * x
        >>> Scale(2).parameters()
        {'factor': array([1, 1], dtype=float32)}
    """

    __call__: Callable[..., Any]

    def __init__(self) -> None:
        super().__init__()
        self._no_grad: set[str] = set()
        self._training = True

    # ---- attributes ----

    def __getattr__(self, key: str) -> Any:
        # Python calls this only for names that are not plain attributes.
        if key in self:
            return self[key]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {key!r}")

    def __setattr__(self, key: str, value: Any) -> None:
        if isinstance(value, (mx.array, dict, list, tuple)):
            if key not in self and self.__dict__.pop(key, _ABSENT) is _ABSENT:
                self._check_that_no_class_has(key, value)
            self[key] = value
        else:
            super().__setattr__(key, value)
            self.pop(key, None)

    def _check_that_no_class_has(self, key: str, value: Any) -> None:
        # Python would find the attribute of the class and never the item.
        for base in type(self).__mro__:
            if key in vars(base):
                raise AttributeError(
                    f"The class {base.__name__!r} has an attribute {key!r}: modules cannot have "
                    f"a value of type {type(value).__name__} under that name"
                )

    def __delattr__(self, key: str) -> None:
        if key in self:
            del self[key]
        elif key in self.__dict__:
            super().__delattr__(key)
        else:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {key!r}")

    @property
    def training(self) -> bool:
        """Whether the module trains, rather than being evaluated; see :meth:`train`."""
        return self._training

    @property
    def state(self) -> "Module":
        """The module itself, as the dictionary that :func:`mlx.core.compile` takes as state."""
        return self

    def _extra_repr(self) -> str:
        """The text between the parentheses in this module's representation; layers override it."""
        return ""

    def __repr__(self) -> str:
        children = tree_flatten(self.children(), is_leaf=self.is_module)
        lines = "".join(f"({name}): {child!r}\n" for name, child in children)
        inside = "\n" + textwrap.indent(lines, "  ") if lines else ""
        return f"{type(self).__name__}({self._extra_repr()}{inside})"

    # ---- trees ----

    @staticmethod
    def is_module(value: Any) -> bool:
        """Whether a value is a module."""
        return isinstance(value, Module)

    @staticmethod
    def valid_child_filter(module: "Module", key: str, value: Any) -> bool:
        """Whether an item may hold modules: dictionaries and lists, modules among them."""
        return isinstance(value, (dict, list))

    @staticmethod
    def valid_parameter_filter(module: "Module", key: str, value: Any) -> bool:
        """Whether an item is, or may hold, parameters: its name has no underscore in front."""
        return isinstance(value, (dict, list, mx.array)) and not key.startswith("_")

    @staticmethod
    def trainable_parameter_filter(module: "Module", key: str, value: Any) -> bool:
        """Whether an item is, or may hold, parameters that are not frozen."""
        return Module.valid_parameter_filter(module, key, value) and key not in module._no_grad

    def filter_and_map(
        self,
        filter_fn: Filter,
        map_fn: Callable[[Any], Any] | None = None,
        is_leaf_fn: Filter | None = None,
    ) -> dict[str, Any]:
        """Makes a dictionary of the items that a filter accepts, also in modules below.

        Args:
            filter_fn: Called with the module that holds an item, the item's path in that module
                and its value; the item is left out where it returns False.
            map_fn: Applied to the leaves; they stay as they are if None.
            is_leaf_fn: Takes the same arguments and says whether the value is a leaf. Everything
                but modules, dictionaries and lists is one if None.

        Raises:
            RuntimeError: If ``is_leaf_fn`` rejects a value that has nothing below it.
        """
        walk = _Walk(filter_fn, map_fn or _unchanged, is_leaf_fn or _has_nothing_below)
        return walk.module(self)

    def parameters(self) -> dict[str, Any]:
        """All arrays of this module and those below it, as nested dictionaries and lists."""
        return self.filter_and_map(self.valid_parameter_filter)

    def trainable_parameters(self) -> dict[str, Any]:
        """The parameters that are not frozen."""
        return self.filter_and_map(self.trainable_parameter_filter)

    def children(self) -> dict[str, Any]:
        """The modules directly below this one, as nested dictionaries and lists."""
        return self.filter_and_map(self.valid_child_filter, is_leaf_fn=_is_module_item)

    def leaf_modules(self) -> dict[str, Any]:
        """The modules at any depth that have no modules below them."""
        return self.filter_and_map(self.valid_child_filter, is_leaf_fn=_is_leaf_module_item)

    def modules(self) -> list["Module"]:
        """This module and all below it."""
        return [module for _, module in self.named_modules()]

    def named_modules(self) -> list[tuple[str, "Module"]]:
        """This module and all below it, with their paths; its own path is empty."""
        found: list[tuple[str, Module]] = []
        waiting: list[tuple[str, Module]] = [("", self)]
        while waiting:
            path, module = waiting.pop()
            found.append((path, module))
            prefix = f".{path}" if path else ""
            waiting += tree_flatten(module.children(), prefix=prefix, is_leaf=self.is_module)
        return found

    # ---- changes ----

    def update(self, parameters: dict[str, Any], strict: bool = True) -> "Module":  # type: ignore[override]
        """Replaces parameters.

        Args:
            parameters: Nested dictionaries and lists of arrays, structured like
                :meth:`parameters`. What it lacks stays as it is.
            strict: Whether a parameter that the module does not have is an error, or ignored.

        Returns:
            The module.

        Raises:
            ValueError: If ``strict`` and ``parameters`` does not fit.
        """
        _replace(self, parameters, _ReplaceArrays(strict))
        return self

    def apply(
        self, map_fn: Callable[[mx.array], mx.array], filter_fn: Filter | None = None
    ) -> "Module":
        """Replaces parameters by the results of a function.

        Args:
            map_fn: Takes a parameter and returns the new one.
            filter_fn: Says which items to go into, see :meth:`filter_and_map`; all parameters if
                None.

        Returns:
            The module.
        """
        self.update(self.filter_and_map(filter_fn or self.valid_parameter_filter, map_fn))
        return self

    def update_modules(self, modules: dict[str, Any], strict: bool = True) -> "Module":
        """Replaces modules.

        Args:
            modules: Nested dictionaries and lists of modules, structured like :meth:`children` or
                :meth:`leaf_modules`. What it lacks stays as it is.
            strict: Whether a module for which there is no place is an error, or ignored.

        Returns:
            The module.

        Raises:
            ValueError: If ``strict`` and ``modules`` does not fit.
        """
        _replace(self, modules, _ReplaceModules(strict))
        return self

    def apply_to_modules(self, apply_fn: Callable[[str, "Module"], Any]) -> "Module":
        """Calls a function with the path and the object of this module and of all below it.

        Returns:
            The module.
        """
        for path, module in self.named_modules():
            apply_fn(path, module)
        return self

    def freeze(
        self,
        *,
        recurse: bool = True,
        keys: str | list[str] | None = None,
        strict: bool = False,
    ) -> "Module":
        """Takes parameters out of :meth:`trainable_parameters`.

        Args:
            recurse: Whether modules below are frozen, too.
            keys: The names of parameters to freeze, such as ``"bias"``; all if None.
            strict: Whether a name that no module has is an error.

        Returns:
            The module.

        Raises:
            KeyError: If ``strict`` and no module has one of ``keys``.
        """

        def freeze_one(_: str, module: Module) -> None:
            module._no_grad.update(_own_parameters(module) if names is None else names)

        names = self._checked_names(keys, recurse, strict)
        self._visit(freeze_one, recurse)
        return self

    def unfreeze(
        self,
        *,
        recurse: bool = True,
        keys: str | list[str] | None = None,
        strict: bool = False,
    ) -> "Module":
        """Puts parameters back into :meth:`trainable_parameters`; the opposite of :meth:`freeze`.

        The arguments and errors are those of :meth:`freeze`.
        """

        def unfreeze_one(_: str, module: Module) -> None:
            module._no_grad.difference_update(list(module._no_grad) if names is None else names)

        names = self._checked_names(keys, recurse, strict)
        self._visit(unfreeze_one, recurse)
        return self

    def _visit(self, function: Callable[[str, "Module"], Any], recurse: bool) -> None:
        if recurse:
            self.apply_to_modules(function)
        else:
            function("", self)

    def _checked_names(
        self, keys: str | list[str] | None, recurse: bool, strict: bool
    ) -> list[str] | None:
        names = [keys] if isinstance(keys, str) else keys
        if names is not None and strict:
            held = set().union(*self.modules()) if recurse else set(self)
            for name in names:
                if name not in held:
                    raise KeyError(f"Module doesn't contain member {name}.")
        return names

    def train(self, mode: bool = True) -> "Module":
        """Sets this module and those below it to training mode, or with False to evaluation mode.

        Layers such as :class:`Dropout` and :class:`BatchNorm` behave differently in the two modes.

        Returns:
            The module.
        """
        return self.apply_to_modules(lambda _, module: module._set_training_mode(mode))

    def eval(self) -> "Module":
        """The same as ``train(False)``."""
        return self.train(False)

    def _set_training_mode(self, mode: bool) -> None:
        """Stores the mode; layers that must do more when it changes override this."""
        self._training = mode

    def set_dtype(
        self, dtype: mx.Dtype, predicate: Callable[[mx.Dtype], bool] | None = is_floating
    ) -> None:
        """Converts parameters to another element type.

        Args:
            dtype: The new type.
            predicate: Says of a parameter's type whether to convert it; None means all.
        """

        def convert(x: mx.array) -> mx.array:
            return x.astype(dtype) if predicate is None or predicate(x.dtype) else x

        self.apply(convert)

    # ---- files ----

    def load_weights(
        self,
        file_or_weights: str | list[tuple[str, mx.array]] | dict[str, mx.array],
        strict: bool = True,
    ) -> "Module":
        """Replaces the parameters by those of a file.

        Args:
            file_or_weights: The path of an ``.npz`` or ``.safetensors`` file, or the paths of the
                parameters with their arrays.
            strict: Whether names and shapes must be exactly those of the module. Without it,
                names that the module does not have are ignored, and shapes may differ.

        Returns:
            The module.

        Raises:
            ValueError: If ``strict`` and a parameter is missing, unknown, no array, or of another
                shape.
        """
        if isinstance(file_or_weights, str):
            loaded = mx.load(file_or_weights)
            if not isinstance(loaded, dict):
                raise ValueError(
                    f"[load_weights] Argument file_or_weights must name a file of several arrays"
                    f" ('.npz' or '.safetensors'), but {file_or_weights} is none."
                )
            weights = dict(loaded)
        else:
            weights = dict(file_or_weights)
        if strict:
            _check_weights(weights, dict(tree_flatten(self.parameters())))
        if weights:
            self.update(tree_unflatten(weights), strict=False)
        return self

    def save_weights(self, file: str) -> None:
        """Writes the parameters to a file.

        Args:
            file: Its path, which ends in ``.npz`` or ``.safetensors``.

        Raises:
            ValueError: If it ends in something else.
        """
        weights = dict(tree_flatten(self.parameters()))
        if str(file).endswith(".npz"):
            mx.savez(file, **weights)
        elif str(file).endswith(".safetensors"):
            mx.save_safetensors(file, weights)
        else:
            raise ValueError(
                f"[save_weights] Unsupported file extension of {file}: use '.npz' or '.safetensors'."
            )


# ---- traversals of the tree of modules ----


def _unchanged(value: Any) -> Any:
    return value


def _has_nothing_below(module: Module, key: str, value: Any) -> bool:
    return not isinstance(value, (dict, list))


def _is_module_item(module: Module, key: str, value: Any) -> bool:
    return isinstance(value, Module)


def _is_leaf_module_item(module: Module, key: str, value: Any) -> bool:
    if not isinstance(value, Module):
        return False
    return not tree_flatten(value.children(), is_leaf=Module.is_module)


class _Walk:
    """Implements `Module.filter_and_map`: builds the tree of filtered items."""

    def __init__(self, wanted: Filter, function: Callable[[Any], Any], is_leaf: Filter) -> None:
        self.wanted, self.function, self.is_leaf = wanted, function, is_leaf

    def module(self, module: Module) -> dict[str, Any]:
        return {k: self.item(module, k, v) for k, v in module.items() if self.wanted(module, k, v)}

    def item(self, module: Module, path: str, value: Any) -> Any:
        if self.is_leaf(module, path, value):
            return self.function(value)
        if isinstance(value, Module):
            return self.module(value)
        if isinstance(value, dict):
            return {k: self.inner(module, f"{path}.{k}", v) for k, v in value.items()}
        if isinstance(value, list):
            return [self.inner(module, f"{path}.{i}", v) for i, v in enumerate(value)]
        raise RuntimeError("Unexpected leaf found while traversing the module")

    def inner(self, module: Module, path: str, value: Any) -> Any:
        # Lists must keep their length: an omitted item becomes an empty dictionary.
        return self.item(module, path, value) if self.wanted(module, path, value) else {}


def _own_parameters(module: Module) -> list[str]:
    """The paths of a module's parameters, without those of modules below it."""

    def is_own(module: Module, key: str, value: Any) -> bool:
        return not isinstance(value, Module) and module.valid_parameter_filter(module, key, value)

    return [path for path, _ in tree_flatten(module.filter_and_map(is_own))]


# ---- replacing ----


class _ReplaceArrays:
    """A rule for `_replace`: arrays replace arrays."""

    what = "parameter"

    def __init__(self, strict: bool) -> None:
        self.strict = strict

    def fits(self, old: Any, new: Any) -> bool:
        return isinstance(old, mx.array) and (isinstance(new, mx.array) or not self.strict)


class _ReplaceModules(_ReplaceArrays):
    """The same for modules."""

    what = "sub-module"

    def fits(self, old: Any, new: Any) -> bool:
        return isinstance(old, Module) and isinstance(new, Module)


def _replace(old: Any, new: Any, rule: _ReplaceArrays) -> None:
    """Replaces the leaves of a tree by those at the same paths of another tree."""
    if type(new) is dict and not new:
        return  # an empty dictionary in a list or dictionary: the item was omitted
    if isinstance(old, dict) and isinstance(new, list) and not new:
        return  # what tree_unflatten makes of no items at all
    if isinstance(old, dict) and isinstance(new, dict):
        items: Iterable[tuple[Any, Any]] = new.items()
    elif isinstance(old, list) and isinstance(new, list):
        items = enumerate(new)
    elif rule.strict:
        raise ValueError(f"Received invalid type: {type(new).__name__}.")
    else:
        return
    for key, value in items:
        if not (key in old if isinstance(old, dict) else key < len(old)):
            if rule.strict:
                raise ValueError(_no_place(old, key, rule.what))
        elif rule.fits(old[key], value):
            old[key] = value
        else:
            _replace(old[key], value, rule)


def _no_place(old: Any, key: Any, what: str) -> str:
    if isinstance(old, dict):
        return f'Module does not have {what} named "{key}".'
    return f"List index {key} is out of bounds for destination of length {len(old)}."


def _check_weights(given: dict[str, Any], wanted: dict[str, mx.array]) -> None:
    """Raises ValueError unless there is an array of the right shape for each parameter."""
    if extra := sorted(given.keys() - wanted.keys()):
        raise ValueError(
            f"Received {len(extra)} parameters not in model: \n" + ",\n".join(extra) + "."
        )
    if missing := sorted(wanted.keys() - given.keys()):
        raise ValueError(f"Missing {len(missing)} parameters: \n" + ",\n".join(missing) + ".")
    for name, parameter in wanted.items():
        value = given[name]
        if not isinstance(value, mx.array):
            raise ValueError(f"Expected mx.array but received {type(value)} for parameter {name}")
        if value.shape != parameter.shape:
            raise ValueError(
                f"Expected shape {parameter.shape} but received shape {value.shape} for"
                f" parameter {name}"
            )
