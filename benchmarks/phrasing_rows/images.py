"""An image that is magnified, and one whose edges meet: each pixel from its neighbours."""

import numpy as np

from .phrasing import Computation, Limit

TWO_DIMENSIONS = "int column = thread_position_in_grid.x, row = thread_position_in_grid.y;"
RETURNING = TWO_DIMENSIONS + "if (row >= HEIGHT || column >= WIDTH) return;"
TAKEN_APART = "int at = thread_position_in_grid.x, row = at / WIDTH, column = at % WIDTH;"
# Four times as wide and as high; an image of HEIGHT / 4 rows of WIDTH / 4.
PLACE = """
    float x_at = (column + 0.5f) * 0.25f - 0.5f, y_at = (row + 0.5f) * 0.25f - 0.5f;
    float left = floor(x_at), top = floor(y_at), a = x_at - left, b = y_at - top;
"""
MIXED = (
    PLACE
    + """
    int x0 = max(int(left), 0), x1 = min(int(left) + 1, WIDTH / 4 - 1);
    int y0 = max(int(top), 0), y1 = min(int(top) + 1, HEIGHT / 4 - 1);
    float upper = mix(x[y0 * (WIDTH / 4) + x0], x[y0 * (WIDTH / 4) + x1], a);
    float lower = mix(x[y1 * (WIDTH / 4) + x0], x[y1 * (WIDTH / 4) + x1], a);
    o[row * WIDTH + column] = mix(upper, lower, b);
"""
)
WEIGHED = (
    PLACE
    + """
    float sum = 0;
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
            int r = clamp(int(top) + i, 0, HEIGHT / 4 - 1), c = clamp(int(left) + j, 0, WIDTH / 4 - 1);
            sum += (i ? b : 1 - b) * (j ? a : 1 - a) * x[r * (WIDTH / 4) + c];
        }
    o[row * WIDTH + column] = sum;
"""
)
ROWS = (
    PLACE
    + """
    uint x0 = uint(clamp(left, 0.0f, WIDTH / 4 - 1.0f)), x1 = uint(clamp(left + 1, 0.0f, WIDTH / 4 - 1.0f));
    const device float* upper = x + uint(clamp(top, 0.0f, HEIGHT / 4 - 1.0f)) * (WIDTH / 4);
    const device float* lower = x + uint(clamp(top + 1, 0.0f, HEIGHT / 4 - 1.0f)) * (WIDTH / 4);
    float first = upper[x0] + (upper[x1] - upper[x0]) * a, second = lower[x0] + (lower[x1] - lower[x0]) * a;
    o[row * WIDTH + column] = first + (second - first) * b;
"""
)
CLAMPED_FIRST = """
    float x_at = clamp(float(column) / 4 - 0.375f, 0.0f, WIDTH / 4 - 1.0f);
    float y_at = clamp(float(row) / 4 - 0.375f, 0.0f, HEIGHT / 4 - 1.0f);
    int x0 = x_at, y0 = y_at, x1 = min(x0 + 1, WIDTH / 4 - 1), y1 = min(y0 + 1, HEIGHT / 4 - 1);
    float a = fract(x_at), b = fract(y_at);
    const int width = WIDTH / 4;
    o[row * WIDTH + column] = (1 - b) * ((1 - a) * x[y0 * width + x0] + a * x[y0 * width + x1])
                              + b * ((1 - a) * x[y1 * width + x0] + a * x[y1 * width + x1]);
"""
MAGNIFIED = {
    "mix": TWO_DIMENSIONS + MIXED,
    "mix, return beyond": RETURNING + MIXED,
    "weights, loops": TWO_DIMENSIONS + WEIGHED,
    "pointers of rows": TWO_DIMENSIONS + ROWS,
    "clamped first": TWO_DIMENSIONS + CLAMPED_FIRST,
    "index taken apart": TAKEN_APART + MIXED,
    "index taken apart, weights": TAKEN_APART + WEIGHED,
}

# The mean of the four neighbours, where the first column follows the last one.
NEIGHBOURS = """
    const device float* line = x + row * WIDTH;
    o[row * WIDTH + column] = 0.25f * (line[l] + line[r] + x[u * WIDTH + column] + x[d * WIDTH + column]);
"""
REMAINDERS = """
    int l = (column + WIDTH - 1) % WIDTH, r = (column + 1) % WIDTH;
    int u = (row + HEIGHT - 1) % HEIGHT, d = (row + 1) % HEIGHT;
"""
FROM_SHAPE = "int height = x_shape[0], width = x_shape[1];" + REMAINDERS.replace(
    "WIDTH", "width"
).replace("HEIGHT", "height")
CHOSEN = """
    int l = column == 0 ? WIDTH - 1 : column - 1, r = column == WIDTH - 1 ? 0 : column + 1;
    int u = row > 0 ? row - 1 : HEIGHT - 1, d = row < HEIGHT - 1 ? row + 1 : 0;
"""
CORRECTED = """
    int l = column - 1, r = column + 1, u = row - 1, d = row + 1;
    if (l < 0) l += WIDTH;
    if (r >= WIDTH) r -= WIDTH;
    if (u < 0) u += HEIGHT;
    if (d >= HEIGHT) d -= HEIGHT;
"""
BITS = """
    uint l = (column - 1) & (WIDTH - 1), r = (column + 1) & (WIDTH - 1);
    uint u = (row - 1) & (HEIGHT - 1), d = (row + 1) & (HEIGHT - 1);
"""
LOOP = """
    float sum = 0;
    const int2 steps[4] = {int2(-1, 0), int2(1, 0), int2(0, -1), int2(0, 1)};
    for (int k = 0; k < 4; ++k) {
        int c = (column + steps[k].x + WIDTH) % WIDTH, r = (row + steps[k].y + HEIGHT) % HEIGHT;
        sum += x[r * WIDTH + c];
    }
    o[row * WIDTH + column] = 0.25f * sum;
"""
TORUS = {
    "remainders": TWO_DIMENSIONS + REMAINDERS + NEIGHBOURS,
    "remainders, unsigned": TWO_DIMENSIONS
    + REMAINDERS.replace("int ", "uint ").replace("(column", "(uint(column)")
    + NEIGHBOURS,
    "remainders, sizes from the shape": TWO_DIMENSIONS + FROM_SHAPE + NEIGHBOURS,
    "chosen": TWO_DIMENSIONS + CHOSEN + NEIGHBOURS,
    "corrected": RETURNING + CORRECTED + NEIGHBOURS,
    "bits": TWO_DIMENSIONS + BITS + NEIGHBOURS,
    "loop over neighbours": TWO_DIMENSIONS + LOOP,
    "index taken apart": TAKEN_APART + REMAINDERS + NEIGHBOURS,
    "index taken apart, chosen": TAKEN_APART + CHOSEN + NEIGHBOURS,
}


def magnified(arrays: dict) -> dict:
    x = arrays["x"].astype(np.float64)
    for axis in (0, 1):
        size = x.shape[axis]
        at = (np.arange(4 * size) + 0.5) / 4 - 0.5
        first = np.floor(at).astype(int)
        weights = (at - first)[:, None] if axis == 0 else (at - first)[None]
        before, after = (x.take(np.clip(k, 0, size - 1), axis) for k in (first, first + 1))
        x = before + weights * (after - before)
    return {"o": x}


def neighbours(arrays: dict) -> dict:
    x = arrays["x"].astype(np.float64)
    return {"o": sum(np.roll(x, step, axis) for step in (-1, 1) for axis in (0, 1)) / 4}


def computation(name, reference, limit, shape, read, sources) -> Computation:
    """An image of the shape from one of the shape `read`."""
    height, width = shape
    made = Computation(
        name=name,
        inputs=lambda: {"x": np.random.default_rng(0).standard_normal(read, np.float32)},
        outputs={"o": (shape, "float32")},
        reference=reference,
        limit=Limit("images", limit, ["x"], [height, width]),
    )
    for phrasing, source in sources.items():
        flat = source.startswith(TAKEN_APART)
        made.add(
            phrasing,
            source,
            (height * width,) if flat else (width, height),
            (256,) if flat else (32, 8),
            template={"HEIGHT": height, "WIDTH": width},
        )
    return made


def rows(size: str) -> list[Computation]:
    height, width = (64, 256) if size == "small" else (2048, 2048)
    shape, read = (height, width), (height // 4, width // 4)
    return [
        computation("magnified image", magnified, "magnify", shape, read, MAGNIFIED),
        computation("torus", neighbours, "torus", shape, shape, TORUS),
    ]
