"""Guarded code has no effect in excluded threads, although vector code runs it for others."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_one


def test_borders_of_a_stencil():
    source = """
        int X = thread_position_in_grid.x, Y = thread_position_in_grid.y; float s = 0;
        int c = X - 1;
        if (c >= 0 && c < 64) s += x[Y * 64 + c];
        out[Y * 64 + X] = s;
    """
    x = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
    got = run_one(source, {"x": x}, {"out": ((64, 64), mx.float32)}, (64, 64, 1), (32, 8, 1))
    np.testing.assert_array_equal(got, np.pad(x, ((0, 0), (1, 0)))[:, :64])


@pytest.mark.parametrize("kind", ["int", "uint", "short", "ushort", "long", "ulong"])
@pytest.mark.parametrize("width", [1, 31, 64, 65])
def test_windows_of_all_index_types(kind: str, width: int):
    source = f"""
        {kind} X = thread_position_in_grid.x, Y = thread_position_in_grid.y;
        {kind} W = x_shape[1], H = x_shape[0];
        int s = 0;
        for (int j = -1; j <= 1; ++j)
          for (int i = -2; i <= 2; ++i) {{
            {kind} r = Y + j, c = X + i;
            if (r >= 0 && r < H && c >= 0 && c < W) s += x[r * W + c];
          }}
        out[Y * W + X] = s;
    """
    x = np.arange(1, 9 * width + 1, dtype=np.int32).reshape(9, width)
    got = run_one(source, {"x": x}, {"out": (x.shape, mx.int32)}, (width, 9, 1), (16, 4, 1))
    padded = np.pad(x, ((1, 1), (2, 2)))
    wanted = sum(padded[j : j + 9, i : i + width] for j in range(3) for i in range(5))
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("divisor", [0, 1, 7, 1000])
def test_guarded_divisions(divisor: int):
    source = """
        uint i = thread_position_in_grid.x, n = a[0], limit = a[1];
        int r = -1;
        if (i < limit && n != 0) r = i / n;
        out[i] = r + (n ? int((i - 5) / n) : 3) + (n != 0 && i >= 5 ? int((i - 5) % n) : 4);
    """
    a = np.array([divisor, 150] + [0] * 8, np.uint32)
    got = run_one(source, {"a": a}, {"out": ((256,), mx.int32)}, 256, 64)
    i = np.arange(256)
    if divisor:
        wrapped = (i - 5).astype(np.uint32)
        wanted = np.where(i < 150, i // divisor, -1) + (wrapped // divisor).astype(np.int32)
        wanted = wanted + np.where(i >= 5, wrapped % divisor, 4)
    else:
        wanted = np.full(256, -1 + 3 + 4)
    np.testing.assert_array_equal(got, wanted)


def test_divisions_by_the_lane():
    source = """
        uint tid = thread_position_in_grid.x, lane = thread_index_in_simdgroup;
        uint acc = simd_max(1u) - 1u;
        for (uint i = 0; i < tid; ++i)
          switch (((lane != 0u ? i / lane : i) ^ 1u) % 4u) { case 0u: break; default: acc += 3u; }
        out[tid] = acc;
    """
    got = run_one(source, {}, {"out": ((192,), mx.uint32)}, 192, 96)

    def count(tid: int) -> int:
        lane = tid % 96 % 32
        return sum(3 for i in range(tid) if ((i // lane if lane else i) ^ 1) % 4)

    np.testing.assert_array_equal(got, [count(tid) for tid in range(192)])


@pytest.mark.parametrize("index", ["lane", "1 - lane", "lane * 65537u / 65537u"])
def test_private_arrays_shorter_than_a_simdgroup(index: str):
    source = f"""
        uint lane = thread_index_in_simdgroup, n = thread_position_in_grid.x / 32;
        float lp[3]; uint b[2]; uchar mixed[8];
        for (uint i = 0; i < 3; ++i) lp[i] = x[i] * n;
        for (uint i = 0; i < 2; ++i) b[i] = uint(x[i + 3]) + n;
        *(thread ushort*)(mixed + 2) = 258; mixed[4] = 7;
        if (lane < 2) out[n * 2 + lane] = b[{index}] + lp[{index}] + mixed[2 + {index}];
    """
    x = np.arange(1, 33, dtype=np.float32)
    got = run_one(source, {"x": x}, {"out": ((64,), mx.float32)}, 1024, 256)
    n = np.arange(32)[:, None]
    element = np.array([0, 1] if "1 -" not in index else [1, 0])
    wanted = x[element + 3] + n + x[element] * n + np.array([2, 1])[element]
    np.testing.assert_array_equal(got, wanted.ravel())


def test_loop_that_continues_in_a_branch_of_a_switch():
    """After simplification no division is left, although the body was made for coherent gangs."""
    source = """
        uint tid = thread_position_in_grid.x, tix = thread_position_in_threadgroup.x;
        uint lane = tix % 32u, acc = 1u;
        const uint n = 1024u;
        switch (lane) { case 0u: {
          if (s[6] > 2u) {
            for (uint k = 0; k < 1u; ++k) {
              uint bound = tid % 5u;
              for (uint i = 0; i < bound; ++i) {
                uint seen = (i - 3u) < n ? a[i - 3u] : (k - 3u) < n ? a[k - 3u] : a[5u];
                if (uint(uchar(4294967295u >> (i & 31u))) != seen) continue;
                uint unused = seen << (s[2] * tix + i & 31u);
              }
              acc += 1u;
            }
          }
          out[tid] = acc + ((tix - 3u) < n ? a[tix - 3u] : mulhi(s[1], acc));
          return;
        } }
    """
    a, s = np.arange(1024, dtype=np.uint32), np.arange(8, dtype=np.uint32)
    got = run_one(source, {"a": a, "s": s}, {"out": ((243,), mx.uint32)}, 243, 40, init_value=0)
    wanted = np.zeros(243, np.uint32)
    tix = np.arange(243) % 40
    wanted[tix == 0] = 2
    wanted[tix == 32] = 2 + 29
    np.testing.assert_array_equal(got, wanted)


def test_indices_that_wrap_around():
    """Signed and unsigned indices; only the lanes behind the end read."""
    source = """
        uint i = thread_position_in_grid.x;
        int down = int(i * 40503u) - 2147483600;
        uint up = i - 7u;
        int steep = int(i * 134217728u);
        const device int* moved = x + 20;
        int s = up < 64u ? x[up] : -1;
        if (down < -2147483647 + 64) s += x[down + 2147483647 > 63 ? 0 : down + 2147483647];
        if (steep >= 0 && steep < 64) s += x[steep];
        if (int(up) > -7 && int(up) < 10) s += moved[int(up)];
        out[i] = s;
    """
    x = np.arange(100, 200, dtype=np.int32)
    got = run_one(source, {"x": x}, {"out": ((128,), mx.int32)}, 128, 64)
    wanted = []
    for i in range(128):
        up = i - 7
        down = (i * 40503 - 2147483600 + 2**31) % 2**32 - 2**31
        steep = (i * 134217728 + 2**31) % 2**32 - 2**31
        total = int(x[up]) if 0 <= up < 64 else -1
        if down < -2147483647 + 64:
            total += int(x[0 if down + 2147483647 > 63 else down + 2147483647])
        if 0 <= steep < 64:
            total += int(x[steep])
        if -7 < up < 10:
            total += int(x[20 + up])
        wanted.append(total)
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("kind", ["char", "uchar", "short", "ushort"])
def test_small_indices_beside_others(kind: str):
    """An index that is extended twice: to an index type, and that to an address."""
    source = f"""
        uint i = thread_position_in_grid.x, g = threadgroup_position_in_grid.x;
        const {kind} c = i - 31u;
        if (c >= 0 && c < 40) out[i] = x[g + c];
    """
    x = np.arange(100, 200, dtype=np.int32)
    got = run_one(source, {"x": x}, {"out": ((64,), mx.int32)}, 64, 32, init_value=-1)
    i = np.arange(64)
    c = i - 31
    wanted = np.where((c >= 0) & (c < 40), x[np.clip(i // 32 + c, 0, 99)], -1)
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("step", [1 << 10, 1 << 20, 1 << 24, 1 << 26, -(1 << 24)])
def test_lanes_far_apart(step: int):
    source = f"""
        int i = thread_position_in_grid.x; float r = -1;
        if (i < int(n[0])) r = x[i * {step}];
        out[i] = r;
    """
    inputs = {"x": np.full(4, 3, np.float32), "n": np.array([1], np.int32)}
    got = run_one(source, inputs, {"out": ((64,), mx.float32)}, 64, 64)
    np.testing.assert_array_equal(got, np.where(np.arange(64) < 1, 3, -1))
