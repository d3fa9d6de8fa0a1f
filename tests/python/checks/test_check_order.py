"""The check of order: which results it reports, and which it must not."""

import os
import subprocess
import sys
import textwrap

import mlx.core as mx
import numpy as np
import pytest
from check_runner import reports

HEAD = (
    "uint i = thread_position_in_grid.x, l = thread_position_in_threadgroup.x;\n"
    "uint g = threadgroup_position_in_grid.x;\nthreadgroup float t[64];\n"
)
BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"
RELAXED = "memory_order_relaxed"

# name: (source, element, line)
WRONG = {
    "last writer": ("o[0] = i;", 0, 4),
    "last threadgroup": ("if (l == 0) o[1] = g;", 1, 4),
    "last SIMD-group": ("if (l % 32 == 0) o[2] = l / 32;", 2, 4),
    "last lane": ("if (l < 8) o[3] = l;", 3, 4),
    "one writer wins": ("if (x[i] > 10) o[5] = x[i];", 5, 4),
    "first come": (
        "uint place = atomic_fetch_add_explicit((device atomic_uint*)o, 1u, memory_order_relaxed);\n"
        "o[1 + place % 63] = i;",
        1,
        5,
    ),
    "no barrier": ("t[l] = x[i];\no[i] = t[l ^ 1];", 0, 5),
    "no barrier between two uses": (
        f"t[l] = l;\n{BARRIER}\nfloat v = t[(l + 1) % 32];\nt[l] = v;\no[i] = t[(l + 2) % 32];",
        0,
        8,
    ),
    "SIMD-group without order": ("if (l < 32) t[l] = x[i];\nif (l < 32) o[i] = t[31 - l];", 0, 5),
    "another threadgroup's result": ("o[i] = i;\nif (i >= 32) o[i] += o[i - 32];", 33, 4),
    "exchange": (
        "o[i] = atomic_exchange_explicit((device atomic_uint*)(o + 63), i, memory_order_relaxed);",
        0,
        4,
    ),
    "running sum": ("t[l] = 1;\nif (l > 0) t[l] += t[l - 1];\no[i] = t[l];", 1, 6),
    "bytes": ("((device uchar*)o)[l / 2] = l;", 0, 4),
    "sum, not only rounded": (
        "float v = atomic_fetch_add_explicit((device atomic_float*)o, 1.0f, memory_order_relaxed);\n"
        "if (i < 63) o[i + 1] = v;",
        1,
        5,
    ),
    "vectors": ("((device float2*)o)[3] = float2(i, 1);", 6, 4),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name):
    source, element, line = WRONG[name]
    wide = name == "last SIMD-group"
    found = reports(HEAD + source, "order", threads=64, threadgroup=64 if wide else 32)
    assert [report.kind for report in found] == ["order"]
    (report,) = found
    assert (report.object, report.size, report.index, report.line) == ("o", 64, element, line)
    assert "in the natural order" in report.message and "MLX_CHECK_ORDER=s1" in report.message


RIGHT = {
    "barrier": f"t[l] = x[i]; {BARRIER} o[i] = t[(l + 1) % 32];",
    "own element": "o[i] = x[i]; o[i] += 1;",
    "one value": "t[0] = 5; o[i] = t[0];",
    "one writer": f"if (l == 0) t[0] = x[0]; {BARRIER} o[i] = t[0];",
    "tree": f"t[l] = x[i]; {BARRIER} for (uint s = 16; s > 0; s /= 2) {{"
    f"if (l < s) t[l] += t[l + s]; {BARRIER} }} if (l == 0) o[g] = t[0];",
    "SIMD-group barrier": "t[l] = x[i]; simdgroup_barrier(mem_flags::mem_threadgroup); o[i] = t[31 - l];",
    "SIMD-group sums": "o[i] = simd_sum(x[i]) + simd_prefix_exclusive_sum(x[i]);",
    "shuffles": "o[i] = simd_shuffle_down(x[i], 1) + simd_broadcast(x[i], 3);",
    "counter": "atomic_fetch_add_explicit((device atomic_uint*)o, i, memory_order_relaxed);",
    "maximum": "atomic_fetch_max_explicit((device atomic_uint*)o, i, memory_order_relaxed);",
    "histogram": "threadgroup atomic_uint h[4]; if (l < 4) atomic_store_explicit(h + l, 0u, "
    f"{RELAXED}); {BARRIER} atomic_fetch_add_explicit(h + l % 4, 1u, {RELAXED});"
    f"{BARRIER} if (l < 4) o[g * 4 + l] = atomic_load_explicit(h + l, {RELAXED});",
    "rounded sums": "atomic_fetch_add_explicit((device atomic_float*)o, 1.0f / (i + 1), "
    "memory_order_relaxed);",
    "rounded sums that cancel": "atomic_fetch_add_explicit((device atomic_float*)o, "
    "(i % 2 ? -1.0f : 1.0f) * 1e6f / (i / 2 + 1), memory_order_relaxed);",
    "rounded sums of a threadgroup": f"threadgroup atomic_float s; if (l == 0) atomic_store_explicit(&s, "
    f"0.0f, {RELAXED}); {BARRIER} atomic_fetch_add_explicit(&s, 1.0f / (i + 1), {RELAXED}); {BARRIER}"
    f"if (l == 0) o[g] = 2 * atomic_load_explicit(&s, {RELAXED});",
    "last threadgroup": "threadgroup uint last; if (l == 0) { o[1 + g] = i;"
    "atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);"
    f"last = atomic_fetch_add_explicit((device atomic_uint*)o, 1u, {RELAXED}) == 1;"
    "if (last) o[8] = o[1] + o[2]; }",
    "uninitialised": "o[i] = t[l];",
}


@pytest.mark.parametrize("name", RIGHT)
def test_right(name):
    found = reports(HEAD + RIGHT[name], "order", threads=64, threadgroup=32)
    assert [str(report) for report in found] == []


def test_the_report_names_both_values_and_both_threads():
    (report,) = reports("o[3] = thread_position_in_grid.x;", "order")
    assert report.message == (
        'writes element 3 of the buffer "o", which has 64 elements: '
        "63 in the natural order, 0 with MLX_CHECK_ORDER=s1"
    )
    assert (report.thread, report.threadgroup) == ((63, 0, 0), (0, 0, 0))
    assert report.note == "with s1 thread (0, 0, 0) of threadgroup (0, 0, 0) writes it last, here"
    assert (report.line, report.note_line) == (1, 1)


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        (mx.int8, "-1 in the natural order, -64"),
        (mx.uint8, "255 in the natural order, 192"),
        (mx.int32, "-1 in the natural order, -64"),
        (mx.uint64, "18446744073709551615 in the natural order, 18446744073709551552"),
        (mx.float16, "-1 in the natural order, -64"),
        (mx.bfloat16, "-1 in the natural order, -64"),
        (mx.bool_, "1 in the natural order, 0"),
    ],
)
def test_values_have_the_type_of_the_buffer(dtype, values):
    number = "int(thread_position_in_grid.x) - 64"
    source = f"o[1] = {number} > -2;" if dtype == mx.bool_ else f"o[1] = {number};"
    (report,) = reports(source, "order", dtype=dtype)
    assert values in report.message


def test_a_token_reproduces_one_order(monkeypatch):
    """Which of many threads is the last one differs among orders, but not for one token."""
    source = "o[0] = thread_position_in_grid.x;"
    seen = set()
    for token in ("s2", "s3", "s4", "s77"):
        monkeypatch.setenv("MLX_CHECK_ORDER", token)
        texts = {str(reports(source, "order")[0]) for _ in range(2)}
        assert len(texts) == 1
        assert f"with MLX_CHECK_ORDER={token}" in texts.copy().pop()
        seen |= {text.replace(token, "") for text in texts}
    assert len(seen) == 4


@pytest.mark.parametrize(("number", "finds"), [("2", False), ("400", True)])
def test_many_orders_find_more(monkeypatch, number, finds):
    """Only in few orders does thread 9 run right after thread 20."""
    monkeypatch.setenv("MLX_CHECK_ORDER", number)
    source = """
        uint i = thread_position_in_grid.x;
        uint before = atomic_exchange_explicit((device atomic_uint*)o, i, memory_order_relaxed);
        if (i == 9 && before == 20) o[1] = 1;
        threadgroup_barrier(mem_flags::mem_device);
        if (i == 0) o[0] = 0;
    """
    assert [report.index for report in reports(source, "order")] == [1] * finds


@pytest.mark.parametrize("value", ["x", "0", "s0", "s", "-1", "4 5", "99999999999"])
def test_other_orders_are_refused(monkeypatch, value):
    monkeypatch.setenv("MLX_CHECK_ORDER", value)
    with pytest.raises(RuntimeError, match=r"\[MLX_CHECK_ORDER\] Expected a number of orders"):
        reports("o[0] = 1;", "order")


PROGRAM = """
    import mlx.core as mx
    kernel = mx.fast.metal_kernel(name="k", input_names=["x"], output_names=["y"],
        source="y[0] = thread_position_in_grid.x;")
    y = kernel(inputs=[mx.ones(16)], grid=(16, 1, 1), threadgroup=(16, 1, 1),
               output_shapes=[(16,)], output_dtypes=[mx.float32])[0]
    try:
        mx.eval(y)
    except mx.metal.KernelCheckError as error:
        print(error.reports[0].message)
"""


@pytest.mark.parametrize(
    ("environment", "printed"),
    [
        ({"MLX_CHECK": "order"}, "MLX_CHECK_ORDER=s1"),
        ({"MLX_CHECK_ORDER": "100"}, "MLX_CHECK_ORDER=s1"),
        ({"MLX_CHECK_ORDER": "s2"}, "MLX_CHECK_ORDER=s2"),
        ({"MLX_CHECK_ORDER": ""}, ""),
        (
            {"MLX_CHECK_ORDER": "many"},
            "[MLX_CHECK_ORDER] Expected a number of orders, or the token",
        ),
    ],
)
def test_the_environment_chooses(environment, printed):
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)],
        capture_output=True,
        text=True,
        env=os.environ | environment,
    )
    assert printed in result.stdout + result.stderr
    assert bool(result.stdout) == printed.startswith("MLX")


def test_results_are_those_of_the_natural_order():
    kernel = mx.fast.metal_kernel(
        name="places",
        input_names=["x"],
        output_names=["o"],
        source="o[atomic_fetch_add_explicit((device atomic_uint*)o + 64, 1u, memory_order_relaxed)]"
        " = thread_position_in_grid.x;",
        check="order",
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLX_CHECK_REPORT", "warn")
        with pytest.warns(RuntimeWarning, match="order: writes element"):
            (o,) = kernel(
                inputs=[mx.ones(1)],
                grid=(64, 1, 1),
                threadgroup=(32, 1, 1),
                output_shapes=[(65,)],
                output_dtypes=[mx.uint32],
                init_value=0,
            )
            mx.eval(o)
    assert o.tolist() == [*range(64), 64]


def test_every_buffer_that_differs_is_reported():
    kernel = mx.fast.metal_kernel(
        name="two",
        input_names=["x"],
        output_names=["a", "b", "c"],
        source="uint i = thread_position_in_grid.x; a[1] = i; b[i] = x[i]; c[2] = -float(i);",
        check="order",
    )
    with pytest.raises(mx.metal.KernelCheckError) as caught:
        mx.eval(
            kernel(
                inputs=[mx.ones(64)],
                grid=(64, 1, 1),
                threadgroup=(32, 1, 1),
                output_shapes=[(64,)] * 3,
                output_dtypes=[mx.float32] * 3,
            )
        )
    assert [(report.object, report.index) for report in caught.value.reports] == [
        ("a", 1),
        ("c", 2),
    ]


def test_other_checks_come_first():
    """What is wrong anyway is not run in other orders."""
    source = "t[l] = x[i]; o[i] = t[31 - l];"
    kinds = {r.kind for r in reports(HEAD + source, "all,order", threads=64, threadgroup=32)}
    assert kinds == {"races", "uninitialised"}
    found = reports(HEAD + RIGHT["tree"], ["all", "order"], threads=64, threadgroup=32)
    assert found == []
    first = (
        "o[1 + atomic_fetch_add_explicit((device atomic_uint*)o, 1u, memory_order_relaxed)] = i;"
    )
    kinds = [r.kind for r in reports(HEAD + first, "all,order", outputs=65)]
    assert kinds == ["order"]


def test_a_fault_in_another_order_is_reported():
    source = (
        "uint i = thread_position_in_grid.x; if (i == 0 && o[63] > 0) o[1l << 40] = 1; o[i] = i;"
    )
    (report,) = reports(source, "order")
    assert "does not end: [under_check] The kernel was stopped: invalid memory access" in (
        report.message
    )
    assert "(with MLX_CHECK_ORDER=s1)" in report.message


def test_waiting_for_a_threadgroup_that_runs_later_is_reported():
    source = """
        device atomic_uint* done = (device atomic_uint*)o;
        uint g = threadgroup_position_in_grid.x;
        while (g && atomic_load_explicit(done + g - 1, memory_order_relaxed) == 0) {}
        atomic_store_explicit(done + g, 1u, memory_order_relaxed);
    """
    (report,) = reports(source, "order", threads=3, threadgroup=1)
    assert report.message == (
        "does not end: threads wait for others that run later (with MLX_CHECK_ORDER=s1)"
    )


def test_array_operations_do_not_depend_on_the_order():
    with mx.metal.check("order"):
        x = mx.random.normal((17, 33))
        y = mx.softmax(x @ x.T, axis=-1).sum(axis=0)
        scattered = mx.zeros(4).at[mx.array([0, 1, 0, 3] * 8)].add(mx.ones(32) / 3)
        mx.eval(y, mx.sort(y), mx.cumsum(y), scattered)
    np.testing.assert_allclose(scattered, [16 / 3, 8 / 3, 0, 8 / 3], rtol=1e-6)
