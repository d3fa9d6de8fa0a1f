"""Headers of MLX's kernels: functions, reductions, constants as types; each compiles wherever it is included."""

import math
import subprocess
from itertools import product
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel, run_one, to_numpy

PACKAGE = Path(mx.__file__).resolve().parent
METALC = PACKAGE / "bin" / "metalc"
FOLDER = "mlx/backend/metal/kernels/"
HEADERS = sorted(
    str(path.relative_to(PACKAGE / "lib" / "metal" / "stdlib"))
    for path in (PACKAGE / "lib" / "metal" / "stdlib" / FOLDER).rglob("*.h")
)


def include(*names: str) -> str:
    return "".join(f'#include "{FOLDER}{name}.h"\n' for name in names)


def metalc(*arguments: object) -> str:
    done = subprocess.run([METALC, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:3000]
    return done.stdout


# ---- functions ----

FUNCTIONS = {
    "erf": (np.linspace(-5, 5, 1024), math.erf, 3e-7),
    "expm1f": (np.linspace(-30, 88, 1024) ** 3 / 88**2, math.expm1, 3e-7),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str):
    x, reference, tolerance = FUNCTIONS[name]
    x = x.astype(np.float32)
    header = include("erf", "expm1f")
    body = f"uint i = thread_position_in_grid.x; out[i] = {name}(x[i]);"
    got = run_one(body, {"x": x}, {"out": (x.shape, mx.float32)}, x.size, header=header)
    want = np.vectorize(reference)(x.astype(np.float64))
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=1e-7)


def test_inverse_error_function():
    y = np.linspace(-0.9999, 0.9999, 1023).astype(np.float32)
    body = "uint i = thread_position_in_grid.x; out[i] = erfinv(y[i]);"
    got = run_one(body, {"y": y}, {"out": (y.shape, mx.float32)}, y.size, header=include("erf"))
    back = np.vectorize(math.erf)(got.astype(np.float64))
    np.testing.assert_allclose(back, y, rtol=1e-5, atol=1e-6)


# ---- reductions ----

TYPES = {
    "float": mx.float32,
    "half": mx.float16,
    "bfloat16_t": mx.bfloat16,
    "int": mx.int32,
    "uchar": mx.uint8,
    "long": mx.int64,
    "complex64_t": mx.complex64,
}
REDUCTIONS = {"Sum": np.sum, "Prod": np.prod, "Min": np.min, "Max": np.max}
REDUCE = """
    Op op;
    uint lane = thread_index_in_simdgroup;
    T own = Op::init;
    for (uint i = lane; i < 64; i += 32) own = op(own, x[i]);
    own = op.simd_reduce(own);
    if (lane == 0) out[0] = own;
"""


def extreme(function, x: np.ndarray):
    """Complex numbers are compared by their real parts first."""
    return (
        function(x)
        if x.dtype != np.complex64
        else sorted(x, key=lambda z: (z.real, z.imag))[0 if function is np.min else -1]
    )


@pytest.mark.parametrize(("name", "kind"), list(product(REDUCTIONS, TYPES)))
def test_reductions(rng, name, kind):
    x = rng.integers(1, 3, 64).astype(np.float32) if name != "Prod" else np.ones(64, np.float32)
    x[[3, 40, 50]] = [3, 4, 1]
    if kind == "complex64_t":
        x = x + 1j * rng.integers(-1, 2, 64).astype(np.float32) * (name != "Prod")
    if name == "Prod" and kind == "complex64_t":
        x[20:22] = 1j
    made = mx.array(x).astype(TYPES[kind])
    got = run_one(
        REDUCE.replace("T own", kind + " own").replace("Op", f"{name}<{kind}>"),
        {"x": made},
        {"out": ((1,), TYPES[kind])},
        32,
        header=include("reduce_utils"),
    )[0]
    wide = to_numpy(made).astype(np.complex64 if kind == "complex64_t" else np.float64)
    want = extreme(REDUCTIONS[name], wide) if name in ("Min", "Max") else REDUCTIONS[name](wide)
    assert got == want


@pytest.mark.parametrize("kind", ["float", "half", "bfloat16_t"])
@pytest.mark.parametrize("name", ["Min", "Max"])
def test_extremes_with_nan(name, kind):
    x = mx.array(np.where(np.arange(64) == 37, np.nan, np.arange(64)).astype(np.float32))
    body = REDUCE.replace("T own", kind + " own").replace("Op", f"{name}<{kind}>")
    options = {"header": include("reduce_utils")}
    kind_of = TYPES[kind]
    got = run_one(body, {"x": x.astype(kind_of)}, {"out": ((1,), kind_of)}, 32, **options)
    assert np.isnan(got[0])


def test_reductions_of_booleans():
    body = """
        uint lane = thread_index_in_simdgroup;
        And<bool> all; Or<bool> any;
        bool a = all.simd_reduce(x[lane]), o = any.simd_reduce(x[lane] && lane == 5);
        if (lane == 0) {
            out[0] = a; out[1] = o; out[2] = And<bool>::init; out[3] = Or<bool>::init;
            out[4] = all(true, false); out[5] = any(true, false);
        }
    """
    x = np.arange(32) != 7
    options = {"header": include("reduce_utils")}
    got = run_one(body, {"x": x}, {"out": ((6,), mx.bool_)}, 32, **options)
    np.testing.assert_array_equal(got, [False, True, True, False, False, True])


def test_atomic_updates():
    """Every thread combines a value with one in memory."""
    body = """
        uint i = thread_position_in_grid.x;
        device mlx_atomic<float>* o = (device mlx_atomic<float>*)out;
        Sum<float>().atomic_update(o, 1.0f);
        Max<float>().atomic_update(o, float(i), 1);
        Min<float>().atomic_update(o, -float(i), 2);
        Prod<float>().atomic_update(o, i < 3 ? 2.0f : 1.0f, 3);
        None().atomic_update(o, 9.0f, 4);
        device mlx_atomic<uint>* words = (device mlx_atomic<uint>*)flags;
        And<bool>().atomic_update(words, i != 70, 1);
        And<bool>().atomic_update(words, true, 2);
        Or<bool>().atomic_update(words, i == 70, 0, 1);
        Or<bool>().atomic_update(words, false, 3, 1);
    """
    header = include("reduce_utils")
    kernel = mx.fast.metal_kernel(
        name="updates", input_names=[], output_names=["out", "flags"], source=body, header=header
    )
    out, flags = kernel(
        inputs=[],
        output_shapes=[(5,), (8,)],
        output_dtypes=[mx.float32, mx.uint8],
        grid=(128, 1, 1),
        threadgroup=(64, 1, 1),
        init_value=1,
    )
    np.testing.assert_array_equal(np.array(out), [129, 127, -127, 8, 9])
    np.testing.assert_array_equal(np.array(flags), [1, 0, 1, 1, 1, 1, 1, 1])


def test_atomic_exchanges():
    body = """
        uint i = thread_position_in_grid.x;
        device mlx_atomic<float>* o = (device mlx_atomic<float>*)out;
        float seen = mlx_atomic_load_explicit(o, 1);
        while (!mlx_atomic_compare_exchange_weak_explicit(o, &seen, seen + simd_size, 1)) {}
    """
    (out,) = run_kernel(
        body,
        {},
        {"out": ((2,), mx.float32)},
        100,
        header=include("reduce_utils"),
        init_value=0,
    )
    np.testing.assert_array_equal(out, [0, 3200])


# ---- types ----

CONSTANTS = """
    using namespace mlx::steel;
    static_assert(is_same_v<decltype(Int<3>{} + Int<4>{}), Int<7>>);
    static_assert(is_same_v<decltype(Int<3>{} * Int<4>{} - Int<2>{}), Int<10>>);
    static_assert(decltype(Int<3>{} < Int<4>{})::value && !decltype(Int<3>{} == Int<4>{})::value);
    static_assert(sum(Int<1>{}, Int<2>{}, Int<3>{}) == 6 && sum(1, Int<2>{}) == 3);
    static_assert(mlx::steel::is_integral_v<Int<1>> && mlx::steel::is_integral_v<short>);
    static_assert(!mlx::steel::is_integral_v<float>);
    static_assert(is_same_v<pointer_element_t<device const half*>, half>);
    static_assert(is_same_v<pointer_element_t<threadgroup float2* const>, float2>);
    static_assert(is_static<Int<4>>::value && !is_static<int>::value && is_empty_v<true_type>);
    static_assert(is_same_v<metal::void_t<int, float>, void>);
    using Tile = MMATile<half, 2, 3>;
    static_assert(Tile::kRows == 16 && Tile::kCols == 24 && Tile::kNumFrags == 6);
    static_assert(Tile::kElemsPerTile == 12 && Tile::kRowsPerThread == 2);
    static_assert(sizeof(GEMMParams) == 72 && sizeof(GEMMAddMMParams) == 24);
    static_assert(sizeof(GEMMSpiltKParams) == 52 && sizeof(AttnMaskParams) == 24);
    static_assert(sizeof(AttnParams) == 56 + 96 && CShape<3, 4>::kCols == 4);
"""


def test_constants_and_types():
    body = """
        int all = 0;
        const_for_loop<0, 10, 3>([&](auto i) { all = all * 10 + decltype(i)::value; });
        out[0] = all;
        dispatch_bool(x[0] > 0, [&](auto is) { out[1] = decltype(is)::value ? 5 : 6; });
        int2 tile = BlockSwizzle::swizzle(uint3(13, 2, 0), 2);
        out[2] = tile.x * 100 + tile.y;
        ulong2 two = elem_to_loc_broadcast(7u, shape, strides, strides + 2, 2);
        ulong3 three = elem_to_loc_broadcast(7u, shape, strides, strides + 2, strides, 2);
        out[3] = two.x; out[4] = two.y; out[5] = three.z == two.x && three.y == two.y;
    """
    got = run_one(
        body,
        {
            "x": np.array([3], np.int32),
            "shape": np.array([4, 3], np.int32),
            "strides": np.array([100, 1, 0, 7], np.int64),
        },
        {"out": ((6,), mx.int32)},
        1,
        header=include("steel/gemm/gemm", "steel/attn/params", "steel/attn/loader") + CONSTANTS,
    )
    np.testing.assert_array_equal(got, [369, 5, 309, 201, 7, 1])


# ---- files ----


@pytest.mark.parametrize("header", HEADERS)
def test_each_header_alone(tmp_path: Path, header: str):
    """First in a file, after Metal's own, and twice."""
    first = tmp_path / "first.metal"
    first.write_text(f'#include "{header}"\nkernel void f(device float* x) {{ x[0] = 1; }}\n')
    last = tmp_path / "last.metal"
    last.write_text(
        f'#include <metal_stdlib>\nusing namespace metal;\n#include "{header}"\n#include "{header}"\n'
        "kernel void g(device float* x) { x[0] = exp(x[1]); }\n"
    )
    metalc("-o", tmp_path / "both.metallib", first, last)


def test_copies_of_headers_in_a_folder_of_the_package(tmp_path: Path):
    """A package's own copy is included, also by this package's headers."""
    copy = tmp_path / FOLDER / "steel/gemm/transforms.h"
    copy.parent.mkdir(parents=True)
    ours = PACKAGE / "lib" / "metal" / "stdlib" / FOLDER / "steel/gemm/transforms.h"
    copy.write_text("#define FROM_THE_PACKAGE\n" + ours.read_text())
    source = tmp_path / "x.metal"
    for headers in (("steel/gemm/transforms", "steel/gemm/gemm"), ("steel/gemm/gemm",)):
        source.write_text(
            include("utils", *headers, "steel/gemm/transforms")
            + "#ifndef FROM_THE_PACKAGE\n#error another copy\n#endif\n"
            "kernel void f(device float* x) { x[0] = mlx::steel::TransformNone<float, int>::apply(3); }\n"
        )
        metalc("-I", tmp_path, "-o", tmp_path / "x.metallib", source)


PRODUCT = """
    template <typename T, bool ta, bool tb>
    [[kernel]] void product(
        const device T* A [[buffer(0)]], const device T* B [[buffer(1)]], device T* D [[buffer(2)]],
        const constant mlx::steel::GEMMParams* params [[buffer(3)]],
        uint lane [[thread_index_in_simdgroup]], uint group [[simdgroup_index_in_threadgroup]],
        uint3 tid [[threadgroup_position_in_grid]], uint3 lid [[thread_position_in_threadgroup]]) {
      using gemm = mlx::steel::GEMMKernel<T, T, 32, 32, 16, 2, 2, ta, tb, false, false>;
      threadgroup T As[gemm::tgp_mem_size_a], Bs[gemm::tgp_mem_size_b];
      gemm::run(A, B, D, params, As, Bs, lane, group, tid, lid);
    }
    instantiate_kernel("product_float_nn", product, float, false, false)
    instantiate_kernel("product_half_nt", product, half, false, true)
    instantiate_kernel("product_bfloat_tn", product, bfloat16_t, true, false)
"""


def test_products_for_nvidia_gpus(tmp_path: Path):
    source = tmp_path / "product.metal"
    source.write_text(include("utils", "steel/gemm/gemm") + PRODUCT)
    library = tmp_path / "product.metallib"
    metalc("-o", library, source)
    text = metalc("--emit", "ptx", library)
    for name in ("product_float_nn", "product_half_nt", "product_bfloat_tn"):
        assert f".visible .entry {name}(" in text
    assert "mma.sync" in text and "bar.sync" in text
