"""Profiles of kernels: launches, sampled lines, and the trace."""

import json
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest
from check_runner import launch

SOURCE = """uint i = thread_position_in_grid.x;
float sum = x[i];
for (uint k = 0; k < steps; ++k)
  sum = metal::sin(sum) + 1;
y[i] = sum;
"""


def run(steps: int, size: int = 4096, **options) -> mx.array:
    """Long enough for many samples, if there are many steps."""
    kernel = mx.fast.metal_kernel(
        name="series", input_names=["x", "steps"], output_names=["y"], source=SOURCE, **options
    )
    (y,) = kernel(
        inputs=[mx.zeros(size), steps],
        grid=(size, 1, 1),
        threadgroup=(64, 1, 1),
        output_shapes=[(size,)],
        output_dtypes=[mx.float32],
    )
    mx.eval(y)
    return y


def test_launches():
    x = mx.ones(64)
    mx.eval(x)
    with mx.metal.profile() as profile:
        run(10)
        run(10, size=64)
    launches = [launch for launch in profile.launches if launch.kernel == "series"]
    assert [launch.grid for launch in launches] == [(4096, 1, 1), (64, 1, 1)]
    assert [launch.threadgroup for launch in launches] == [(64, 1, 1)] * 2
    assert all(launch.threads >= 1 for launch in launches)
    assert 0 < launches[0].start < launches[1].start
    assert launches[0].start + launches[0].duration <= launches[1].start
    assert repr(launches[0]) == "<ProfiledLaunch of series>"


def test_samples_meet_the_loop():
    with mx.metal.profile() as profile:
        y = run(100000)
    top = profile.lines[0]
    assert (top.kernel, top.file) == ("series", "series")
    assert top.line in (3, 4) and top.samples > 0
    assert top.text in SOURCE.splitlines()
    assert [line.samples for line in profile.lines] == sorted(
        (line.samples for line in profile.lines), reverse=True
    )
    (launch,) = [launch for launch in profile.launches if launch.kernel == "series"]
    assert launch.lines[0].samples == top.samples
    table = str(profile).splitlines()
    assert table[0].split() == ["samples", "share", "kernel", "place", "source"]
    assert table[1].split()[2:4] == ["series", f"series:{top.line}"]
    assert repr(top) == f"<ProfiledLine of series, line {top.line}: {top.samples} samples>"
    assert np.array_equal(np.array(y), np.array(run(100000)))


def test_samples_meet_kernels_with_barriers():
    source = """threadgroup float t[64];
    uint l = thread_position_in_threadgroup.x;
    t[l] = x[l];
    for (uint k = 0; k < 200000; ++k) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      float v = t[(l + 1) % 64];
      threadgroup_barrier(mem_flags::mem_threadgroup);
      t[l] = metal::cos(v);
    }
    y[l] = t[l];
    """
    kernel = mx.fast.metal_kernel(name="ring", input_names=["x"], output_names=["y"], source=source)
    with mx.metal.profile() as profile:
        mx.eval(launch(kernel, mx.ones(64), threads=4096, outputs=64))
    lines = {line.line for line in profile.lines if line.kernel == "ring" and line.file == "ring"}
    assert lines & {4, 5, 6, 7, 8}


def test_array_operations_are_in_it():
    x = mx.random.normal((100, 100))
    mx.eval(x)
    with mx.metal.profile() as profile:
        mx.eval(mx.softmax(x, axis=-1))
    assert profile.launches
    with mx.metal.profile() as profile:
        pass
    assert profile.launches == [] and profile.lines == []


def test_kernels_outside_are_not():
    with mx.metal.profile() as profile:
        mx.eval(mx.ones(3) + 1)
    before = len(profile.launches)
    run(10)
    assert len(profile.launches) == before


def test_checked_kernels_are_left_out():
    with mx.metal.profile() as profile:
        run(10, check="bounds")
        run(10, coverage=True)
    assert "series" not in {launch.kernel for launch in profile.launches}
    mx.metal.reset_coverage()


def test_one_profile_at_a_time():
    profile = mx.metal.profile()
    with profile:
        with pytest.raises(RuntimeError, match=r"\[profile\] There is a profile already"):
            mx.metal.profile().__enter__()
        run(10)
    assert "series" in {launch.kernel for launch in profile.launches}
    with profile:
        pass
    assert profile.launches == []


def test_a_kernel_that_stops_ends_nothing():
    kernel = mx.fast.metal_kernel(
        name="wild", input_names=["x"], output_names=["y"], source="y[-(1l << 40)] = x[0];"
    )
    with mx.metal.profile() as profile:
        with pytest.raises(RuntimeError, match="The kernel was stopped"):
            mx.eval(
                kernel(
                    inputs=[mx.ones(1)],
                    grid=(1, 1, 1),
                    threadgroup=(1, 1, 1),
                    output_shapes=[(1,)],
                    output_dtypes=[mx.float32],
                )
            )
        run(10)
    names = [launch.kernel for launch in profile.launches]
    assert "wild" not in names and "series" in names


def test_the_trace(tmp_path: Path):
    path = tmp_path / "trace.json"
    with mx.metal.profile(path) as profile:
        run(100000)
    trace = json.loads(path.read_text())
    assert trace["displayTimeUnit"] == "ms"
    events = trace["traceEvents"]
    tracks = {event["tid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
    slices = [e for e in events if e["ph"] == "X" and e["name"] == "series"]
    launch, *parts = slices
    assert tracks[launch["tid"]] == "launches"
    assert launch["args"]["grid"] == [4096, 1, 1]
    assert launch["args"]["threadgroup"] == [64, 1, 1]
    assert launch["args"]["threads"] == len(parts)
    assert sum(launch["args"]["samples"].values()) == sum(
        line.samples for line in profile.lines if line.kernel == "series"
    )
    assert any("metal::sin" in line for line in launch["args"]["samples"])
    for part in parts:
        assert tracks[part["tid"]] == f"thread {part['tid']}"
        assert launch["ts"] <= part["ts"]
        assert part["ts"] + part["dur"] <= launch["ts"] + launch["dur"] + 1
    assert sum(part["args"]["threadgroups"] for part in parts) >= 1


def test_a_trace_that_cannot_be_written():
    with mx.metal.profile() as profile:
        pass
    with pytest.raises(RuntimeError, match=r"\[profile\] Cannot write /proc/nowhere/t.json"):
        profile.save("/proc/nowhere/t.json")
    with pytest.raises(TypeError):
        mx.metal.profile(3)
