"""Maps, flattens and merges trees of arrays: dictionaries, lists, tuples and registered classes."""

from collections import defaultdict  # noqa: F401 (MLX's module has this name and those below, too)
from collections.abc import Callable
from itertools import zip_longest  # noqa: F401
from typing import Any, Dict, List, Optional, Tuple, Union, overload  # noqa: F401, UP035

from mlx.core import _register_tree_class
from mlx.core import _tree_classes as _CLASSES  # type -> (flatten, unflatten)


def register_tree_class(
    cls: type, flatten: Callable[[Any], tuple[Any, Any]], unflatten: Callable[[Any, Any], Any]
) -> type:
    """Makes the objects of a class inner nodes of trees, for this module and every transformation.

    Args:
        cls: The class itself; classes derived from it are registered on their own.
        flatten: Takes an object, returns its children (a tree, best a dictionary by name) and the
            rest, which transformations leave as it is.
        unflatten: Takes children and rest, returns an object. It must not look at the children:
            they may be placeholders.

    Returns:
        The class.
    """
    _register_tree_class(cls, flatten, unflatten)
    return cls


def _children(tree: Any) -> Any:
    """Pairs (key, child) of an inner node, or None for a leaf."""
    if isinstance(tree, dict):
        return tree.items()
    if isinstance(tree, (list, tuple)):
        return enumerate(tree)
    return _children(_CLASSES[type(tree)][0](tree)[0]) if type(tree) in _CLASSES else None


def _child(tree: Any, key: Any) -> Any:
    return _CLASSES[type(tree)][0](tree)[0][key] if type(tree) in _CLASSES else tree[key]


def _rebuild(tree: Any, values: list[Any]) -> Any:
    """A node like ``tree`` that holds ``values``."""
    if type(tree) in _CLASSES:
        flatten, unflatten = _CLASSES[type(tree)]
        children, rest = flatten(tree)
        return unflatten(_rebuild(children, values), rest)
    if isinstance(tree, dict):
        return dict(zip(tree, values, strict=True))
    if hasattr(tree, "_fields"):
        return type(tree)(*values)
    return type(tree)(values) if type(tree) in (list, tuple) else _plain(tree)(values)


def _plain(tree: Any) -> type:
    return list if isinstance(tree, list) else tuple


def _join(path: Any, key: Any) -> str:
    return f"{path}.{key}" if path else str(key)


def tree_map(
    fn: Callable[..., Any], tree: Any, *rest: Any, is_leaf: Callable[[Any], bool] | None = None
) -> Any:
    """Applies ``fn`` to the leaves of ``tree`` and the matching leaves of ``rest``.

    Args:
        fn: Called with one leaf of every tree.
        tree: Dictionaries, lists and tuples, nested; anything else is a leaf.
        rest: Further trees that have at least the structure of ``tree``.
        is_leaf: Says of a node that it counts as a leaf.

    Returns:
        A tree of the results, structured like ``tree``.
    """
    children = None if is_leaf is not None and is_leaf(tree) else _children(tree)
    if children is None:
        return fn(tree, *rest)
    mapped = [
        tree_map(fn, child, *(_child(r, k) for r in rest), is_leaf=is_leaf) for k, child in children
    ]
    return _rebuild(tree, mapped)


def tree_map_with_path(
    fn: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: Callable[[Any], bool] | None = None,
    path: Any | None = None,
) -> Any:
    """Like :func:`tree_map`, but ``fn`` first gets the leaf's path (``"layers.0.weight"``).

    Args:
        fn: Called with the path and one leaf of every tree.
        tree: See :func:`tree_map`.
        rest: Likewise.
        is_leaf: Likewise.
        path: Put before every path.

    Returns:
        A tree of the results, structured like ``tree``.
    """
    children = None if is_leaf is not None and is_leaf(tree) else _children(tree)
    if children is None:
        return fn(path, tree, *rest)
    mapped = [
        tree_map_with_path(
            fn, child, *(_child(r, k) for r in rest), is_leaf=is_leaf, path=_join(path, k)
        )
        for k, child in children
    ]
    return _rebuild(tree, mapped)


@overload
def tree_flatten(
    tree: Any,
    prefix: str = "",
    is_leaf: Callable[[Any], bool] | None = None,
    destination: list[tuple[str, Any]] | None = None,
) -> list[tuple[str, Any]]: ...
@overload
def tree_flatten(
    tree: Any,
    prefix: str = "",
    is_leaf: Callable[[Any], bool] | None = None,
    *,
    destination: dict[str, Any],
) -> dict[str, Any]: ...
def tree_flatten(
    tree: Any,
    prefix: str = "",
    is_leaf: Callable[[Any], bool] | None = None,
    destination: list[tuple[str, Any]] | dict[str, Any] | None = None,
) -> list[tuple[str, Any]] | dict[str, Any]:
    """Lists the leaves of ``tree`` as pairs of path and value.

    Args:
        tree: The tree to flatten.
        prefix: Put before every path; its first character (a dot) is dropped.
        is_leaf: Says of a node that it counts as a leaf.
        destination: A list or dictionary to add the leaves to; a new list if None.
    """
    if destination is None:
        destination = []
    children = None if is_leaf is not None and is_leaf(tree) else _children(tree)
    if children is not None:
        for key, child in children:
            tree_flatten(child, f"{prefix}.{key}", is_leaf, destination=destination)  # type: ignore[call-overload]
    elif isinstance(destination, dict):
        destination[prefix[1:]] = tree
    else:
        destination.append((prefix[1:], tree))
    return destination


def tree_unflatten(tree: list[tuple[str, Any]] | dict[str, Any]) -> Any:
    """Rebuilds a tree from the pairs that :func:`tree_flatten` made.

    Levels whose keys are all integers become lists; gaps in them become empty dictionaries. No pairs at
    all make an empty list.

    Args:
        tree: The pairs, or a dictionary from paths to values.
    """
    items = list(tree.items()) if isinstance(tree, dict) else list(tree)
    if not items:
        return []
    if len(items) == 1 and items[0][0] == "":
        return items[0][1]
    levels: dict[str, list[tuple[str, Any]]] = {}
    for path, value in items:
        head, _, tail = path.partition(".")
        levels.setdefault(head, []).append((tail, value))
    if all(key.isdigit() for key in levels):
        return _unflatten_list({int(key): part for key, part in levels.items()})
    return {key: tree_unflatten(part) for key, part in levels.items()}


def _unflatten_list(levels: dict[int, list[tuple[str, Any]]]) -> list[Any]:
    last = max(levels)
    return [tree_unflatten(levels[i]) if i in levels else {} for i in range(last + 1)]


def tree_reduce(
    fn: Callable[..., Any],
    tree: Any,
    initializer: Any = None,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Any:
    """Folds the leaves of ``tree``, in order, into one value.

    Args:
        fn: Takes the accumulated value and a leaf, returns the new accumulated value.
        tree: The tree to reduce.
        initializer: The first accumulated value; the first leaf if None.
        is_leaf: Says of a node that it counts as a leaf.
    """
    children = None if is_leaf is not None and is_leaf(tree) else _children(tree)
    if children is None:
        return tree if initializer is None else fn(initializer, tree)
    accumulated = initializer
    for _, child in children:
        accumulated = tree_reduce(fn, child, accumulated, is_leaf)
    return accumulated


def tree_merge(tree_a: Any, tree_b: Any, merge_fn: Callable[[Any, Any], Any] | None = None) -> Any:
    """Merges two trees whose leaves complement each other.

    Empty containers and None are replaced by the other tree. Where both have a value, ``merge_fn``
    decides; without it that is a ValueError.

    Args:
        tree_a: A tree.
        tree_b: Another one.
        merge_fn: Called with both values.
    """
    if tree_b is None or (tree_a is not None and _is_empty(tree_b)):
        return tree_a
    if tree_a is None or _is_empty(tree_a):
        return tree_b
    if isinstance(tree_a, dict) and isinstance(tree_b, dict):
        keys = dict.fromkeys((*tree_a, *tree_b))
        return {k: tree_merge(tree_a.get(k), tree_b.get(k), merge_fn) for k in keys}
    if isinstance(tree_a, (list, tuple)) and isinstance(tree_b, (list, tuple)):
        return _merge_sequences(tree_a, tree_b, merge_fn)
    if merge_fn is None:
        raise ValueError(
            "[tree_merge] Trees contain elements at the same locations but no merge function was"
            " provided."
        )
    return merge_fn(tree_a, tree_b)


def _merge_sequences(a: Any, b: Any, merge_fn: Callable[[Any, Any], Any] | None) -> Any:
    longest = max(len(a), len(b))
    pad_a = [*a, *[None] * (longest - len(a))]
    pad_b = [*b, *[None] * (longest - len(b))]
    merged = [tree_merge(x, y, merge_fn) for x, y in zip(pad_a, pad_b, strict=True)]
    return _plain(a)(merged)


def _is_empty(tree: Any) -> bool:
    return isinstance(tree, (dict, list, tuple)) and len(tree) == 0
