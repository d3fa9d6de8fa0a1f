"""Softmax in one pass: the largest value so far and the sum of powers change together."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_one, share

ROW = """
    uint row = thread_position_in_grid.x;
    if (row >= x_shape[0]) return;
    float most = -INFINITY, sum = 0;
    for (int i = 0; i < x_shape[1]; ++i) {
        float value = x[row * x_shape[1] + i];
        UPDATE
    }
    o[row] = most + LOG(sum) / SCALE;
"""
UPDATES = {
    "maximum": """
        float now = max(most, value);
        sum = sum * EXP(SCALE * (most - now)) + EXP(SCALE * (value - now));
        most = now;""",
    "power first": """
        float now = fmax(value, most);
        float power = EXP((value - now) * SCALE), factor = EXP(-(now - most) * SCALE);
        sum = sum * factor + power;
        most = now;""",
    "conditional expression": """
        float now = value > most ? value : most;
        sum *= EXP((most - now) * SCALE);
        sum += EXP((value - now) * SCALE);
        most = now;""",
    "branch": """
        if (value > most) {
            sum = sum * EXP((most - value) * SCALE) + 1;
            most = value;
        } else {
            sum += EXP((value - most) * SCALE);
        }""",
    "branch for a larger value": """
        if (value > most) {
            sum *= EXP((most - value) * SCALE);
            most = value;
        }
        sum += EXP((value - most) * SCALE);""",
}
FUNCTIONS = {"exp": ("exp", "log"), "fast::exp2": ("fast::exp2", "log2")}


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(("rows", "length", "scale"), share([(70, 50, 1.0), (5, 64, 0.5)]))
def test_running_sums_of_powers(
    update: str, function: str, rows: int, length: int, scale: float, rng
):
    x = rng.normal(0, 20, (rows, length)).astype(np.float32)
    power, logarithm = FUNCTIONS[function]
    source = ROW.replace("UPDATE", UPDATES[update]).replace("EXP", power).replace("LOG", logarithm)
    o = run_one(
        source.replace("SCALE", f"{scale}f"), {"x": x}, {"o": ((rows,), mx.float32)}, rows, 32
    )
    wide = x.astype(np.float64) * scale * (np.log(2) if power == "fast::exp2" else 1)
    expected = np.logaddexp.reduce(wide, 1) / scale
    expected /= np.log(2) if power == "fast::exp2" else 1
    np.testing.assert_allclose(o, expected, rtol=1e-5, atol=1e-4)


EXTREMES = """
    uint i = thread_position_in_grid.x;
    float now = max(x[i], y[i]);
    factor[i] = exp(x[i] - now);
    power[i] = exp(y[i] - now);
"""


def test_infinities_and_nans():
    numbers = np.float32([0, -0.0, 1, -3, 1e-40, 3e38, -3e38, np.inf, -np.inf, np.nan])
    x, y = (part.ravel() for part in np.meshgrid(numbers, numbers))
    kernel = mx.fast.metal_kernel("extremes", ["x", "y"], ["factor", "power"], EXTREMES)
    results = kernel(
        inputs=[mx.array(x), mx.array(y)],
        grid=(len(x), 1, 1),
        threadgroup=(len(x), 1, 1),
        output_shapes=[x.shape] * 2,
        output_dtypes=[mx.float32] * 2,
    )
    with np.errstate(all="ignore"):
        now = np.fmax(x, y)
        expected = [np.exp(x - now), np.exp(y - now)]
    for result, values in zip(results, expected):
        np.testing.assert_allclose(np.array(result), values, rtol=1e-6)


LARGEST = """
    uint row = thread_position_in_grid.x;
    if (row >= x_shape[0]) return;
    float most = START;
    for (int i = 0; i < x_shape[1]; ++i) most = max(MOST_AND_VALUE);
    o[row] = most;
"""


@pytest.mark.parametrize("start", ["-INFINITY", "x[row * x_shape[1]]", "NAN"])
@pytest.mark.parametrize("operands", ["most, VALUE", "VALUE, most"])
def test_largest_of_nans(start: str, operands: str, rng):
    x = rng.standard_normal((70, 40)).astype(np.float32)
    x[rng.random(x.shape) < 0.3] = np.nan
    x[3] = np.nan
    source = LARGEST.replace("START", start).replace("MOST_AND_VALUE", operands)
    source = source.replace("VALUE", "x[row * x_shape[1] + i]")
    o = run_one(source, {"x": x}, {"o": ((70,), mx.float32)}, 70, 32)
    starts = {"-INFINITY": -np.inf}.get(start, np.nan)
    np.testing.assert_array_equal(o, np.fmax(np.fmax.reduce(x, 1), starts))
