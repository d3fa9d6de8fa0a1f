"""Matrices of SIMD-groups under checks: each lane's elements count, and products stay right."""

import mlx.core as mx
import numpy as np
import pytest
from check_runner import reports

HEAD = """
    uint i = thread_position_in_grid.x, lane = thread_index_in_simdgroup;
    uint g = simdgroup_index_in_threadgroup;
    threadgroup T t[4 * 64];
    simdgroup_matrix<T, 8, 8> m, n;
"""
BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"
FILL = f"for (uint k = i; k < 256; k += 64) t[k] = k % 64; {BARRIER}"

# By check, and the object that the report names.
WRONG = {
    "rows behind the input": (
        "bounds",
        "x",
        "simdgroup_load(m, x + 8, 8); simdgroup_store(m, o, 8);",
    ),
    "a long pitch": ("bounds", "x", "simdgroup_load(m, x, 10); simdgroup_store(m, o, 8);"),
    "columns behind": (
        "bounds",
        "x",
        "simdgroup_load(m, x, 8, ulong2(4, 1)); simdgroup_store(m, o, 8);",
    ),
    "transposed behind": (
        "bounds",
        "x",
        "simdgroup_load(m, x, 9, ulong2(0, 0), true); simdgroup_store(m, o, 8);",
    ),
    "rows behind the output": (
        "bounds",
        "o",
        "simdgroup_load(m, x, 8); simdgroup_store(m, o + 128 * g + 72, 8);",
    ),
    "behind the tile": (
        "bounds",
        "t",
        f"{FILL} simdgroup_load(m, t + 193, 8); simdgroup_store(m, o, 8);",
    ),
    "before the tile": (
        "bounds",
        "t",
        f"{FILL} simdgroup_load(m, t - 1, 8); simdgroup_store(m, o, 8);",
    ),
    "no barrier after the fill": (
        "races",
        "t",
        "for (uint k = i; k < 256; k += 64) t[k] = k; simdgroup_load(m, t, 8); simdgroup_store(m, o + g * 64, 8);",
    ),
    "no barrier before the next fill": (
        "races",
        "t",
        f"{FILL} simdgroup_load(m, t + 64 * (1 - g), 8); t[i] = 1; simdgroup_store(m, o + g * 64, 8);",
    ),
    "matrices that share a column": (
        "races",
        "t",
        "simdgroup_load(m, x, 8); simdgroup_store(m, t + 7 * g, 16);",
    ),
    "matrices that share an element, transposed": (
        "races",
        "t",
        "simdgroup_load(m, x, 8); if (g == 0) simdgroup_store(m, t, 8); "
        "else simdgroup_store(m, t + 63, 9, ulong2(0, 0), true);",
    ),
    "both write the output": (
        "races",
        "o",
        "simdgroup_load(m, x, 8); for (ushort k = 0; k < 2; ++k) m.thread_elements()[k] = g; "
        "simdgroup_store(m, o, 8);",
    ),
    "other lanes' elements": (
        "races",
        "t",
        "simdgroup_load(m, x, 8); simdgroup_store(m, t + 64 * g, 8); o[i] = t[64 * g + lane];",
    ),
    "a product that overflows": (
        "numbers",
        "o",
        "simdgroup_load(m, x, 8); n = m; n.thread_elements()[1] = metal::numeric_limits<T>::max();"
        "simdgroup_multiply(m, m, n); simdgroup_store(m, o + 64 * g, 8);",
    ),
    "a product of zero and infinity": (
        "numbers",
        "o",
        "simdgroup_load(m, x, 8); n = m; n.thread_elements()[0] = INFINITY;"
        "simdgroup_multiply(m, m, n); simdgroup_store(m, o + 64 * g, 8);",
    ),
    "infinite elements": (
        "numbers",
        "o",
        "simdgroup_load(m, x, 8); m.thread_elements()[lane % 2] += T(1) / T(x[0]);"
        "simdgroup_store(m, t + 64 * g, 8); simdgroup_load(n, t + 64 * g, 8);"
        "simdgroup_store(n, o + 64 * g, 8);",
    ),
}


def found_in(body: str, check: str, scalar: str) -> list:
    types = {"float": (np.float32, mx.float32), "half": (np.float16, mx.float16)}
    own, result = types[scalar]
    return reports(
        f"typedef {scalar} T;" + HEAD + body,
        check,
        x=np.arange(64).astype(own),
        outputs=256,
        dtype=result,
        header="#include <metal_simdgroup_matrix>\n",
    )


@pytest.mark.parametrize("also", ["", "all"])
@pytest.mark.parametrize("scalar", ["float", "half"])
@pytest.mark.parametrize("name", WRONG)
def test_wrong(name, scalar, also):
    check, object_, body = WRONG[name]
    found = [report for report in found_in(body, also or check, scalar) if report.kind == check]
    assert found and {report.object for report in found} == {object_}


RIGHT = {
    "tiles": f"{FILL} simdgroup_load(m, t + 64 * (1 - g), 8); {BARRIER} t[i] = 1; "
    "simdgroup_store(m, o + g * 64, 8);",
    "halves of a row": "simdgroup_load(m, x, 8); simdgroup_store(m, t + 8 * g, 16);"
    f"{BARRIER} simdgroup_load(n, t, 16, ulong2(8 * (1 - g), 0)); simdgroup_store(n, o + 64 * g, 8);",
    "the last row, transposed": "simdgroup_load(m, x, 8, ulong2(0, 0), true);"
    "simdgroup_store(m, o + 64 * g, 8, ulong2(0, 2), true);",
    "of one matrix": "simdgroup_load(m, x, 8); simdgroup_store(m, t + 64 * g, 8);"
    "simdgroup_load(n, t + 64 * g, 8); simdgroup_store(n, o + 64 * g, 8);",
    "a product": "simdgroup_load(m, x, 8); simdgroup_load(n, x, 0);"
    "simdgroup_multiply_accumulate(m, n, n, m); simdgroup_store(m, o + 64 * g, 8);",
    "one of them": "if (g == 1) { simdgroup_load(m, x, 8); simdgroup_store(m, o, 8); }",
    "what is outside and not used": "simdgroup_load(m, x + 64 * g, 8); simdgroup_load(n, x, 8);"
    "if (g == 0) n = m; simdgroup_store(n, o + 64 * g, 8);",
}


@pytest.mark.parametrize(
    "check", ["bounds", "races", "numbers", "barriers", "bounds,races,numbers", "all"]
)
@pytest.mark.parametrize("scalar", ["float", "half"])
@pytest.mark.parametrize("name", RIGHT)
def test_right(name, scalar, check):
    if check == "all" and name == "one of them":
        check = "bounds,races,barriers,numbers"  # three quarters of the output stay unwritten
    found = found_in(RIGHT[name], check, scalar)
    assert [str(report) for report in found] == []


@pytest.mark.parametrize("check", [None, "bounds", "races", "numbers", "uninitialised", "all"])
@pytest.mark.parametrize("size", [16, 40])
def test_products_are_the_same(check, size):
    """Tiles in threadgroup memory, several matrices a SIMD-group."""
    source = f"""
        threadgroup float at[16 * 8], bt[8 * 16];
        uint l = thread_index_in_threadgroup, g = simdgroup_index_in_threadgroup;
        uint top = threadgroup_position_in_grid.y * 16, left = threadgroup_position_in_grid.x * 16;
        simdgroup_float8x8 sums[2] = {{simdgroup_float8x8(0), simdgroup_float8x8(0)}};
        for (uint k = 0; k < {size}; k += 8) {{
            for (uint e = l; e < 128; e += 64) {{
                uint row = top + e / 8, column = left + e % 16;
                at[e] = row < {size} ? a[row * {size} + k + e % 8] : 0;
                bt[e] = column < {size} ? b[(k + e / 16) * {size} + column] : 0;
            }}
            {BARRIER}
            simdgroup_float8x8 x, y;
            simdgroup_load(x, at + g * 64, 8);
            for (int j = 0; j < 2; ++j) {{
                simdgroup_load(y, bt + j * 8, 16);
                simdgroup_multiply_accumulate(sums[j], x, y, sums[j]);
            }}
            {BARRIER}
        }}
        for (int j = 0; j < 2; ++j) {{
            uint row = top + g * 8, column = left + j * 8;
            if (row < {size} && column < {size}) simdgroup_store(sums[j], c + row * {size} + column, {size});
        }}
    """
    kernel = mx.fast.metal_kernel(
        name="product",
        input_names=["a", "b"],
        output_names=["c"],
        source=source,
        header="#include <metal_simdgroup_matrix>\n",
        check=check,
    )
    a, b = (mx.random.uniform(shape=(size, size)) for _ in range(2))
    (c,) = kernel(
        inputs=[a, b],
        grid=(64 * ((size + 15) // 16), (size + 15) // 16, 1),
        threadgroup=(64, 1, 1),
        output_shapes=[(size, size)],
        output_dtypes=[mx.float32],
    )
    expected = np.array(a, np.float64) @ np.array(b, np.float64)
    np.testing.assert_allclose(np.array(c), expected, rtol=1e-5)
