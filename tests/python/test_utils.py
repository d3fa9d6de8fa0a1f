"""Trees of mlx.utils."""

from collections import namedtuple

import mlx.core as mx
import pytest
from mlx.utils import (
    tree_flatten,
    tree_map,
    tree_map_with_path,
    tree_merge,
    tree_reduce,
    tree_unflatten,
)

TREE = {"layers": [{"w": 1, "b": 2}, {"w": 3}], "out": (4, [5, None])}


def test_tree_map():
    assert tree_map(lambda x: x and x * 10, TREE) == {
        "layers": [{"w": 10, "b": 20}, {"w": 30}],
        "out": (40, [50, None]),
    }
    assert tree_map(lambda a, b: a + b, {"x": [1, 2]}, {"x": [10, 20], "y": 0}) == {"x": [11, 22]}
    assert tree_map(
        len, [[1, 2], [3]], is_leaf=lambda t: isinstance(t, list) and t and isinstance(t[0], int)
    ) == [2, 1]
    point = namedtuple("Point", "x y")
    assert tree_map(lambda v: v + 1, point(1, 2)) == point(2, 3)


def test_tree_map_with_path():
    paths = []
    tree_map_with_path(lambda path, leaf: paths.append((path, leaf)), TREE)
    assert paths[:3] == [("layers.0.w", 1), ("layers.0.b", 2), ("layers.1.w", 3)]
    assert tree_map_with_path(lambda p, v: p, {"a": [0]}, path="top") == {"a": ["top.a.0"]}


def test_flatten_and_unflatten_are_inverse():
    flat = tree_flatten(TREE)
    assert flat[0] == ("layers.0.w", 1) and flat[-1] == ("out.1.1", None)
    back = tree_unflatten(flat)
    assert back == {"layers": [{"w": 1, "b": 2}, {"w": 3}], "out": [4, [5, None]]}
    assert tree_unflatten(dict(flat)) == back
    assert tree_flatten(TREE, destination={}) == dict(flat)
    assert tree_flatten({"a": 1}, prefix=".p") == [("p.a", 1)]
    assert tree_flatten(7) == [("", 7)] and tree_unflatten([("", 7)]) == 7
    assert tree_unflatten([]) == [] and tree_unflatten([("1", "a")]) == [{}, "a"]
    assert tree_unflatten([("0", "a"), ("2", "c"), ("10", "k")])[10] == "k"


def test_tree_reduce():
    assert tree_reduce(lambda total, v: total + (v or 0), TREE, 0) == 15
    assert tree_reduce(lambda a, b: a + b, [[1], [2, 3]]) == 6


def test_tree_merge():
    assert tree_merge({"a": 1, "b": {}}, {"b": {"c": 2}}) == {"a": 1, "b": {"c": 2}}
    assert tree_merge([1, None], [None, 2, 3]) == [1, 2, 3]
    assert tree_merge({"a": 1}, {"a": 2}, lambda x, y: x + y) == {"a": 3}
    assert tree_merge({"a": {}}, {"b": None}) == {"a": {}, "b": None}
    assert tree_merge([None, {}], [{}]) == [{}, {}]
    with pytest.raises(ValueError, match="same locations"):
        tree_merge({"a": 1}, {"a": 2})


def test_trees_of_arrays():
    doubled = tree_map(lambda a: a * 2, {"w": mx.array([1, 2])})
    assert doubled["w"].tolist() == [2, 4]
