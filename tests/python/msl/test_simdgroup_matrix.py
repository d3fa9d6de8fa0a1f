"""simdgroup_matrix: loads, stores, products of all element types, and the layout of its elements over the lanes."""

from itertools import product

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel, run_one

TYPES = {"half": mx.float16, "bfloat": mx.bfloat16, "float": mx.float32}
INCLUDE = "#include <metal_simdgroup_matrix>\n"


def position(lane: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Row and first column of the two elements that a lane holds."""
    quad = lane // 4
    return (quad & 4) + lane // 2 % 4, (quad & 2) * 2 + lane % 2 * 2


def whole(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Small integers: products of them are exact in every type."""
    return rng.integers(-3, 4, shape).astype(np.float32)


@pytest.mark.parametrize("name", TYPES)
def test_elements_of_the_lanes(rng: np.random.Generator, name: str):
    x = whole(rng, 8, 8)
    body = f"""
        uint lane = thread_index_in_simdgroup;
        simdgroup_matrix<{name}, 8, 8> m;
        simdgroup_load(m, x, 8);
        out[2 * lane] = m.thread_elements()[0];
        out[2 * lane + 1] = reinterpret_cast<thread {name}2&>(m.thread_elements()).y;
    """
    got = run_one(
        body,
        {"x": mx.array(x).astype(TYPES[name])},
        {"out": ((32, 2), mx.float32)},
        32,
        header=INCLUDE,
    )
    row, column = position(np.arange(32))
    np.testing.assert_array_equal(got, np.stack([x[row, column], x[row, column + 1]], axis=1))


@pytest.mark.parametrize("types", list(product(TYPES, TYPES)), ids="-".join)
def test_products(rng: np.random.Generator, types: tuple[str, str]):
    element, result = types
    a, b, c = whole(rng, 8, 8), whole(rng, 8, 8), whole(rng, 8, 8)
    body = f"""
        simdgroup_matrix<{element}, 8, 8> a, b;
        simdgroup_matrix<{result}, 8, 8> c, d = simdgroup_matrix<{result}, 8, 8>(0);
        simdgroup_load(a, x_a);
        simdgroup_load(b, x_b, 8, ulong2(0, 0), false);
        simdgroup_load(c, x_c, 8);
        simdgroup_multiply_accumulate(d, a, b, c);
        simdgroup_store(d, out, 8);
        simdgroup_multiply(d, a, b);
        simdgroup_store(d, out + 64, 8, ulong2(0, 0), true);
        simdgroup_multiply_accumulate(c, a, b, c);
        simdgroup_store(c, out + 128);
    """
    inputs = {
        f"x_{n}": mx.array(x).astype(TYPES[t])
        for n, x, t in zip("abc", (a, b, c), (element, element, result))
    }
    got = run_one(body, inputs, {"out": ((3, 8, 8), TYPES[result])}, 32, header=INCLUDE)
    np.testing.assert_array_equal(got, [a @ b + c, (a @ b).T, a @ b + c])


def test_loads_with_strides_origins_and_transposition(rng: np.random.Generator):
    x = whole(rng, 20, 24)
    body = """
        threadgroup float tile[20 * 24];
        uint lane = thread_index_in_simdgroup;
        for (uint i = lane; i < 480; i += 32) tile[i] = x[i];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        simdgroup_float8x8 m;
        simdgroup_load(m, x + 3 * 24 + 5, 24);
        simdgroup_store(m, out, 8);
        simdgroup_load(m, (const threadgroup float*)tile, 24, ulong2(5, 3));
        simdgroup_store(m, out + 64, 8);
        simdgroup_load(m, x + 2, 24, ulong2(0, 0), true);
        simdgroup_store(m, out + 128, 8);
        simdgroup_load(m, tile, 24, 0, true);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        simdgroup_store(m, tile, 12, ulong2(2, 1));
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = lane; i < 64; i += 32) out[192 + i] = tile[(1 + i / 8) * 12 + 2 + i % 8];
    """
    got = run_one(body, {"x": x}, {"out": ((4, 8, 8), mx.float32)}, 32, header=INCLUDE)
    want = [x[3:11, 5:13], x[3:11, 5:13], x[:8, 2:10].T, x[:8, :8].T]
    np.testing.assert_array_equal(got, want)


def test_filled_and_diagonal_matrices():
    body = """
        simdgroup_half8x8 a = make_filled_simdgroup_matrix<half, 8, 8>(0.5);
        simdgroup_store(a, out);
        simdgroup_store(simdgroup_half8x8(3), out + 64);
        simdgroup_half8x8 b(2.0h), d;
        simdgroup_multiply(d, a, b);
        d.thread_elements()[1] *= 4;
        d.thread_elements().x += 1;
        simdgroup_store(d, out + 128);
    """
    got = run_one(body, {}, {"out": ((3, 8, 8), mx.float16)}, 32, header=INCLUDE)
    np.testing.assert_array_equal(got[0], np.full((8, 8), 0.5))
    np.testing.assert_array_equal(got[1], 3 * np.eye(8))
    np.testing.assert_array_equal(got[2], np.tile([2, 4], (8, 4)))


def test_rounding_happens_once():
    """Products of half matrices are summed in single precision."""
    a = np.full((8, 8), 0.1, np.float16)
    b = np.full((8, 8), 0.3, np.float16)
    body = """
        simdgroup_half8x8 a, b, d;
        simdgroup_load(a, x_a);
        simdgroup_load(b, x_b);
        simdgroup_multiply(d, a, b);
        simdgroup_store(d, out);
    """
    got = run_one(body, {"x_a": a, "x_b": b}, {"out": ((8, 8), mx.float16)}, 32, header=INCLUDE)
    want = (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)
    np.testing.assert_array_equal(got, want)


def test_blocked_matrix_multiplication(rng: np.random.Generator):
    """Four SIMD-groups, each with a 2x2 block of matrices, over tiles in threadgroup memory."""
    rows, inner, columns = 64, 48, 32
    a, b = (
        rng.normal(size=(rows, inner)).astype(np.float16),
        rng.normal(size=(inner, columns)).astype(np.float16),
    )
    header = (
        INCLUDE
        + """
        template <typename T, int K>
        struct Block {
            simdgroup_matrix<float, 8, 8> c[2][2];
            const threadgroup T* a; const threadgroup T* b;
            Block(const threadgroup T* a_, const threadgroup T* b_) : a(a_), b(b_) {
                for (short i = 0; i < 2; ++i)
                    for (short j = 0; j < 2; ++j) c[i][j] = simdgroup_matrix<float, 8, 8>(0);
            }
            void step(uint row, uint column) {
                #pragma clang loop unroll(full)
                for (short k = 0; k < K; k += 8) {
                    simdgroup_matrix<T, 8, 8> x[2], y[2];
                    for (short i = 0; i < 2; ++i) simdgroup_load(x[i], a + (row + 8 * i) * K + k, K);
                    for (short j = 0; j < 2; ++j) simdgroup_load(y[j], b + k * 32 + column + 8 * j, 32);
                    for (short i = 0; i < 2; ++i)
                        for (short j = 0; j < 2; ++j)
                            simdgroup_multiply_accumulate(c[i][j], x[i], y[j], c[i][j]);
                }
            }
        };
    """
    )
    body = """
        threadgroup half tile_a[32 * 16];
        threadgroup half tile_b[16 * 32];
        uint3 group = threadgroup_position_in_grid;
        uint i = thread_index_in_threadgroup, s = simdgroup_index_in_threadgroup;
        uint row = 16 * (s / 2), column = 16 * (s % 2);
        Block<half, 16> block(tile_a, tile_b);
        for (int k = 0; k < 48; k += 16) {
            threadgroup_barrier(mem_flags::mem_threadgroup);
            for (uint e = i; e < 512; e += 128) {
                tile_a[e] = a[(32 * group.x + e / 16) * 48 + k + e % 16];
                tile_b[e] = b[(k + e / 32) * 32 + e % 32];
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
            block.step(row, column);
        }
        for (short m = 0; m < 2; ++m)
            for (short n = 0; n < 2; ++n)
                simdgroup_store(block.c[m][n], out + (32 * group.x + row + 8 * m) * 32 + column + 8 * n, 32);
    """
    got = run_one(
        body,
        {"a": a, "b": b},
        {"out": ((rows, columns), mx.float32)},
        256,
        threadgroup=128,
        header=header,
    )
    np.testing.assert_allclose(
        got, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-4, atol=1e-4
    )


def test_template_over_the_element_type(rng: np.random.Generator):
    x = whole(rng, 8, 8)
    body = """
        simdgroup_matrix<T, 8, 8> m;
        simdgroup_load(m, in_x);
        simdgroup_store(m * m, out);
    """
    for name, dtype in TYPES.items():
        (got,) = run_kernel(
            body,
            {"in_x": mx.array(x).astype(dtype)},
            {"out": ((8, 8), dtype)},
            32,
            template=[("T", dtype)],
            header=INCLUDE,
        )
        np.testing.assert_array_equal(got, x @ x, err_msg=name)


REGION = 112  # elements, with some around each matrix that must stay as they are
PLACES = [
    (stride, transposed, origin, memory, at_run_time)
    for stride, transposed, origin in [
        (8, False, (0, 0)), (11, False, (0, 0)), (11, False, (2, 1)), (8, True, (0, 0)), (11, True, (0, 0)),
    ]
    for memory in ("device", "threadgroup")
    for at_run_time in (False, True)
]  # fmt: skip


@pytest.mark.parametrize("name", TYPES)
def test_transfers_touch_only_their_elements(rng: np.random.Generator, name: str):
    """Each region is copied to another one, whose elements were -7, through a matrix."""
    x = whole(rng, len(PLACES), REGION)
    blocks, want = [], np.full(x.shape, -7.0)
    for i, (stride, transposed, origin, memory, at_run_time) in enumerate(PLACES):
        step = f"strides[lane / 32 + {int(stride == 11)}]" if at_run_time else str(stride)
        tail = f"{step}, ulong2({origin[0]}, {origin[1]}), {str(transposed).lower()}"
        source, target = f"x + {REGION * i} + 1", f"out + {REGION * i} + 1"
        if memory == "threadgroup":
            blocks.append(f"""
                for (uint e = lane; e < {REGION}; e += 32) {{
                    from[e] = x[{REGION * i} + e]; to[e] = -7;
                }}
                threadgroup_barrier(mem_flags::mem_threadgroup);
                simdgroup_load(m, from + 1, {tail});
                simdgroup_store(m, to + 1, {tail});
                threadgroup_barrier(mem_flags::mem_threadgroup);
                for (uint e = lane; e < {REGION}; e += 32) out[{REGION * i} + e] = to[e];
            """)
        else:
            blocks.append(
                f"simdgroup_load(m, {source}, {tail}); simdgroup_store(m, {target}, {tail});"
            )
        row, column = np.mgrid[:8, :8]
        place = 1 + (origin[1] + row) * stride + origin[0] + column
        want[i, place] = x[i, place]
    body = f"""
        threadgroup {name} from[{REGION}], to[{REGION}];
        uint lane = thread_index_in_simdgroup;
        simdgroup_matrix<{name}, 8, 8> m;
    """ + "\n".join(blocks)
    inputs = {"x": mx.array(x).astype(TYPES[name]), "strides": np.array([8, 11], np.int32)}
    outputs = {"out": (x.shape, TYPES[name])}
    got = run_one(body, inputs, outputs, 32, header=INCLUDE, init_value=-7)
    np.testing.assert_array_equal(got, want)
