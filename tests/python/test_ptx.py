"""The output of `metalc --emit ptx`: kernels as assembly for NVIDIA GPUs."""

import re
import subprocess
from pathlib import Path

import mlx.core as mx
import pytest

PACKAGE = Path(mx.__file__).resolve().parent
METALC = PACKAGE / "bin" / "metalc"


def metalc(*arguments: object) -> str:
    done = subprocess.run([METALC, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:3000]
    return done.stdout


def ptx_of(folder: Path, source: str, *options: str) -> str:
    path = folder / "kernel.metal"
    path.write_text("#include <metal_stdlib>\nusing namespace metal;\n" + source)
    return metalc("--emit", "ptx", *options, path)


def of_one_float(folder: Path, body: str, *options: str) -> str:
    """A kernel over x with the thread's index i and the lane."""
    return ptx_of(
        folder,
        "kernel void f(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]],\n"
        "              uint lane [[thread_index_in_simdgroup]]) {" + body + "}",
        *options,
    )


def test_kernels_of_the_arrays():
    """One kernel of each kind, with alternating types: some 400 of 4000."""
    library = PACKAGE / "lib" / "mlx.metallib"
    kinds: dict[str, list[str]] = {}
    for line in metalc("--list", library).splitlines():
        name = line.partition("(")[0]
        kind = re.sub(r"bool_?|b?float\d+|complex64|u?int\d+", "T", name)
        kinds.setdefault(kind, []).append(name)
    chosen = [names[number % len(names)] for number, names in enumerate(kinds.values())]
    assert len(chosen) > 300
    text = metalc("--emit", "ptx", *(f"--function={name}" for name in chosen), library)
    assert re.findall(r"^\.visible \.entry (\w+)\(", text, re.MULTILINE) == chosen
    assert "ld.global" in text and "st.global" in text and "call.uni" not in text


@pytest.mark.parametrize("name", ["Maximum_vv_complex64", "Clip_vvv_complex64"])
def test_structures_that_are_chosen_stay_in_registers(name: str):
    text = metalc("--emit", "ptx", f"--function={name}", PACKAGE / "lib" / "mlx.metallib")
    assert "st.global" in text and ".local" not in text


def test_the_sample_package():
    import mlx_sample_extensions

    library = Path(mlx_sample_extensions.__file__).resolve().parent / "mlx_ext.metallib"
    names = [line.partition("(")[0] for line in metalc("--list", library).splitlines()]
    text = metalc("--emit", "ptx", library)
    assert re.findall(r"^\.visible \.entry (\w+)\(", text, re.MULTILINE) == names


def test_header_and_parameters(tmp_path: Path):
    text = ptx_of(
        tmp_path,
        """
        kernel void f(constant float4& scale [[buffer(3)]], device float4* x [[buffer(1)]],
                      threadgroup float* scratch [[threadgroup(0)]],
                      uint i [[thread_position_in_grid]], uint t [[thread_index_in_threadgroup]]) {
          scratch[t] = x[i].x;
          threadgroup_barrier(mem_flags::mem_threadgroup);
          x[i] *= scale * scratch[t ^ 1];
        }""",
    )
    assert re.search(r"^\.version 7\.8\n\.target sm_80\n\.address_size 64$", text, re.MULTILINE)
    # Buffers, the offset of the threadgroup's memory, and the size of the grid.
    parameters = re.findall(r"\.param \.(\w+) f_param_\d+", text)
    assert parameters == ["u64", "u64", "u32", "u32", "u32", "u32"]
    assert ".maxntid 1024, 1, 1" in text
    # Buffers may be bound at any element, so vectors are read and written element by element.
    assert "ld.global.nc.f32" in text and "st.global.f32" in text and "global.v4" not in text
    assert ".extern .shared .align 16 .b8 metal_threadgroup_memory[]" in text
    assert "bar.sync" in text and "st.shared.f32" in text


@pytest.mark.parametrize("arch", ["sm_80", "sm_86", "sm_90"])
def test_architectures(tmp_path: Path, arch: str):
    text = of_one_float(tmp_path, "x[i] = 1;", "--arch", arch)
    assert f".version 7.8\n.target {arch}\n" in text


def test_threads_outside_the_grid_leave(tmp_path: Path):
    text = of_one_float(tmp_path, "x[i] = 1;")
    body = text.partition("{")[2]
    guard = body.index("setp.lt.u32")
    assert "%ntid.x" in body[:guard] and "f_param_3" in body[:guard]
    assert body.index("st.global") > guard


def test_an_odd_name_becomes_one_that_ptx_has(tmp_path: Path):
    text = ptx_of(
        tmp_path,
        "template <typename T> [[kernel]] void f(device T* x) { x[0] = 1; }\n"
        'template [[host_name("2f<float>")]] [[kernel]] decltype(f<float>) f<float>;\n',
    )
    assert ".entry _2f$60float$62(" in text


def test_memory(tmp_path: Path):
    text = ptx_of(
        tmp_path,
        """
        constant float table[3] = {1, 2, 3};
        float total(const threadgroup float* p) { return p[0] + p[1]; }
        kernel void f(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
          threadgroup float shared[64];
          shared[i] = x[i] * table[i % 3];
          threadgroup_barrier(mem_flags::mem_threadgroup);
          float mine[8];
          for (uint k = 0; k < 8; ++k) mine[k] = shared[k + i];
          x[i] = total(shared) + mine[i & 7];
        }""",
    )
    assert re.search(r"\.global \.align 4 \.b8 \S*table\S*\[12\] = \{0, 0, 128, 63", text)
    assert re.search(r"\.shared \.align 16 \.b8 \S*shared\S*\[256\]", text)
    assert "st.local" in text and "ld.shared" in text


# The instructions of a statement after `float v = x[i]`.
OPERATIONS = {
    "v = simd_sum(v);": ["vote.sync.ballot", "shfl.sync.bfly", "shfl.sync.idx"],
    "v = simd_sum(int(v));": ["redux.sync.add.s32"],
    "v = simd_max(uint(v));": ["redux.sync.max.u32"],
    "v = simd_min(int(v));": ["redux.sync.min.s32"],
    "v = simd_xor(uint(v));": ["redux.sync.xor.b32"],
    "v = simd_prefix_inclusive_sum(v);": ["shfl.sync.idx"],
    "v = simd_shuffle_xor(v, 1);": ["shfl.sync.idx"],
    "v = quad_sum(v);": ["shfl.sync.idx"],
    "v = simd_any(v > 0);": ["vote.sync.ballot"],
    "if (lane < 3) v = simd_sum(v); v = simd_max(v);": ["activemask", "vote.sync.ballot"],
    "simdgroup_barrier(mem_flags::mem_none);": ["bar.warp.sync"],
    "threadgroup_barrier(mem_flags::mem_none);": ["bar.sync"],
    "v = popcount(uint(v)) + clz(uint(v));": ["popc.b32", "clz.b32"],
    "v = fma(v, v, 1.0f) / 3 + sqrt(v);": ["fma.rn.f32", "div.rn.f32", "sqrt.rn.f32"],
    "v = half(v) * half(3);": ["mul.rn.f16"],
    "v = bfloat(v) * bfloat(3);": ["cvt.rn.bf16.f32"],
    "v = min(v, 2.0f) + rint(v);": ["min.f32", "cvt.rni.f32.f32"],
}


@pytest.mark.parametrize("statement", OPERATIONS)
def test_operations(tmp_path: Path, statement: str):
    text = of_one_float(tmp_path, f"float v = x[i]; {statement} x[i] = v;")
    for expected in OPERATIONS[statement]:
        assert expected in text, text


def test_which_lanes_take_part(tmp_path: Path):
    """Threads converge after a loop, without those that have exited."""
    text = of_one_float(
        tmp_path,
        """
        if (x[i] < 0) return;
        float v = 0;
        for (uint k = lane; k < 77 + i % 7; k += 32) v += x[k];
        v = simd_sum(v);
        x[i] = v;""",
    )
    assert "vote.sync.ballot" in text and "activemask" not in text
    # In a divergent loop the active threads are unknown.
    loop = "float v = 0; for (uint k = lane; k < 99; k += 32) v += simd_sum(x[k]);"
    assert "activemask" not in of_one_float(tmp_path, loop + "x[i] = v;")
    assert "activemask" in of_one_float(tmp_path, loop + "x[i] = simd_sum(v);")
    text = of_one_float(tmp_path, "for (uint k = 0; k < 99; ++k) x[k + i] = simd_sum(x[k]);")
    assert "vote.sync.ballot" in text and "activemask" not in text


ATOMICS = {
    "atomic_fetch_add_explicit((device atomic_float*)x, 1.0f, memory_order_relaxed);": "atom.global.add.f32",
    "atomic_fetch_max_explicit((device atomic_int*)x, 3, memory_order_relaxed);": "atom.global.max.s32",
    "atomic_fetch_sub_explicit((device atomic_uint*)x, 3u, memory_order_relaxed);": "atom.global.add.u32",
    "atomic_fetch_min_explicit((device atomic_ulong*)x, 3ul, memory_order_relaxed);": "atom.global.min.u64",
    "atomic_exchange_explicit((device atomic_float*)x, 3.0f, memory_order_relaxed);": "atom.global.exch.b32",
    "atomic_fetch_add_explicit((device atomic<half>*)x, 1.0h, memory_order_relaxed);": "atom.global.cas.b32",
    "atomic_store_explicit((device atomic_int*)x, 3, memory_order_seq_cst);": "membar.gl",
    "threadgroup atomic_int s; atomic_store_explicit(&s, 3, memory_order_relaxed);"
    "atomic_fetch_or_explicit(&s, 1, memory_order_relaxed);": "atom.shared.or.b32",
}


@pytest.mark.parametrize("statement", ATOMICS)
def test_atomics(tmp_path: Path, statement: str):
    assert ATOMICS[statement] in of_one_float(tmp_path, statement + " x[1] = i;")


def test_products_of_simdgroup_matrices(tmp_path: Path):
    text = of_one_float(
        tmp_path,
        """
        simdgroup_matrix<float, 8, 8> a, b, c;
        simdgroup_load(a, x);
        simdgroup_load(b, x + 64);
        simdgroup_multiply(c, a, b);
        simdgroup_store(c, x);""",
    )
    assert text.count("shfl.sync.idx") == 24 and text.count("fma.rn.f32") >= 14


def test_recursion_and_pointers_to_any_memory(tmp_path: Path):
    text = ptx_of(
        tmp_path,
        """
        uint fibonacci(uint n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
        struct View { const device float* p; constant int* q; };
        kernel void f(device float* x [[buffer(0)]], constant int* q [[buffer(1)]],
                      uint i [[thread_position_in_grid]]) {
          View views[2] = {{x, q}, {x + 1, q + 1}};
          View view = views[i & 1];
          x[i] = fibonacci(i & 7) + view.p[i] + view.q[i];
        }""",
    )
    assert "call.uni" in text and ".func" in text


def test_copies_between_memories(tmp_path: Path):
    text = ptx_of(
        tmp_path,
        """
        struct Rows { float4 row[20]; int count; };
        constant Rows table = {{float4(1), float4(2)}, 2};
        kernel void f(device Rows* out [[buffer(0)]], constant Rows& given [[buffer(1)]],
                      uint i [[thread_position_in_grid]]) {
          threadgroup Rows shared;
          if (i == 0) shared = table;
          threadgroup_barrier(mem_flags::mem_threadgroup);
          Rows mine = given;
          mine.row[i % 20] = shared.row[1];
          out[i] = mine;
          out[i + 1] = shared;
        }""",
    )
    assert "llvm." not in text and "call" not in text


def test_function_constants_are_zero(tmp_path: Path):
    text = ptx_of(
        tmp_path,
        """
        constant int mode [[function_constant(0)]];
        constant int twice = mode * 2;
        kernel void f(device int* x) { x[0] = twice + 5; }""",
    )
    assert re.search(r"mov\.b32\s+%r\d+, 5;", text)


PRODUCTS = """
#include <metal_simdgroup_matrix>
kernel void f(const device T* a [[buffer(0)]], device float* c [[buffer(1)]],
              uint item [[thread_index_in_threadgroup]]) {
  threadgroup T tile[16 * STEP];
  for (int i = item; i < 16 * STEP; i += 32) tile[i] = a[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_float8x8 sums[2][2];
  for (int i = 0; i < 4; ++i)
    sums[i / 2][i % 2] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  for (int k = 0; k < 16; k += 8) {
    simdgroup_matrix<T, 8, 8> as[2], bs[2];
    for (int i = 0; i < 2; ++i) {
      simdgroup_load(as[i], tile + i * 8 * STEP + k, STEP);
      simdgroup_load(bs[i], tile + k * STEP + i * 8, STEP);
    }
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j)
        simdgroup_multiply_accumulate(sums[i][j], as[i], bs[j], sums[i][j]);
  }
  for (int i = 0; i < 4; ++i)
    simdgroup_store(sums[i / 2][i % 2], c + i / 2 * 128 + i % 2 * 8, 16);
}"""


@pytest.mark.parametrize("type_name, suffix", [("half", "f16"), ("bfloat", "bf16")])
def test_products_of_16_bit_matrices(tmp_path: Path, type_name: str, suffix: str):
    def ptx(step: int) -> str:
        return ptx_of(tmp_path, PRODUCTS, f"-DT={type_name}", f"-DSTEP={step}")

    text = ptx(24)
    assert text.count(f"mma.sync.aligned.m16n8k16.row.col.f32.{suffix}.{suffix}.f32") == 2
    # All A at once, and all B, transposed.
    assert text.count("ldmatrix.sync.aligned.m8n8.x4.shared.b16") == 1
    assert text.count("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16") == 1
    assert "shfl" not in text and "movmatrix" not in text
    # Rows of 36 bytes are not aligned: each lane loads its elements.
    text = ptx(18)
    assert text.count("mma.sync.aligned.m16n8k16") == 2
    assert "ldmatrix" not in text and text.count("movmatrix") == 4


def test_products_of_float_matrices_keep_their_digits(tmp_path: Path):
    text = ptx_of(tmp_path, PRODUCTS, "-DT=float", "-DSTEP=24")
    assert "mma" not in text and "fma.rn.f32" in text
