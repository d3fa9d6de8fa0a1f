"""Every input attribute in every type, for every thread of grids of one to three dimensions."""

import mlx.core as mx
import numpy as np
import pytest

# Of three components: where they are in `facts`.
VECTORS = (
    "thread_position_in_grid", "thread_position_in_threadgroup", "threadgroup_position_in_grid",
    "threads_per_grid", "threads_per_threadgroup", "dispatch_threads_per_threadgroup",
    "threadgroups_per_grid", "grid_origin", "grid_size",
)  # fmt: skip
SCALARS = (
    "thread_index_in_threadgroup", "thread_index_in_simdgroup", "thread_index_in_quadgroup",
    "simdgroup_index_in_threadgroup", "quadgroup_index_in_threadgroup", "threads_per_simdgroup",
    "thread_execution_width", "quadgroups_per_threadgroup", "simdgroups_per_threadgroup",
    "dispatch_simdgroups_per_threadgroup", "dispatch_quadgroups_per_threadgroup",
)  # fmt: skip
ELEMENTS = ("uint", "ushort", "int", "short")
REFUSED = ("uchar", "char", "bool", "long", "ulong", "float", "half", "uchar3", "float3", "long2")
GRIDS = [
    ((64, 1, 1), (64, 1, 1)), ((7, 1, 1), (7, 1, 1)), ((70, 1, 1), (32, 1, 1)),
    ((16, 8, 1), (8, 8, 1)), ((10, 6, 1), (4, 4, 1)), ((12, 6, 4), (6, 3, 2)), ((5, 7, 3), (2, 3, 2)),
    ((33, 2, 2), (33, 2, 1)), ((1, 1, 70), (1, 1, 8)), ((3, 50, 1), (1, 50, 1)),
]  # fmt: skip


def divided(a: np.ndarray, b) -> np.ndarray:
    return -(-a // b)


def facts(grid: tuple[int, int, int], group: tuple[int, int, int]) -> dict[str, np.ndarray]:
    """The attributes of each thread, by position in the grid."""
    p = np.stack(np.meshgrid(*map(np.arange, reversed(grid)), indexing="ij")[::-1], -1)
    grid, group = np.array(grid), np.array(group)
    number = p // group
    size = np.minimum(group, grid - number * group)  # fewer threads at the edges
    inside = p - number * group
    index = inside[..., 0] + size[..., 0] * (inside[..., 1] + size[..., 1] * inside[..., 2])
    count, most = size.prod(-1), group.prod()
    same = np.zeros_like(p)
    return {
        "thread_position_in_grid": p,
        "thread_position_in_threadgroup": inside,
        "threadgroup_position_in_grid": number,
        "threads_per_grid": same + grid,
        "grid_size": same + grid,
        "threads_per_threadgroup": size,
        "dispatch_threads_per_threadgroup": same + group,
        "threadgroups_per_grid": same + divided(grid, group),
        "grid_origin": same,
        "thread_index_in_threadgroup": index,
        "thread_index_in_simdgroup": index % 32,
        "thread_index_in_quadgroup": index % 4,
        "simdgroup_index_in_threadgroup": index // 32,
        "quadgroup_index_in_threadgroup": index // 4,
        "threads_per_simdgroup": same[..., 0] + 32,
        "thread_execution_width": same[..., 0] + 32,
        "quadgroups_per_threadgroup": divided(count, 4),
        "simdgroups_per_threadgroup": divided(count, 32),
        "dispatch_simdgroups_per_threadgroup": same[..., 0] + divided(most, 32),
        "dispatch_quadgroups_per_threadgroup": same[..., 0] + divided(most, 4),
    }


def source_of(attributes: dict[str, tuple[str, int]]) -> str:
    """A kernel whose output has all components of all these attributes, each in its type."""
    arguments, writes, count = [], [], 0
    for i, (attribute, (element, components)) in enumerate(attributes.items()):
        dimensions = f"{components}" if components > 1 else ""
        arguments.append(f"{element}{dimensions} a{i} [[{attribute}]]")
        for component in range(components):
            value = f"a{i}[{component}]" if components > 1 else f"a{i}"
            writes.append(f"out[at * COUNT + {count}] = {value};")
            count += 1
    lines = "\n".join(writes).replace("COUNT", str(count))
    return f"""
        #include <metal_stdlib>
        using namespace metal;
        kernel void attributes(device int* out [[buffer(0)]], uint3 p [[thread_position_in_grid]],
                               uint3 n [[threads_per_grid]], {", ".join(arguments)}) {{
          uint at = p.x + n.x * (p.y + n.y * p.z);
          {lines}
        }}
    """


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("components", [1, 2, 3])
def test_values_in_every_type(element: str, components: int):
    each = {name: (element, components) for name in VECTORS}
    each |= {name: (element, 1) for name in SCALARS}
    kernel = mx.fast.metal_kernel("attributes", source_of(each))
    for grid, group in GRIDS if (element, components) == ("uint", 3) else GRIDS[3:7]:
        known = facts(grid, group)
        columns = [
            known[name][..., c] if name in VECTORS else known[name]
            for name, (_, count) in each.items()
            for c in range(count)
        ]
        shape = (*reversed(grid), len(columns))
        out = kernel(mx.zeros(shape, mx.int32), grid=grid, threadgroup=group)
        names = [name for name, (_, count) in each.items() for _ in range(count)]
        for name, got, want in zip(names, np.moveaxis(np.array(out), -1, 0), columns, strict=True):
            np.testing.assert_array_equal(got, want, err_msg=f"{name} {grid} {group}")


def error_of(type_: str, attribute: str) -> str:
    """Of a kernel with such an argument."""
    scope = "metal::" if type_[-1] in "234" else ""
    source = f"""#include <metal_stdlib>
        kernel void f(device int* y,
                      {scope}{type_} a [[{attribute}]]) {{}}"""
    kernel = mx.fast.metal_kernel("f", source)
    with pytest.raises(RuntimeError, match=r":3:\d+: error: ") as error:
        mx.eval(kernel(mx.zeros(1, mx.int32), grid=(1, 1, 1), threadgroup=(1, 1, 1)))
    return str(error.value)


@pytest.mark.parametrize("attribute", VECTORS + SCALARS)
def test_other_types_are_refused(attribute: str):
    for components in [4] if attribute in VECTORS else [2, 3, 4]:
        for element in ELEMENTS:
            text = error_of(f"{element}{components}", attribute)
            assert "this input attribute has fewer components" in text
    for type_ in REFUSED if attribute in (VECTORS[0], SCALARS[0]) else REFUSED[::3]:
        assert "needs a 16- or 32-bit integer or a vector of them" in error_of(type_, attribute)
