"""The language features of published kernels, each in a kernel of ours."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel, run_one

F32 = mx.float32
RNG = np.random.default_rng(0)


def out(*shape, dtype=F32, name="out"):
    return {name: (shape, dtype)}


def each(expression: str, x: np.ndarray, dtype=F32, group: int = 64, **options) -> np.ndarray:
    """`expression` of x[i], elementwise."""
    body = f"uint i = thread_position_in_grid.x; out[i] = {expression};"
    return run_one(body, {"x": x}, out(*x.shape, dtype=dtype), x.size, group, **options)


class TestThreadgroupMemory:
    def test_arrays_anywhere_in_the_body(self):
        body = """
            uint i = thread_position_in_threadgroup.x;
            threadgroup float first[64];
            first[i] = x[i];
            threadgroup_barrier(mem_flags::mem_threadgroup);
            float sum = 0;
            for (int k = 0; k < 64; ++k) sum += first[k];
            threadgroup float second[4][ROWS];  // after a loop and a barrier
            second[i % 4][i / 4] = sum + first[63 - i];
            threadgroup_barrier(mem_flags::mem_threadgroup);
            if (sum > -1e30) {
                threadgroup half third[64];
                third[63 - i] = second[i % 4][i / 4] - sum;
                threadgroup_barrier(mem_flags::mem_threadgroup);
                out[i] = third[i];
            }
        """
        x = np.arange(64, dtype=np.float32)
        result = run_one(body, {"x": x}, out(64), 64, 64, template=[("ROWS", 16)])
        np.testing.assert_allclose(result, x, atol=1)  # the sum costs half's bits below it

    def test_all_of_32_kilobytes(self):
        body = """
            threadgroup float a[4096];
            threadgroup float2 b[2048];
            uint i = thread_position_in_threadgroup.x;
            for (uint k = i; k < 4096; k += 1024) { a[k] = k; b[k / 2][k % 2] = -float(k); }
            threadgroup_barrier(mem_flags::mem_threadgroup);
            for (uint k = i; k < 4096; k += 1024) out[k] = a[4095 - k] + b[(4095 - k) / 2][k % 2];
        """
        result = run_one(body, {}, out(4096), 1024, 1024)
        k = 4095 - np.arange(4096)
        np.testing.assert_array_equal(result, k - (k // 2 * 2 + np.arange(4096) % 2))

    def test_pointers_to_helpers_that_hold_barriers(self):
        header = """
            template <typename T, int N>
            inline T block_sum(T value, threadgroup T* shared, uint lane, uint simd) {
              value = simd_sum(value);
              if (lane == 0) shared[simd] = value;
              threadgroup_barrier(mem_flags::mem_threadgroup);
              value = simd_sum(lane < N ? shared[lane] : T(0));
              threadgroup_barrier(mem_flags::mem_threadgroup);
              return value;
            }
        """
        body = """
            threadgroup float shared[32];
            uint i = thread_position_in_threadgroup.x;
            float value = x[i];
            if (TWICE) {  // the same for all threads
                value = value - block_sum<float, 8>(
                    value, shared, thread_index_in_simdgroup, simdgroup_index_in_threadgroup) / 256;
            }
            out[i] = block_sum<float, 8>(
                value * value, shared, thread_index_in_simdgroup, simdgroup_index_in_threadgroup);
        """
        x = RNG.standard_normal(256).astype(np.float32) + 3
        for twice in (False, True):
            result = run_one(
                body, {"x": x}, out(256), 256, 256, header=header, template=[("TWICE", twice)]
            )
            want = ((x - x.mean()) ** 2 if twice else x**2).sum()
            np.testing.assert_allclose(result, want, rtol=1e-4)

    @pytest.mark.parametrize("group", [(1024, 1, 1), (32, 1, 8), (192, 1, 1)])
    def test_many_barriers(self, group):
        body = """
            threadgroup int shared[1024];
            uint i = thread_index_in_threadgroup;
            uint n = threads_per_threadgroup.x * threads_per_threadgroup.y
                * threads_per_threadgroup.z;
            shared[i] = i;
            for (int step = 0; step < 5; ++step) {
                threadgroup_barrier(mem_flags::mem_threadgroup);
                int next = shared[(i + 1) % n];
                threadgroup_barrier(mem_flags::mem_none);
                shared[i] = next;
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
            out[i] = shared[n - 1 - i];
        """
        n = int(np.prod(group))
        result = run_one(body, {}, out(n, dtype=mx.int32), group, group)
        np.testing.assert_array_equal(result, (np.arange(n)[::-1] + 5) % n)

    def test_mem_none_is_a_full_barrier(self):
        body = """
            threadgroup float shared[128];
            uint i = thread_position_in_threadgroup.x;
            shared[i] = x[i];
            threadgroup_barrier(mem_flags::mem_none);
            out[i] = shared[127 - i];
        """
        x = RNG.standard_normal(128).astype(np.float32)
        np.testing.assert_array_equal(run_one(body, {"x": x}, out(128), 128, 128), x[::-1])

    def test_pointers_chosen_at_run_time(self):
        body = """
            threadgroup half buf1[32];
            threadgroup half buf2[32];
            uint i = thread_position_in_threadgroup.x;
            threadgroup half* buf = i % 2 ? buf1 : buf2;
            buf[i] = half(i);
            simdgroup_barrier(mem_flags::mem_threadgroup);
            buf = buf == buf1 ? buf2 : buf1;
            const threadgroup half* read = buf;
            out[i] = read[i ^ 1];
        """
        result = run_one(body, {}, out(32), 32, 32)
        np.testing.assert_array_equal(result, np.arange(32) ^ 1)

    def test_the_word_threadgroup_in_comments(self):
        body = """
            // one row for each threadgroup
            float sum = 0;  /* threadgroup memory: */ threadgroup float s[32]; // threadgroup
            uint i = thread_position_in_threadgroup.x; /* threadgroup */
            s[i] = x[i]; // device constant kernel
            threadgroup_barrier(mem_flags::mem_threadgroup); // threadgroup float unused[8];
            for (int k = 0; k < 32; k++) sum += s[k];
            out[i] = sum;
        """
        x = np.arange(32, dtype=np.float32)
        np.testing.assert_array_equal(run_one(body, {"x": x}, out(32), 32, 32), x.sum())

    def test_vector_access_through_casts(self):
        body = """
            threadgroup float s[64];
            uint i = thread_position_in_threadgroup.x;
            *(threadgroup float4*)(s + 4 * i) = *(const device float4*)(x + 4 * i);
            threadgroup_barrier(mem_flags::mem_threadgroup);
            *(device float4*)(out + 4 * i) = *(threadgroup float4*)(&s[60 - 4 * i]);
        """
        x = RNG.standard_normal(64).astype(np.float32)
        result = run_one(body, {"x": x}, out(64), 16, 16)
        np.testing.assert_array_equal(result, x.reshape(16, 4)[::-1].reshape(-1))


class TestHeaders:
    def test_includes_macros_constants_and_traits(self):
        header = """
            #include <metal_stdlib>
            #include <metal_simdgroup>
            #include <metal_math>
            using namespace metal;
            #pragma METAL internals : enable
            #pragma METAL fp math_mode(relaxed)
            #if defined(__cpp_variable_templates)
            template <typename T> constexpr bool is_small = sizeof(T) < 4;
            #endif
            constant constexpr int kRows = 4;
            static constant constexpr const float kScale = 0.5f;
            constant float kTable[4] = {1.0f, 2.0f, 4.0f, 8.0f};
            #define DEFINE_OPERATION(NAME, OP)              \\
              template <typename T>                         \\
              METAL_FUNC T NAME(T a, T b) {                 \\
                return a OP b;                              \\
              }
            DEFINE_OPERATION(plus_op, +)
            DEFINE_OPERATION(times_op, *)
            template <typename T> struct plain { typedef T type; };
            template <typename T> struct plain<const device T*> { typedef T type; };
            template <typename T> struct plain<device T*> { typedef T type; };
            template <typename T, enable_if_t<is_small<T>, int> = 0> int width(T) { return 1; }
            template <typename T, enable_if_t<!is_small<T>, int> = 0> int width(T) { return 2; }
            template <int N> int pick(bool_constant<true>) { return N; }
            template <int N> int pick(bool_constant<false>) { return -N; }
            template <typename T> T sum4(const thread float* v) {
            return v[0] + v[1] + v[2] + v[3]; }
            template <typename T> T sum4(const device T* v) {
            return 10 * (v[0] + v[1] + v[2] + v[3]); }
            static inline float unnamed(float a, float, int) { return a; }
        """
        body = """
            typename plain<decltype(x)>::type first = x[0];
            static_assert(metal::is_same_v<decltype(first), float>, "trait");
            float local[kRows];
            #pragma clang loop unroll(full)
            for (int k = 0; k < kRows; ++k) { local[k] = x[k] * kTable[k] * kScale; }
            _Pragma("clang loop unroll(full)")
            for (int k = 0; k < kRows; ++k) {
                #pragma STDC FP_CONTRACT OFF
                local[k] += 1;
            }
            out[0] = plus_op(first, 1.0f);
            out[1] = times_op(3, 4);
            out[2] = sum4<float>(local);
            out[3] = sum4<float>(x);
            out[4] = width(half(1)) * 10 + width(1.0f);
            out[5] = pick<7>(bool_constant<(kRows > 3)>());
            out[6] = unnamed(5, 6, 7);
        """
        x = np.array([1, 2, 3, 4, 0, 0, 0, 0], np.float32)
        result = run_one(body, {"x": x}, out(7), 1, header=header)
        sums = (x[:4] * [1, 2, 4, 8] * 0.5 + 1).sum()
        assert result.tolist() == [2, 12, sums, 100, 12, 7, 5]

    def test_class_template_with_threadgroup_pointers(self):
        header = """
            template <typename T, int BM, int BN, int BK>
            struct BlockMultiply {
              threadgroup T* a_tile;
              threadgroup T* b_tile;
              const device T* a;
              const device T* b;
              const short row;
              const short column;
              float sum[1] = {0};

              BlockMultiply(threadgroup T* a_tile_, threadgroup T* b_tile_, const device T* a_,
                            const device T* b_, uint index)
                  : a_tile(a_tile_), b_tile(b_tile_), a(a_), b(b_), row(index / BN),
                      column(index % BN) {}

              void load(int k0, int K, int N) {
                a_tile[row * BK + column] = a[row * K + k0 + column];
                b_tile[row * BN + column] = b[(k0 + row) * N + column];
              }
              METAL_FUNC void multiply() thread {
                STEEL_UNROLL
                for (short k = 0; k < BK; ++k) {
                  sum[0] += float(a_tile[row * BK + k]) * float(b_tile[k * BN + column]);
                }
              }
              T result() const { return T(sum[0]); }
            };
            #define TILE 16
        """.replace("STEEL_UNROLL", '_Pragma("clang loop unroll(full)")')
        body = """
            threadgroup T a_tile[TILE * TILE];
            threadgroup T b_tile[TILE * TILE];
            uint3 group = threadgroup_position_in_grid;
            BlockMultiply<T, TILE, TILE, TILE> block(
                a_tile, b_tile, a + group.y * TILE * K, b + group.x * TILE,
                    thread_index_in_threadgroup);
            for (int k = 0; k < K; k += TILE) {
                block.load(k, K, N);
                threadgroup_barrier(mem_flags::mem_threadgroup);
                block.multiply();
                threadgroup_barrier(mem_flags::mem_threadgroup);
            }
            out[(group.y * TILE + block.row) * N + group.x * TILE + block.column] = block.result();
        """
        a = RNG.standard_normal((32, 64)).astype(np.float32)
        b = RNG.standard_normal((64, 48)).astype(np.float32)
        for dtype, tolerance in ((mx.float32, 1e-4), (mx.float16, 2e-2)):
            inputs = {
                "a": mx.array(a).astype(dtype),
                "b": mx.array(b).astype(dtype),
                "K": 64,
                "N": 48,
            }
            result = run_one(
                body,
                inputs,
                out(32, 48, dtype=dtype),
                (48, 32, 1),
                (16, 16, 1),
                header=header,
                template=[("T", dtype)],
            )
            np.testing.assert_allclose(
                result, a.astype(float) @ b, rtol=tolerance, atol=tolerance * 4
            )

    def test_overloads_on_device_and_thread(self):
        header = """
            inline int where(const device float*) { return 1; }
            inline int where(const thread float*) { return 2; }
            inline int where(const threadgroup float*) { return 3; }
            inline int where(const constant float*) { return 4; }
        """
        body = """
            float local[2] = {1, 2};
            threadgroup float shared[2];
            out[0] = where(x); out[1] = where(local); out[2] = where(shared); out[3] = where(few);
        """
        result = run_one(
            body,
            {"x": np.ones(9, np.float32), "few": np.ones(2, np.float32)},
            out(4),
            1,
            header=header,
        )
        assert result.tolist() == [1, 2, 3, 4]


class TestLiterals:
    def test_unsuffixed_literals_are_float(self):
        body = """
            static_assert(is_same_v<decltype(-1e30), float>, "");
            static_assert(is_same_v<decltype(0.5 * half(1)), float>, "");
            static_assert(is_same_v<decltype(true ? half(1) : -1e30), float>, "");
            static_assert(is_same_v<decltype(0.0h), half>, "");
            static_assert(is_same_v<decltype(64ul), ulong> && sizeof(8ul) == 8, "");
            float a[3] = {0.0};
            float4 v = {0.5};
            out[0] = 1e-9 * eps;
            out[1] = flag ? x[0] : -1e30;
            out[2] = a[1] + v.x;
            out[3] = 0.1 == 0.1f;
            out[4] = 1.5h * 2;
        """
        inputs = {"eps": 2.0, "flag": False, "x": np.ones(8, np.float16)}
        result = run_one(body, inputs, out(5), 1)
        np.testing.assert_allclose(result, [2e-9, -1e30, 0.5, 1, 3], rtol=1e-6)

    def test_sixty_four_bit_shifts(self):
        body = """
            uint i = thread_position_in_grid.x;
            ulong key = ulong(hi[i]) << 32 | lo[i];
            out[i] = uint((key >> (8ul * (i % 8))) & 0xfful);
            big[i] = (1ul << i) + (64ul - i);
        """
        hi, lo = (RNG.integers(0, 2**32, 64, dtype=np.uint32) for _ in range(2))
        small, big = run_kernel(
            body, {"hi": hi, "lo": lo}, {"out": ((64,), mx.uint32), "big": ((64,), mx.uint64)}, 64
        )
        key = hi.astype(np.uint64) << np.uint64(32) | lo
        i = np.arange(64, dtype=np.uint64)
        np.testing.assert_array_equal(
            small, key >> (np.uint64(8) * (i % np.uint64(8))) & np.uint64(255)
        )
        np.testing.assert_array_equal(big, (np.uint64(1) << i) + (np.uint64(64) - i))

    def test_signed_and_unsigned_mixes(self):
        body = """
            uint i = thread_position_in_grid.x;
            int n = 7;
            a[i] = i % n;
            b[i] = int(i) - 20 < n ? 1 : 0;
            c[i] = (i - 20u) < uint(n);
            d[i] = (int(i) - 20) / n * 100 + (int(i) - 20) % n;
        """
        outputs = {name: ((40,), mx.int32) for name in "abcd"}
        a, b, c, d = run_kernel(body, {}, outputs, 40)
        i = np.arange(40)
        np.testing.assert_array_equal(a, i % 7)
        np.testing.assert_array_equal(b, i - 20 < 7)
        np.testing.assert_array_equal(c, (i >= 20) & (i < 27))
        np.testing.assert_array_equal(d, np.trunc((i - 20) / 7) * 100 + np.fmod(i - 20, 7))


class TestShadowing:
    def test_inputs_called_like_builtins(self):
        body = """
            uint i = thread_position_in_grid.x;
            float angle = input[i] * scale;
            out[i] = cos[i] * metal::cos(angle) - sin[i] * metal::sin(angle) + grid[i] + half[0]
                * 0;
        """.replace("half[0]", "min[0]")
        names = ["cos", "sin", "input", "grid", "min"]
        arrays = {n: RNG.standard_normal(40).astype(np.float32) for n in names}
        result = run_one(body, arrays | {"scale": 0.5}, out(40), 40)
        angle = arrays["input"] * 0.5
        want = arrays["cos"] * np.cos(angle) - arrays["sin"] * np.sin(angle) + arrays["grid"]
        np.testing.assert_allclose(result, want, rtol=1e-5, atol=1e-5)


class TestPointersAndArrays:
    def test_auto_pointers_arrays_of_pointers_and_volatile(self):
        body = """
            const device auto* p = x + 3;
            const device float* xk[2];
            xk[0] = x; xk[1] = p;
            volatile float v = xk[1][0];
            float zeros[5] = {};
            out[0] = *p; out[1] = xk[0][1] + v; out[2] = zeros[4];
        """
        assert run_one(body, {"x": np.arange(9, dtype=np.float32)}, out(3), 1).tolist() == [3, 4, 0]

    def test_register_arrays_with_run_time_indices(self):
        body = """
            float o[512];
            float m[8][16];
            uint t = thread_position_in_grid.x;
            for (int i = 0; i < 512; ++i) o[i] = x[(i + t) % 64];
            for (int i = 0; i < 8; ++i)
                for (int j = 0; j < 16; ++j) m[i][j] = o[(i * 37 + j * 11) % 512];
            float sum = 0;
            for (int k = 0; k < 64; ++k) { int r = index[k] % 8; sum += m[r][(index[k] + t) % 16]; }
            out[t] = sum;
        """
        x = RNG.standard_normal(64).astype(np.float32)
        index = RNG.integers(0, 1000, 64).astype(np.int32)
        result = run_one(body, {"x": x, "index": index}, out(40), 40, 40)
        want = []
        for t in range(40):
            o = x[(np.arange(512) + t) % 64].astype(np.float64)
            i, j = np.meshgrid(np.arange(8), np.arange(16), indexing="ij")
            m = o[(i * 37 + j * 11) % 512]
            want.append(sum(m[k % 8][(k + t) % 16] for k in index))
        np.testing.assert_allclose(result, want, rtol=1e-4, atol=1e-4)

    def test_typedefs_and_usings_in_bodies(self):
        body = """
            typedef float acc_t;
            using index_t = int64_t;
            struct Pair { acc_t a; index_t i; };
            Pair best = {-INFINITY, -1};
            for (index_t i = 0; i < 20; ++i) if (x[i] > best.a) best = Pair{x[i], i};
            out[0] = best.i;
        """
        x = RNG.standard_normal(20).astype(np.float32)
        assert run_one(body, {"x": x}, out(1), 1)[0] == x.argmax()

    def test_device_atomics_without_atomic_outputs(self):
        body = """
            uint i = thread_position_in_grid.x;
            atomic_fetch_add_explicit((device atomic_float*)&out[bin[i]], x[i],
                memory_order_relaxed);
            atomic_fetch_max_explicit((device atomic_int*)&top[0], bin[i], memory_order_relaxed);
        """
        x = RNG.uniform(0, 1, 1000).astype(np.float32)
        bins = RNG.integers(0, 10, 1000).astype(np.int32)
        sums, top = run_kernel(
            body,
            {"x": x, "bin": bins},
            {"out": ((10,), F32), "top": ((1,), mx.int32)},
            1000,
            init_value=0,
        )
        np.testing.assert_allclose(sums, np.bincount(bins, x), rtol=1e-4)
        assert top[0] == bins.max()

    def test_traits_that_look_through_address_spaces(self):
        header = """
            template <typename T> struct without_space { typedef T type; };
            template <typename T> struct without_space<device T> { typedef T type; };
            template <typename T> struct without_space<threadgroup T> { typedef T type; };
            template <typename T> struct without_space<constant T> { typedef T type; };
            template <typename T> using without_space_t = typename without_space<T>::type;
            static_assert(metal::is_same_v<without_space_t<threadgroup half>, half>, "");
            static_assert(metal::is_same_v<without_space_t<constant int>, const int>
                || metal::is_same_v<without_space_t<constant int>, int>, "");

            template <typename P> struct element_of {};
            template <typename T> struct element_of<const device T*> { using type = T; };
            template <typename T> struct element_of<const constant T*> { using type = T; };
            template <typename T> struct element_of<thread T*> { using type = T; };
            template <typename P> auto total(P p, int n) {
                typename element_of<P>::type sum = 0;
                for (int i = 0; i < n; ++i) sum += p[i];
                return sum;
            }
            template <typename T> int space(const device T& x) { return 1; }
            template <typename T> int space(const thread T& x) { return 2; }
            template <typename T> int space(const threadgroup T& x) { return 3; }
        """
        body = """
            threadgroup float shared[2];
            float own[2] = {0.5f, 2};
            out[0] = total(large, 9); out[1] = total(small, 3); out[2] = total(&own[0], 2);
            out[3] = space(large[0]) + 10 * space(own[1]) + 100 * space(shared[1]);
        """
        inputs = {"large": np.arange(9, dtype=np.float32), "small": np.float32([1, 2, 4])}
        result = run_one(body, inputs, out(4), 1, header=header)
        assert result.tolist() == [36, 7, 2.5, 321]
