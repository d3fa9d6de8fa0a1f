"""The arithmetic of published kernels: rounding, vectors, SIMD-groups, matrices."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel, run_one, to_numpy

F32 = mx.float32
RNG = np.random.default_rng(0)


def out(*shape, dtype=F32, name="out"):
    return {name: (shape, dtype)}


def each(expression: str, x: np.ndarray, dtype=F32, group: int = 64, **options) -> np.ndarray:
    """`expression` of x[i], elementwise."""
    body = f"uint i = thread_position_in_grid.x; out[i] = {expression};"
    return run_one(body, {"x": x}, out(*x.shape, dtype=dtype), x.size, group, **options)


class TestHalfTypes:
    @pytest.mark.parametrize("dtype,bits", [(mx.float16, 11), (mx.bfloat16, 8)])
    def test_arithmetic_rounds_in_its_own_type(self, dtype, bits):
        body = """
            uint i = thread_position_in_grid.x;
            T product = k[i] * v[i];
            T inverse = 1 / k[i];
            T chain = k[i] * v[i] + k[i];
            a[i] = product; b[i] = inverse; c[i] = chain;
            T scaled = k[i];
            scaled *= 0.3f;
            d[i] = scaled;
        """
        k, v = (
            mx.array(RNG.uniform(0.5, 4, 200).astype(np.float32)).astype(dtype) for _ in range(2)
        )
        results = run_kernel(
            body, {"k": k, "v": v}, {n: ((200,), F32) for n in "abcd"}, 200, template=[("T", dtype)]
        )

        def rounded(x):
            x = np.asarray(x, np.float64)
            ulp = 2.0 ** (np.floor(np.log2(np.abs(x))) - bits + 1)
            return np.round(x / ulp) * ulp

        kf, vf = to_numpy(k).astype(np.float64), to_numpy(v).astype(np.float64)
        product, inverse, chain, scaled = results
        np.testing.assert_array_equal(product, rounded(kf * vf))
        np.testing.assert_array_equal(inverse, rounded(1 / kf))
        assert ((chain == rounded(rounded(kf * vf) + kf)) | (chain == rounded(kf * vf + kf))).all()
        np.testing.assert_array_equal(scaled, rounded(kf * np.float32(0.3)))

    def test_conversions_both_ways(self):
        body = """
            half h = 1.0f / 3;          // implicit, down
            float f = h;                // and up
            bfloat16_t b = static_cast<bfloat16_t>(f);
            T t = T(2.7f);
            out[0] = h; out[1] = f; out[2] = b; out[3] = t; out[4] = half(65519.0f);
            out[5] = (half)(-1e30f);
            out[6] = -metal::numeric_limits<T>::infinity();
            out[7] = static_cast<float>(b) + h;
            out[8] = half(x[0]) + float(T(x[1]));
        """
        x = np.array([1, 2] * 4, np.int32)
        for dtype in (mx.float16, mx.bfloat16, mx.float32):
            got = run_one(body, {"x": x}, out(9), 1, template=[("T", dtype)])
            third = np.float32(np.float16(1 / 3))
            b = to_numpy(mx.array(third).astype(mx.bfloat16))
            t = to_numpy(mx.array(2.7).astype(dtype))
            np.testing.assert_array_equal(
                got, np.float32([third, third, b, t, 65504, -np.inf, -np.inf, b + third, 3])
            )

    def test_functions_of_bfloat(self):
        x = mx.array(RNG.uniform(-3, 3, 64).astype(np.float32)).astype(mx.bfloat16)
        body = """
            uint i = thread_position_in_grid.x;
            a[i] = exp(x[i]); b[i] = abs(x[i]); c[i] = tanh(x[i]); d[i] = max(x[i], bfloat16_t(0));
        """
        results = run_kernel(body, {"x": x}, {n: ((64,), mx.bfloat16) for n in "abcd"}, 64)
        v = to_numpy(x)
        for got, want in zip(results, (np.exp(v), np.abs(v), np.tanh(v), np.maximum(v, 0))):
            np.testing.assert_allclose(got, want, rtol=8e-3)


class TestVectors:
    @pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16, mx.float32])
    def test_vec_of_every_float(self, dtype):
        body = """
            using T4 = vec<T, 4>;
            typedef metal::vec<float, 4> U4;
            uint i = thread_position_in_grid.x;
            T4 v = *(const device T4*)(x + 4 * i);
            float4 f = float4(v) * 2 + 1;
            U4 u = U4(f);
            u = metal::fast::exp(-u) + 0.5f;
            T4 r = T4(u);
            ((device T4*)out)[i] = r;
            sums[i] = f.x + f[1] + f.z + f[3];
        """
        x = mx.array(RNG.uniform(0, 2, 64).astype(np.float32)).astype(dtype)
        got, sums = run_kernel(
            body,
            {"x": x},
            {"out": ((64,), dtype), "sums": ((16,), F32)},
            16,
            template=[("T", dtype)],
        )
        f = to_numpy(x).astype(np.float64) * 2 + 1
        np.testing.assert_allclose(got, np.exp(-f) + 0.5, rtol=1e-5 if dtype == F32 else 1e-2)
        np.testing.assert_allclose(sums, f.reshape(16, 4).sum(1), rtol=1e-5)

    @pytest.mark.parametrize("first", [0, 1, 3])
    def test_vectors_at_the_addresses_of_elements(self, first):
        body = f"""
            uint i = thread_position_in_grid.x;
            if (i >= 80) return;
            const device uchar* row = x + (i / 16) * 276ul;
            const device uint* words = (const device uint*)row + {first};
            uint4 w = ((const device uint4*)words)[i % 16];
            threadgroup uint shared[4 * 256 + 3];
            *(threadgroup uint4*)(shared + 4 * i + {first}) = w;
            uint4 again = *(threadgroup uint4*)(shared + 4 * i + {first});
            *(device uint4*)(out + 4 * i + {first}) = again;
        """
        x = RNG.integers(0, 255, (5, 276), dtype=np.uint8)
        got = run_one(body, {"x": x}, out(323, dtype=mx.uint32), 256, 256)
        want = np.ascontiguousarray(x).view(np.uint32)[:, first : first + 64]
        np.testing.assert_array_equal(got[first : first + 320], want.ravel())

    def test_float2_is_indexed(self):
        body = """
            float2 p = float2(x[0], x[1]);
            for (int i = 0; i < 2; ++i) { p[i] += 10 * i; }
            float2 q[2] = {p, p.yx};
            out[0] = p[0]; out[1] = p[1]; out[2] = q[1][0];
        """
        result = run_one(body, {"x": np.array([1, 2], np.float32)}, out(3), 1)
        assert result.tolist() == [1, 12, 12]


class TestSimdFunctions:
    X = RNG.integers(-50, 50, 96).astype(np.float32)

    @pytest.mark.parametrize("kind", [np.float32, np.int32, np.uint32])
    @pytest.mark.parametrize("prefix", ["", "metal::"])
    def test_reductions(self, kind, prefix):
        x = np.abs(self.X).astype(kind) if kind == np.uint32 else self.X.astype(kind)
        body = f"""
            uint i = thread_position_in_grid.x;
            a[i] = {prefix}simd_sum(x[i]); b[i] = {prefix}simd_max(x[i]);
            c[i] = {prefix}simd_min(x[i]);
            d[i] = {prefix}simd_prefix_exclusive_sum(x[i]);
            e[i] = {prefix}simd_prefix_inclusive_sum(x[i]);
        """
        results = run_kernel(body, {"x": x}, {n: ((96,), F32) for n in "abcde"}, 96, 96)
        rows = x.astype(np.float64).reshape(3, 32)
        running = rows.cumsum(1)
        wants = [
            rows.sum(1)[:, None],
            rows.max(1)[:, None],
            rows.min(1)[:, None],
            running - rows,
            running,
        ]
        for got, want in zip(results, wants):
            np.testing.assert_array_equal(got.reshape(3, 32), np.broadcast_to(want, (3, 32)))

    def test_shuffles(self):
        body = """
            uint i = thread_position_in_grid.x;
            ushort lane = thread_index_in_simdgroup;
            a[i] = simd_shuffle(x[i], ushort(31 - lane));
            b[i] = simd_shuffle_xor(x[i], 5);
            c[i] = simd_shuffle_down(x[i], 3);
            d[i] = simd_broadcast(x[i], 7);
            e[i] = simd_broadcast_first(x[i]);
        """
        results = run_kernel(body, {"x": self.X}, {n: ((96,), F32) for n in "abcde"}, 96, 96)
        rows, lane = self.X.reshape(3, 32), np.arange(32)
        for got, index in zip(results, (31 - lane, lane ^ 5, lane + 3, lane * 0 + 7, lane * 0)):
            inside = index < 32
            np.testing.assert_array_equal(got.reshape(3, 32)[:, inside], rows[:, index[inside]])

    def test_votes(self):
        body = """
            uint i = thread_position_in_grid.x;
            a[i] = simd_any(x[i] > 45); b[i] = simd_all(x[i] > -49);
            simd_vote vote = simd_ballot(x[i] > 0);
            c[i] = uint(static_cast<ulong>(static_cast<simd_vote::vote_t>(vote)));
            d[i] = popcount(c[i] & ((1u << thread_index_in_simdgroup) - 1));
        """
        a, b, c, d = run_kernel(
            body, {"x": self.X}, {n: ((96,), mx.uint32) for n in "abcd"}, 96, 96
        )
        rows = self.X.reshape(3, 32)
        np.testing.assert_array_equal(a.reshape(3, 32)[:, 0], (rows > 45).any(1))
        np.testing.assert_array_equal(b.reshape(3, 32)[:, 5], (rows > -49).all(1))
        bits = ((rows > 0) << np.arange(32)).sum(1)
        np.testing.assert_array_equal(c.reshape(3, 32)[:, 9], bits)
        np.testing.assert_array_equal(d.reshape(3, 32), (rows > 0).cumsum(1) - (rows > 0))

    def test_shuffles_of_other_types(self):
        body = """
            uint i = thread_position_in_grid.x;
            ushort other = thread_index_in_simdgroup ^ 1;
            a[i] = simd_shuffle(half(x[i]), other);
            b[i] = simd_shuffle(bfloat16_t(x[i]), other);
            c[i] = simd_shuffle(float2(x[i], -x[i]), other).y;
            d[i] = simd_shuffle(long(x[i]) << 33, other) >> 33;
            e[i] = simd_shuffle(short(x[i]), other) + simd_shuffle(uchar(3), other);
        """
        results = run_kernel(body, {"x": self.X}, {n: ((96,), F32) for n in "abcde"}, 96, 96)
        swapped = self.X.reshape(-1, 2)[:, ::-1].reshape(-1)
        for got, want in zip(results, (swapped, swapped, -swapped, swapped, swapped + 3)):
            np.testing.assert_array_equal(got, want)

    @pytest.mark.parametrize("exponential", ["exp(x[i] - top)", "l < 40 ? exp(x[i] - top) : 0"])
    def test_shared_memory_is_reused_without_a_barrier(self, exponential):
        """SIMD-groups of Apple's GPUs run at the same pace."""
        body = f"""
            uint i = thread_position_in_grid.x;
            uint l = thread_position_in_threadgroup.x;
            uint group = simdgroup_index_in_threadgroup;
            threadgroup float shared[2];
            float largest = simd_max(x[i]);
            if (thread_index_in_simdgroup == 0) shared[group] = largest;
            threadgroup_barrier(mem_flags::mem_threadgroup);
            float top = max(shared[0], shared[1]);
            float e = {exponential};
            float sum = simd_sum(e);
            if (thread_index_in_simdgroup == 0) shared[group] = sum;
            threadgroup_barrier(mem_flags::mem_threadgroup);
            out[i] = e / (shared[0] + shared[1]);
        """
        x = RNG.standard_normal((8, 64)).astype(np.float32)
        want = np.exp(x - x.max(1, keepdims=True))
        if "40" in exponential:
            want[:, 40:] = 0
        want /= want.sum(1, keepdims=True)
        np.testing.assert_allclose(run_one(body, {"x": x}, out(8, 64), 512, 64), want, rtol=1e-5)


class TestMath:
    def test_namespaces(self):
        x = RNG.uniform(0.1, 5, 64).astype(np.float32)
        for call, want in {
            "metal::precise::rsqrt(x[i])": 1 / np.sqrt(x),
            "metal::precise::exp(x[i])": np.exp(x),
            "fast::exp(x[i])": np.exp(x),
            "fast::log(x[i])": np.log(x),
            "metal::fast::sin(x[i])": np.sin(x),
            "fast::cos(x[i])": np.cos(x),
            "exp2(x[i])": np.exp2(x),
            "clamp(x[i], 1.0f, 2.0f)": np.clip(x, 1, 2),
            "fma(x[i], 2.0f, 1.0f)": 2 * x + 1,
            "as_type<float>(as_type<uint>(x[i]) + 1)": np.nextafter(x, np.float32(9)),
        }.items():
            np.testing.assert_allclose(each(call, x), want, rtol=3e-6, atol=3e-6, err_msg=call)

    def test_rint_goes_to_even(self):
        x = np.arange(-4.5, 5, 0.5).astype(np.float32)
        for dtype in (mx.float32, mx.float16):
            got = each("rint(T(x[i]))", x, template=[("T", dtype)])
            np.testing.assert_array_equal(got, np.rint(x))

    def test_infinities_hold_in_the_default_mode(self):
        x = np.array([0, -0.0, 1, np.inf, -np.inf, np.nan, 3e38, -3e38], np.float32)
        for call, want in {
            "isnan(x[i])": np.isnan(x),
            "isinf(x[i])": np.isinf(x),
            "isfinite(x[i])": np.isfinite(x),
            "x[i] == INFINITY": x == np.inf,
            "x[i] != x[i]": x != x,
            "x[i] * 10 == INFINITY": np.isposinf(x * 10),
            "max(x[i], -INFINITY) == -INFINITY": np.fmax(x, -np.inf) == -np.inf,
            "exp(-INFINITY) == 0": np.ones(8),
        }.items():
            np.testing.assert_array_equal(each(call, x, dtype=mx.bool_), want, err_msg=call)

    def test_online_softmax_with_infinite_masks(self):
        body = """
            uint row = thread_position_in_grid.x;
            float top = -INFINITY, sum = 0;
            for (int k = 0; k < 16; ++k) {
                float value = x[row * 16 + k];
                float next = max(top, value);
                sum = sum * (top == -INFINITY ? 0.0f : fast::exp(top - next))
                    + (value == -INFINITY ? 0.0f : fast::exp(value - next));
                top = next;
            }
            out[row] = sum == 0 ? 0 : top + log(sum);
        """
        x = RNG.standard_normal((8, 16)).astype(np.float32)
        x[RNG.uniform(size=x.shape) < 0.5] = -np.inf
        x[3] = -np.inf
        got = run_one(body, {"x": x}, out(8), 8)
        with np.errstate(divide="ignore"):
            want = np.log(np.exp(x.astype(np.float64)).sum(1))
        want[3] = 0
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


class TestSimdgroupMatrix:
    A = RNG.standard_normal((8, 8)).astype(np.float32)
    B = RNG.standard_normal((8, 8)).astype(np.float32)

    LAYOUT = """
        uint lane = thread_index_in_simdgroup;
        uint quad = lane / 4;
        uint row = (quad & 4) + (lane / 2) % 4;
        uint column = (quad & 2) * 2 + (lane % 2) * 2;
    """

    def test_elements_only_through_thread_elements(self):
        body = (
            self.LAYOUT
            + """
            simdgroup_matrix<float, 8, 8> a, b, c;
            a.thread_elements()[0] = x[row * 8 + column];
            a.thread_elements()[1] = x[row * 8 + column + 1];
            reinterpret_cast<thread float2&>(b.thread_elements()) = *(const device float2*)(y
                + row * 8 + column);
            c = make_filled_simdgroup_matrix<float, 8, 8>(1.0f);
            simdgroup_multiply_accumulate(c, a, b, c);
            *(device float2*)(out + row * 8 + column)
                = reinterpret_cast<thread float2&>(c.thread_elements());
        """
        )
        got = run_one(body, {"x": self.A, "y": self.B}, out(8, 8), 32, 32)
        np.testing.assert_allclose(got, self.A.astype(float) @ self.B + 1, rtol=1e-4, atol=1e-5)

    @pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.bfloat16])
    def test_load_multiply_store(self, dtype):
        body = """
            simdgroup_matrix<T, 8, 8> a, b;
            simdgroup_float8x8 c = make_filled_simdgroup_matrix<float, 8, 8>(0);
            simdgroup_load(a, x, 8);
            simdgroup_load(b, y, 8, ulong2(0, 0), true);
            simdgroup_multiply_accumulate(c, a, b, c);
            simdgroup_store(c, out, 8);
        """
        x, y = (mx.array(v).astype(dtype) for v in (self.A, self.B))
        got = run_one(body, {"x": x, "y": y}, out(8, 8), 32, 32, template=[("T", dtype)])
        want = to_numpy(x).astype(float) @ to_numpy(y).astype(float).T
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)

    def test_half_times_half_into_half(self):
        body = """
            simdgroup_half8x8 a, b, c;
            simdgroup_load(a, x, 8);
            simdgroup_load(b, y, 8);
            simdgroup_multiply(c, a, b);
            simdgroup_store(c, out, 8);
        """
        a, b = self.A.astype(np.float16), self.B.astype(np.float16)
        got = run_one(body, {"x": a, "y": b}, out(8, 8, dtype=mx.float16), 32, 32)
        np.testing.assert_allclose(got, a.astype(float) @ b.astype(float), rtol=5e-3, atol=5e-3)

    def test_through_threadgroup_memory(self):
        body = """
            threadgroup float tile[4][64];
            uint simd = simdgroup_index_in_threadgroup;
            simdgroup_float8x8 a;
            simdgroup_load(a, x + simd * 64, 8);
            simdgroup_store(a, &tile[simd][0], 8, ulong2(0, 0), true);
            simdgroup_barrier(mem_flags::mem_threadgroup);
            out[simd * 64 + thread_index_in_simdgroup] = tile[simd][thread_index_in_simdgroup];
            out[simd * 64 + thread_index_in_simdgroup + 32] = tile[simd][thread_index_in_simdgroup
                + 32];
        """
        x = RNG.standard_normal((4, 8, 8)).astype(np.float32)
        got = run_one(body, {"x": x}, out(4, 8, 8), 128, 128)
        np.testing.assert_array_equal(got, x.transpose(0, 2, 1))
