"""The ways in which published kernels are bound and launched, each in a kernel of ours."""

import os

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel, run_one, to_numpy

F32 = mx.float32


def out(*shape, dtype=F32, name="out"):
    return {name: (shape, dtype)}


class TestBinding:
    def test_address_space_follows_the_size(self):
        header = """
            int space_of(const device float*) { return 1; }
            int space_of(const constant float*) { return 2; }
        """
        body = "out[0] = space_of(few); out[1] = space_of(many); out[2] = space_of(&zero);"
        inputs = {
            "few": np.ones(7, np.float32),
            "many": np.ones(8, np.float32),
            "zero": np.float32(1).reshape(()),
        }
        assert run_one(body, inputs, out(3), 1, header=header).tolist() == [2, 1, 2]

    @pytest.mark.parametrize("size", [1, 7, 8, 100])
    def test_auto_pointers_work_in_either_space(self, size):
        body = """
            auto p = x + thread_position_in_grid.x;
            out[thread_position_in_grid.x] = *p + p[0];
        """
        x = np.arange(size, dtype=np.float32)
        np.testing.assert_array_equal(run_one(body, {"x": x}, out(size), size), 2 * x)

    def test_python_scalars_are_rank_zero(self):
        body = """
            static_assert(is_same_v<decltype(n), const constant int32_t&>, "int");
            static_assert(is_same_v<decltype(f), const constant float&>, "float");
            static_assert(is_same_v<decltype(b), const constant bool&>, "bool");
            out[0] = n + f + b;
        """
        assert run_one(body, {"n": -3, "f": 0.5, "b": True}, out(1), 1).tolist() == [-1.5]

    def test_companions_of_an_input_used_for_nothing_else(self):
        body = "out[0] = mask_shape[1] * 10 + mask_ndim; out[1] = mask_strides[0];"
        result = run_one(body, {"mask": np.zeros((3, 5), np.float16)}, out(2), 1)
        assert result.tolist() == [52, 5]

    def test_types_of_companions(self):
        body = """
            static_assert(is_same_v<decltype(x_shape), const constant int*>, "shape");
            static_assert(is_same_v<decltype(x_strides), const constant int64_t*>, "strides");
            static_assert(is_same_v<decltype(x_ndim), const constant int&>, "ndim");
            out[0] = x_shape[0];
        """
        assert run_one(body, {"x": np.zeros(9, np.float32)}, out(1), 1)[0] == 9

    @pytest.mark.parametrize(
        "name",
        "B C D X H W K N R S T G L U V x y w b partial o q k v idx n i j M A E F P Q Z".split(),
    )
    def test_names_that_collide_with_everything(self, name):
        body = f"out[thread_position_in_grid.x] = {name}[thread_position_in_grid.x] + scale_{name};"
        x = np.arange(10, dtype=np.float32)
        result = run_one(body, {name: x, f"scale_{name}": 2}, out(10), 10)
        np.testing.assert_array_equal(result, x + 2)

    @pytest.mark.parametrize("name", ["output", "result", "y", "O", "dst", "C", "device_out", "o"])
    def test_names_of_outputs(self, name):
        body = f"{name}[thread_position_in_grid.x] = 3;"
        assert run_one(body, {}, out(4, name=name), 4).tolist() == [3] * 4

    @pytest.mark.parametrize("name", ["T", "N", "U", "D", "BLOCK", "V", "Tile"])
    def test_template_names(self, name):
        body = f"out[0] = {name}; out[1] = x[1];"
        result = run_one(body, {"x": np.arange(9, dtype=np.int32)}, out(2), 1, template=[(name, 6)])
        assert result.tolist() == [6, 1]

    def test_t_is_a_type_here_and_a_number_there(self):
        x = np.arange(9, dtype=np.float32)
        as_type = run_one(
            "out[0] = T(x[3]) / T(2);", {"x": x}, out(1), 1, template=[("T", mx.int32)]
        )
        as_input = run_one("out[0] = x[3] / T;", {"x": x, "T": 2}, out(1), 1)
        assert as_type[0] == 1 and as_input[0] == 1.5

    def test_the_name_is_no_cache_key(self):
        body = "out[thread_position_in_grid.x] = T(x[thread_position_in_grid.x]) / N;"
        kernel = mx.fast.metal_kernel("same", ["x"], ["out"], body)
        for dtype, n in ((mx.float32, 2), (mx.int32, 2), (mx.float16, 4), (mx.float32, 4)):
            x = mx.arange(8).astype(dtype)
            (y,) = kernel(
                inputs=[x],
                template=[("T", dtype), ("N", n)],
                grid=(8, 1, 1),
                threadgroup=(8, 1, 1),
                output_shapes=[(8,)],
                output_dtypes=[F32],
            )
            want = np.arange(8) // n if dtype == mx.int32 else np.arange(8) / n
            np.testing.assert_array_equal(np.array(y), want)

    def test_parameters_are_modified_in_place(self):
        body = """
            uint row = threadgroup_position_in_grid.x;
            uint lane = thread_position_in_threadgroup.x;
            x += row * 32 + lane;
            out += row * 32;
            out += lane;
            x_scale += row;
            *out = *x * x_scale[0];
        """
        x = np.random.default_rng(0).standard_normal((10, 32)).astype(np.float32)
        scale = np.arange(10, dtype=np.float32)
        result = run_one(body, {"x": x, "x_scale": scale}, out(10, 32), 320, 32)
        np.testing.assert_allclose(result, x * scale[:, None], rtol=1e-6)

    def test_outputs_of_three_types_one_of_them_empty(self):
        body = """
            uint i = thread_position_in_grid.x;
            a[i] = x[i]; b[i] = x[i]; c[i] = x[i] > 4;
        """
        outputs = {
            "a": ((10,), mx.float16),
            "b": ((10,), mx.int32),
            "c": ((10,), mx.bool_),
            "unused": ((0, 4), mx.float32),
        }
        a, b, c, unused = run_kernel(body, {"x": np.arange(10, dtype=np.float32)}, outputs, 10)
        assert a.dtype == np.float16 and b.dtype == np.int32 and c.dtype == np.bool_
        assert a.tolist() == b.tolist() == list(range(10))
        assert c.tolist() == [i > 4 for i in range(10)] and unused.shape == (0, 4)

    def test_outputs_read_back_as_scratch(self):
        body = """
            uint i = thread_position_in_grid.x;
            sums[i] = 0;
            for (int k = 0; k < 5; ++k) sums[i] += x[5 * i + k];
            out[i] = sums[i] / 5;
        """
        x = np.arange(50, dtype=np.float32)
        sums, mean = run_kernel(body, {"x": x}, {"sums": ((10,), F32), "out": ((10,), F32)}, 10)
        np.testing.assert_allclose(mean, x.reshape(10, 5).mean(1))
        np.testing.assert_allclose(sums, x.reshape(10, 5).sum(1))

    def test_twenty_two_inputs_and_four_outputs(self):
        dtypes = [np.float32, np.float16, np.int32, np.uint8, np.int64, np.bool_, np.uint32]
        rng = np.random.default_rng(0)
        inputs = {
            f"in{i}": rng.integers(0, 2, 8 + i).astype(dtypes[i % len(dtypes)]) for i in range(22)
        }
        total = " + ".join(f"float({name}[i])" for name in inputs)
        body = f"""
            uint i = thread_position_in_grid.x;
            float total = {total};
            a[i] = total; b[i] = total; c[i] = total; d[i] = total > 11;
        """
        kinds = (mx.float32, mx.bfloat16, mx.uint32, mx.bool_)
        outputs = {n: ((8,), t) for n, t in zip("abcd", kinds)}
        a, b, c, d = run_kernel(body, inputs, outputs, 8)
        want = sum(v[:8].astype(np.float64) for v in inputs.values())
        for got in (a, b, c):
            np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(d, want > 11)

    @pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int64])
    def test_less_common_input_types(self, dtype):
        x = (np.arange(20) % 2).astype(dtype)
        result = run_one(
            "out[thread_position_in_grid.x] = x[thread_position_in_grid.x] ? 7 : 1;",
            {"x": x},
            out(20),
            20,
        )
        np.testing.assert_array_equal(result, np.where(x, 7, 1))

    def test_weights_behind_other_pointer_types(self):
        body = """
            uint i = thread_position_in_grid.x;
            const device uint8_t* bytes = (const device uint8_t*)w;
            const device uint16_t* shorts = reinterpret_cast<const device uint16_t*>(w);
            low[i] = bytes[i];
            ((device float*)high)[i] = shorts[i / 2];
        """
        w = np.random.default_rng(1).integers(0, 2**32, 16, dtype=np.uint32)
        low, high = run_kernel(
            body, {"w": w}, {"low": ((64,), mx.uint8), "high": ((64,), mx.uint32)}, 64
        )
        np.testing.assert_array_equal(low, w.view(np.uint8))
        np.testing.assert_array_equal(high.view(np.float32), np.repeat(w.view(np.uint16), 2)[:64])

    def test_non_contiguous_inputs_reach_the_kernel_as_they_are(self):
        body = """
            uint2 p = thread_position_in_grid.xy;
            out[p.y * x_shape[1] + p.x] = x[p.y * x_strides[0] + p.x * x_strides[1]];
        """
        x = mx.arange(48).reshape(6, 8).astype(F32)
        for view in (x.T, x[1:5, ::2], x[:, 3:], mx.broadcast_to(x[:1], (6, 8))):
            rows, columns = view.shape
            result = run_one(
                body,
                {"x": view},
                out(rows, columns),
                (columns, rows, 1),
                (4, 4, 1),
                ensure_row_contiguous=False,
            )
            np.testing.assert_array_equal(result, to_numpy(view))

    def test_kernels_that_assume_contiguity_all_the_same(self):
        x = mx.arange(64).astype(F32).reshape(8, 8)
        result = run_one(
            "out[thread_position_in_grid.x] = x[thread_position_in_grid.x];",
            {"x": x[2:6]},
            out(4, 8),
            32,
            ensure_row_contiguous=False,
        )
        np.testing.assert_array_equal(result, to_numpy(x)[2:6])


class TestTemplates:
    BODY = """
        threadgroup uint buf[FLAG ? 1 : CAP];
        #if CAP
        this tail is never compiled: the preprocessor sees 0
        #endif
        uint i = thread_position_in_threadgroup.x;
        if (!FLAG) buf[i] = i * 2;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        T value = FLAG ? T(i) : T(buf[CAP - 1 - i]);
        float registers[CAP + SH] = {};
        registers[i] = value;
        out[i] = registers[i];
    """

    @pytest.mark.parametrize("flag", [True, False])
    @pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.bfloat16, mx.int32])
    def test_values_of_all_kinds(self, flag, dtype):
        template = [("T", dtype), ("CAP", 16), ("FLAG", flag), ("SH", 3)]
        result = run_one(self.BODY, {}, out(16), 16, 16, template=template)
        want = np.arange(16) if flag else np.arange(16)[::-1] * 2
        np.testing.assert_array_equal(result, want)

    def test_dead_branches_hold_shifts_by_minus_one(self):
        body = """
            int rounded = x[thread_position_in_grid.x];
            if (SHIFT > 0) rounded += 1 << (SHIFT - 1);
            out[thread_position_in_grid.x] = rounded >> SHIFT;
        """
        x = np.arange(-20, 20, dtype=np.int32)
        for shift in (0, 3):
            result = run_one(
                body, {"x": x}, out(40, dtype=mx.int32), 40, template=[("SHIFT", shift)]
            )
            np.testing.assert_array_equal(result, (x + (1 << shift >> 1)) >> shift)

    def test_header_may_define_names_of_the_prelude_and_ours(self):
        header = "#define T half\n#define N 24\n#define out_of(x) ((x) + 1)\n"
        body = "threadgroup T tile[N]; tile[0] = T(2049.0f); out[0] = tile[0]; out[1] = out_of(N);"
        assert run_one(body, {}, out(2), 1, header=header).tolist() == [2048, 25]


class TestLaunch:
    GROUPS = [8, 24, 45, 50, 66, 80, 228, 240]

    @pytest.mark.parametrize("group", GROUPS)
    def test_partial_simdgroups(self, group):
        body = """
            uint i = thread_position_in_grid.x;
            uint lane = thread_index_in_simdgroup;
            total[i] = simd_sum(x[i]);
            largest[i] = simd_max(x[i]);
            votes[i] = uint(static_cast<simd_vote::vote_t>(simd_ballot(x[i] > 0)));
            left[i] = simd_shuffle_up(x[i], ushort(1));
            index[i] = lane + 32 * simdgroup_index_in_threadgroup;
        """
        size = 2 * group + group // 2
        x = np.random.default_rng(group).standard_normal(size).astype(np.float32)
        total, largest, votes, left, index = run_kernel(
            body,
            {"x": x},
            {
                "total": ((size,), F32),
                "largest": ((size,), F32),
                "votes": ((size,), mx.uint32),
                "left": ((size,), F32),
                "index": ((size,), mx.uint32),
            },
            size,
            group,
        )
        for start in range(0, size, group):
            members = np.arange(start, min(start + group, size))
            np.testing.assert_array_equal(index[members], members - start)
            for first in range(0, len(members), 32):
                lanes = members[first : first + 32]
                np.testing.assert_allclose(total[lanes], x[lanes].astype(float).sum(), atol=1e-5)
                np.testing.assert_array_equal(largest[lanes], x[lanes].max())
                np.testing.assert_array_equal(left[lanes[1:]], x[lanes[:-1]])
                bits = sum(1 << k for k, i in enumerate(lanes) if x[i] > 0)
                np.testing.assert_array_equal(votes[lanes], bits)

    @pytest.mark.parametrize("group", [(5, 3, 1), (32, 1, 8), (192, 1, 1), (7, 1, 3), (1, 45, 1)])
    def test_lanes_follow_the_linear_index(self, group):
        body = """
            uint3 p = thread_position_in_threadgroup;
            uint3 n = threads_per_threadgroup;
            uint linear = p.x + n.x * (p.y + n.y * p.z);
            uint3 g = thread_position_in_grid;
            uint where = g.x + threads_per_grid.x * (g.y + threads_per_grid.y * g.z);
            out[where] = linear == thread_index_in_threadgroup
                && linear % 32 == thread_index_in_simdgroup
                && linear / 32 == simdgroup_index_in_threadgroup;
        """
        grid = tuple(2 * n + 1 for n in group)
        result = run_one(body, {}, out(grid[2], grid[1], grid[0]), grid, group)
        assert result.all()

    @pytest.mark.parametrize("grid", [(100, 37, 1), (33, 1, 1), (1, 1000, 1), (31, 5, 9)])
    def test_grid_is_clipped_exactly(self, grid):
        # no bounds check in the body: one thread too many would write past its row
        body = """
            uint3 g = thread_position_in_grid;
            out[g.x + 128 * (g.y + 1024 * g.z)] += 1;
        """
        result = run_one(body, {}, out(grid[2], 1024, 128), grid, (16, 8, 2), init_value=0)
        assert result[:, : grid[1], : grid[0]].min() == 1
        assert result.sum() == np.prod(grid)

    def test_threadgroup_is_clamped_in_each_dimension(self):
        body = (
            "uint3 n = dispatch_threads_per_threadgroup; out[0] = n.x; out[1] = n.y; out[2] = n.z;"
        )
        assert run_one(body, {}, out(3), (3, 100, 1), (32, 8, 4)).tolist() == [3, 8, 1]

    def test_whole_simdgroups_return_early(self):
        body = """
            uint simd = simdgroup_index_in_threadgroup;
            threadgroup float shared[8];
            if (simd >= ROWS) return;
            float value = simd_sum(x[simd * 32 + thread_index_in_simdgroup]);
            if (thread_index_in_simdgroup == 0) shared[simd] = value;
            threadgroup_barrier(mem_flags::mem_threadgroup);
            float sum = 0;
            for (int i = 0; i < ROWS; ++i) sum += shared[i];
            out[simd * 32 + thread_index_in_simdgroup] = sum;
        """
        x = np.random.default_rng(3).standard_normal(256).astype(np.float32)
        for rows in (1, 3, 8):
            result = run_one(
                body, {"x": x}, out(256), 256, 256, template=[("ROWS", rows)], init_value=-1
            )
            np.testing.assert_allclose(
                result[: rows * 32], x[: rows * 32].sum(), rtol=1e-4, atol=1e-5
            )
            assert (result[rows * 32 :] == -1).all()

    def test_init_value_zero_over_mixed_types(self):
        outputs = {
            "a": ((100,), mx.float32),
            "b": ((7,), mx.int64),
            "c": ((3, 3), mx.bfloat16),
            "d": ((9,), mx.bool_),
        }
        results = run_kernel("a[5] = 1;", {}, outputs, 1, init_value=0, stream=None)
        assert results[0].sum() == 1
        assert not any(r.any() for r in results[1:])

    def test_reads_outside_a_buffer_whose_value_is_dropped(self):
        body = """
            int i = thread_position_in_grid.x;
            float above = image[i - W];
            float below = image[i + W];
            float before = image[i - 1];
            float value = image[i];
            if (i >= W) value += above;
            if (i < W * (H - 1)) value += below;
            out[i] = i > 0 ? value + before * 0.0f : value;
        """
        h, w = 64, 1024
        image = np.random.default_rng(5).standard_normal((h, w)).astype(np.float32)
        result = run_one(body, {"image": image, "W": w, "H": h}, out(h, w), h * w)
        want = image.copy()
        want[1:] += image[:-1]
        want[:-1] += image[1:]
        np.testing.assert_allclose(result, want, rtol=1e-5, atol=1e-6)

    def test_a_few_words_past_packed_weights(self):
        body = """
            uint i = thread_position_in_grid.x;
            uint bit = i * 6;
            ulong two = ulong(w[bit / 32]) | (ulong(w[bit / 32 + 1]) << 32);
            out[i] = (two >> (bit % 32)) & 63ul;
        """
        values = np.random.default_rng(6).integers(0, 64, 160)
        bits = ((values[:, None] >> np.arange(6)) & 1).astype(np.uint8).reshape(-1)
        words = np.packbits(bits, bitorder="little").view(np.uint32)
        np.testing.assert_array_equal(run_one(body, {"w": words}, out(160), 160), values)

    def test_a_race_neither_hangs_nor_crashes(self):
        body = """
            threadgroup float shared[256];
            uint i = thread_index_in_threadgroup;
            shared[i] = x[i];
            threadgroup_barrier(mem_flags::mem_threadgroup);
            for (int step = 0; step < 50; ++step) {
                shared[i] = shared[(i + 33) % 256] * 0.5f + shared[(i + 64) % 256] * 0.5f;
            }
            out[i] = shared[i];
        """
        result = run_one(body, {"x": np.ones(256, np.float32)}, out(256), 256, 256)
        assert np.isfinite(result).all()


class TestSurroundings:
    def test_what_packages_look_at_first(self):
        assert mx.metal.is_available()
        assert mx.default_device() == mx.gpu
        info = mx.metal.device_info()
        for key in (
            "architecture",
            "device_name",
            "memory_size",
            "max_recommended_working_set_size",
        ):
            assert key in info
        assert info["memory_size"] > 0 and isinstance(info["architecture"], str)

    def test_headers_lie_beside_the_package(self):
        import mlx

        folders = list(getattr(mlx, "__path__", None) or [os.path.dirname(mlx.__file__)])
        assert any(os.path.isdir(os.path.join(folder, "include")) for folder in folders)
        assert mlx.__file__ is not None
