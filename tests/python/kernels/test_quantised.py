"""Kernels on packed weights: unpacking, matrix-vector products, quantisation."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel, run_one, to_numpy


def pack(values: np.ndarray, bits: int) -> np.ndarray:
    """Codes of `bits` bits in the last axis, low bits first, as uint32 words."""
    per_word = 32 // bits
    grouped = values.astype(np.uint32).reshape(*values.shape[:-1], -1, per_word)
    return (grouped << (np.arange(per_word, dtype=np.uint32) * bits)).sum(-1, dtype=np.uint32)


def weights(rng, rows: int, columns: int, bits: int, group: int):
    codes = rng.integers(0, 2**bits, (rows, columns))
    scales = rng.uniform(0.01, 0.1, (rows, columns // group)).astype(np.float32)
    biases = rng.uniform(-0.5, 0.5, (rows, columns // group)).astype(np.float32)
    full = codes * np.repeat(scales, group, 1) + np.repeat(biases, group, 1)
    return codes, scales, biases, full


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.bfloat16])
def test_matvec(rng, bits, dtype):
    """One SIMD-group a row; each lane unpacks whole words."""
    source = """
        constexpr int PER_WORD = 32 / BITS;
        constexpr uint MASK = (1u << BITS) - 1;
        uint row = threadgroup_position_in_grid.y * simdgroups_per_threadgroup
                 + simdgroup_index_in_threadgroup;
        if (row >= uint(w_shape[0])) return;
        uint lane = thread_index_in_simdgroup;
        int words = w_shape[1];
        const device uint32_t* wr = w + row * words;
        const device T* sr = scales + row * (words * PER_WORD / GROUP);
        const device T* br = biases + row * (words * PER_WORD / GROUP);
        float total = 0;
        for (int word = lane; word < words; word += 32) {
            uint packed = wr[word];
            float dot = 0, sum = 0;
            #pragma unroll
            for (int k = 0; k < PER_WORD; ++k) {
                float value = x[word * PER_WORD + k];
                dot += value * float((packed >> (BITS * k)) & MASK);
                sum += value;
            }
            int g = word * PER_WORD / GROUP;
            total += float(sr[g]) * dot + float(br[g]) * sum;
        }
        total = simd_sum(total);
        if (lane == 0) y[row] = static_cast<T>(total);
    """
    rows, columns, group = 37, 512, 64
    codes, scales, biases, full = weights(rng, rows, columns, bits, group)
    x = rng.standard_normal(columns).astype(np.float32)
    cast = [mx.array(v).astype(dtype) for v in (scales, biases, x)]
    s, b, v = (to_numpy(a).astype(np.float64) for a in cast)
    full = codes * np.repeat(s, group, 1) + np.repeat(b, group, 1)
    y = run_one(
        source,
        {"w": pack(codes, bits), "scales": cast[0], "biases": cast[1], "x": cast[2]},
        {"y": ((rows,), dtype)},
        (32, (rows + 3) // 4 * 4, 1),
        (32, 4, 1),
        template=[("T", dtype), ("BITS", bits), ("GROUP", group)],
    )
    want = full @ v
    tolerance = {mx.float32: 1e-4, mx.float16: 2e-3, mx.bfloat16: 1e-2}[dtype]
    np.testing.assert_allclose(y, want, rtol=tolerance, atol=tolerance * np.abs(want).max())


def test_nibbles_through_shorts(rng):
    """Four codes at once, masked in place: activations are scaled instead of codes shifted."""
    source = """
        uint row = threadgroup_position_in_grid.x;
        uint lane = thread_index_in_simdgroup;
        const device uint16_t* ws = (const device uint16_t*)w + row * (K / 4);
        thread float xt[4];
        float sum = 0;
        for (int k = lane * 4; k < K; k += 128) {
            xt[0] = x[k]; xt[1] = x[k + 1] / 16.0f; xt[2] = x[k + 2] / 256.0f;
            xt[3] = x[k + 3] / 4096.0f;
            uint16_t q = ws[k / 4];
            sum += xt[0] * (q & 0x000f) + xt[1] * (q & 0x00f0) + xt[2] * (q & 0x0f00) + xt[3] * (q
                & 0xf000);
        }
        sum = simd_sum(sum);
        if (lane == 0) y[row] = sum * scale[row];
    """
    codes, *_ = weights(rng, 24, 256, 4, 32)
    scale = rng.uniform(0.5, 1, 24).astype(np.float32)
    x = rng.standard_normal(256).astype(np.float32)
    y = run_one(
        source,
        {"w": pack(codes, 4), "x": x, "scale": scale, "K": 256},
        {"y": ((24,), mx.float32)},
        24 * 32,
        32,
    )
    np.testing.assert_allclose(y, codes @ x.astype(np.float64) * scale, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("bits", [3, 6])
def test_codes_across_words(rng, bits):
    """Widths that do not divide 32: three bytes hold eight or four codes."""
    source = """
        constexpr int PER_PACK = BITS == 3 ? 8 : 4;
        uint pack = thread_position_in_grid.x;
        const device uint8_t* p = (const device uint8_t*)w + 3 * pack;
        uint value = p[0] | uint(p[1]) << 8 | uint(p[2]) << 16;
        for (int k = 0; k < PER_PACK; ++k) {
            out[pack * PER_PACK + k] = T((value >> (BITS * k)) & ((1 << BITS) - 1)) * scale - 1;
        }
    """
    codes = rng.integers(0, 2**bits, 24 // bits * 40)
    raw = ((codes[:, None] >> np.arange(bits)) & 1).astype(np.uint8).reshape(-1)
    out = run_one(
        source,
        {"w": np.packbits(raw, bitorder="little"), "scale": 0.25},
        {"out": ((codes.size,), mx.float32)},
        40,
        template=[("BITS", bits), ("T", mx.float32)],
    )
    np.testing.assert_array_equal(out, codes * 0.25 - 1)


def test_lookup_table(rng):
    """Four-bit codes index a table in constant memory; a block has one absolute maximum."""
    header = """
        constant float kLevels[16] = {-1.0, -0.7, -0.53, -0.39, -0.28, -0.18, -0.09, 0.0,
                                      0.08, 0.16, 0.25, 0.34, 0.44, 0.56, 0.72, 1.0};
    """
    source = """
        uint i = thread_position_in_grid.x;
        uchar byte = w[i / 2];
        uchar code = (i % 2 == 0) ? byte >> 4 : byte & 0xf;
        out[i] = half(kLevels[code] * absmax[i / BLOCK]);
    """
    w = rng.integers(0, 256, 512).astype(np.uint8)
    absmax = rng.uniform(1, 2, 16).astype(np.float32)
    out = run_one(
        source,
        {"w": w, "absmax": absmax},
        {"out": ((1024,), mx.float16)},
        1024,
        header=header,
        template=[("BLOCK", 64)],
    )
    levels = np.array([-1, -0.7, -0.53, -0.39, -0.28, -0.18, -0.09, 0,
                       0.08, 0.16, 0.25, 0.34, 0.44, 0.56, 0.72, 1])  # fmt: skip
    codes = np.stack([w >> 4, w & 15], 1).reshape(-1)
    np.testing.assert_allclose(out, levels[codes] * np.repeat(absmax, 64), rtol=1e-3)


def test_four_bit_floats_with_power_of_two_scales(rng):
    source = """
        uint i = thread_position_in_grid.x;
        uint code = (w[i / 8] >> (4 * (i % 8))) & 0xf;
        uint exponent = (code >> 1) & 3, mantissa = code & 1;
        float value = exponent == 0 ? 0.5f * mantissa : (1.0f + 0.5f * mantissa)
            * (1 << (exponent - 1));
        value = code & 8 ? -value : value;
        float scale = as_type<float>(uint(scales[i / 32]) << 23);
        out[i] = T(value * scale);
    """
    codes = rng.integers(0, 16, (8, 32))
    scales = rng.integers(120, 134, 8).astype(np.uint8)
    out = run_one(
        source,
        {"w": pack(codes, 4), "scales": scales},
        {"out": ((8, 32), mx.bfloat16)},
        256,
        template=[("T", mx.bfloat16)],
    )
    table = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    want = (
        np.where(codes & 8, -1, 1) * table[codes & 7] * 2.0 ** (scales[:, None].astype(int) - 127)
    )
    np.testing.assert_array_equal(out, want)


def test_quantise_rows_to_eight_bits(rng):
    """A row's absolute maximum over SIMD-groups, then rounding; three outputs of three types."""
    source = """
        threadgroup float shared[32];
        uint row = threadgroup_position_in_grid.x;
        uint t = thread_position_in_threadgroup.x;
        uint n = threads_per_threadgroup.x;
        x += row * N;
        q += row * N;
        float top = 0;
        for (uint i = t; i < N; i += n) top = max(top, abs(float(x[i])));
        top = simd_max(top);
        if (thread_index_in_simdgroup == 0) shared[simdgroup_index_in_threadgroup] = top;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        top = 0;
        for (uint s = 0; s < simdgroups_per_threadgroup; ++s) top = max(top, shared[s]);
        float step = top / 127.0f;
        int sum = 0;
        for (uint i = t; i < N; i += n) {
            int value = step == 0 ? 0 : int(rint(float(x[i]) / step));
            q[i] = char(clamp(value, -127, 127));
            sum += value;
        }
        sum = simd_sum(sum);
        if (t == 0) scale[row] = step;
        if (thread_index_in_simdgroup == 0) {
            atomic_fetch_add_explicit((device atomic_int*)&sums[row], sum, memory_order_relaxed);
        }
    """
    x = rng.standard_normal((5, 300)).astype(np.float32)
    x[2] = 0
    q, scale, sums = run_kernel(
        source,
        {"x": x, "N": 300},
        {"q": (x.shape, mx.int8), "scale": ((5,), mx.float32), "sums": ((5,), mx.int32)},
        5 * 128,
        128,
        init_value=0,
    )
    np.testing.assert_allclose(scale, np.abs(x).max(1) / 127, rtol=1e-6)
    np.testing.assert_allclose(q * scale[:, None], x, atol=scale.max() * 0.51)
    np.testing.assert_array_equal(sums, q.astype(int).sum(1))


def test_packing_by_shuffles(rng):
    """Each lane quantises one value; eight lanes combine their codes in a word."""
    source = """
        uint i = thread_position_in_grid.x;
        uint lane = thread_index_in_simdgroup;
        float low = simd_min(x[i]), high = simd_max(x[i]);
        float step = max(high - low, 1e-7f) / 15;
        uint word = uint(clamp(rint((x[i] - low) / step), 0.0f, 15.0f)) << (4 * (lane % 8));
        word |= simd_shuffle_xor(word, 1);
        word |= simd_shuffle_xor(word, 2);
        word |= simd_shuffle_xor(word, 4);
        if (lane % 8 == 0) packed[i / 8] = word;
        if (lane == 0) { steps[i / 32] = step; lows[i / 32] = low; }
    """
    x = rng.standard_normal(256).astype(np.float32)
    packed, steps, lows = run_kernel(
        source,
        {"x": x},
        {"packed": ((32,), mx.uint32), "steps": ((8,), mx.float32), "lows": ((8,), mx.float32)},
        256,
        64,
    )
    codes = (packed[:, None] >> (np.arange(8, dtype=np.uint32) * 4)) & 15
    restored = codes.reshape(8, 32) * steps[:, None] + lows[:, None]
    np.testing.assert_allclose(restored.reshape(-1), x, atol=steps.max() * 0.51)
