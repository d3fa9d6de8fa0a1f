"""Kernels of object detection: suppression of boxes, pooling of regions, deformable attention."""

import mlx.core as mx
import numpy as np
from kernel_runner import run_kernel, run_one


def test_suppression_of_overlapping_boxes(rng):
    """Pairs of boxes in 32-bit masks, then one SIMD-group keeps the best box of each cluster."""
    header = """
        struct Box { float left, top, right, bottom; };
        inline float area(Box b) { return (b.right - b.left) * (b.bottom - b.top); }
        inline float overlap(const Box a, const Box b) {
            const float2 low = max(float2(a.left, a.top), float2(b.left, b.top));
            const float2 high = min(float2(a.right, a.bottom), float2(b.right, b.bottom));
            const float2 size = max(high - low, 0.0f);
            const float shared = size.x * size.y;
            return shared / (area(a) + area(b) - shared);
        }
    """
    pairs = """
        const uint row = thread_position_in_grid.y, word = thread_position_in_grid.x;
        device const Box* all = reinterpret_cast<device const Box*>(boxes);
        const Box own = all[row];
        uint bits = 0;
        for (uint k = 0; k < 32; ++k) {
            const uint other = word * 32 + k;
            if (other < uint(COUNT) && other > row && overlap(own, all[other]) > threshold)
                bits |= 1u << k;
        }
        masks[row * WORDS + word] = bits;
    """
    keep = """
        const uint lane = thread_index_in_simdgroup;
        uint removed = 0;  // the word of this lane
        for (int row = 0; row < COUNT; ++row) {
            const uint word = simd_shuffle(removed, ushort(row / 32));
            const bool kept = ((word >> (row % 32)) & 1) == 0;
            if (kept && lane < WORDS) removed |= masks[row * WORDS + lane];
            if (lane == 0) out[row] = kept;
        }
    """
    count, words = 150, 5
    corners = rng.uniform(0, 60, (count, 2))
    boxes = np.hstack([corners, corners + rng.uniform(5, 20, (count, 2))]).astype(np.float32)
    template = [("COUNT", count), ("WORDS", words)]
    (masks,) = run_kernel(
        pairs,
        {"boxes": boxes, "threshold": 0.3},
        {"masks": ((count, words), mx.uint32)},
        (words, count, 1),
        (words, 16, 1),
        header=header,
        template=template,
    )
    got = run_one(keep, {"masks": masks}, {"out": ((count,), mx.bool_)}, 32, 32, template=template)

    low = np.maximum(boxes[:, None, :2], boxes[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], boxes[None, :, 2:])
    shared = np.prod(np.maximum(high - low, 0), axis=2)
    area = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    overlaps = shared / (area[:, None] + area[None] - shared) > 0.3
    want = np.ones(count, bool)
    for i in range(count):
        if want[i]:
            want[i + 1 :] &= ~overlaps[i, i + 1 :]
    np.testing.assert_array_equal(got, want)


def bilinear(image: np.ndarray, y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Samples of an image (rows, columns, channels); zero outside."""
    y0, x0 = np.floor(y).astype(int), np.floor(x).astype(int)
    total = 0
    for dy in (0, 1):
        for dx in (0, 1):
            r, c = y0 + dy, x0 + dx
            inside = (r >= 0) & (r < image.shape[0]) & (c >= 0) & (c < image.shape[1])
            value = image[np.clip(r, 0, image.shape[0] - 1), np.clip(c, 0, image.shape[1] - 1)]
            weight = (1 - np.abs(y - r)) * (1 - np.abs(x - c)) * inside
            total = total + value * weight[..., None]
    return total


SAMPLE = """
    template <typename T>
    inline float sample(const device T* image, int2 size, int channels, int c, float2 at) {
        const float2 low = floor(at);
        const float2 part = at - low;
        const int2 p = int2(low);
        float sum = 0;
        for (int k = 0; k < 4; ++k) {
            const int2 q = p + int2(k & 1, k >> 1);
            const float2 w = select(1 - part, part, bool2(k & 1, k >> 1));
            if (all(q >= 0) && all(q < size)) {
                sum += w.x * w.y * float(image[(q.y * size.x + q.x) * channels + c]);
            }
        }
        return sum;
    }
"""


def test_pooling_of_regions(rng):
    body = """
        const uint3 p = thread_position_in_grid;  // channel, bin, region
        const float4 box = ((const device float4*)boxes)[p.z];
        const float2 bin = (box.zw - box.xy) / float(BINS);
        const float2 corner = box.xy + bin * float2(p.y % BINS, p.y / BINS);
        float sum = 0;
        for (int s = 0; s < SAMPLES * SAMPLES; ++s) {
            const float2 inner = (float2(s % SAMPLES, s / SAMPLES) + 0.5f) / SAMPLES;
            sum += sample(image, int2(image_shape[1], image_shape[0]), image_shape[2], p.x,
                          corner + bin * inner - 0.5f);
        }
        out[(p.z * BINS * BINS + p.y) * image_shape[2] + p.x] = T(sum / (SAMPLES * SAMPLES));
    """
    bins, samples, regions = 3, 2, 5
    image = rng.standard_normal((17, 23, 6)).astype(np.float16)
    corners = rng.uniform(-2, 12, (regions, 2))
    boxes = np.hstack([corners, corners + rng.uniform(2, 9, (regions, 2))]).astype(np.float32)
    got = run_one(
        body,
        {"image": image, "boxes": boxes},
        {"out": ((regions, bins, bins, 6), mx.float16)},
        (6, bins * bins, regions),
        (6, bins * bins, 1),
        header=SAMPLE,
        template=[("T", mx.float16), ("BINS", bins), ("SAMPLES", samples)],
    )
    steps = (np.arange(bins * samples) + 0.5) / (bins * samples)
    for box, pooled in zip(boxes.astype(float), got):
        x, y = (box[k] + (box[k + 2] - box[k]) * steps - 0.5 for k in (0, 1))
        grid = bilinear(image.astype(float), *np.meshgrid(y, x, indexing="ij"))
        want = grid.reshape(bins, samples, bins, samples, 6).mean((1, 3))
        np.testing.assert_allclose(pooled, want, rtol=2e-3, atol=2e-3)


def test_deformable_attention_over_several_scales(rng):
    body = """
        const uint channel = thread_position_in_grid.x, query = thread_position_in_grid.y;
        const uint head = channel / D;
        locations += (query * H + head) * LEVELS * POINTS * 2;
        weights += (query * H + head) * LEVELS * POINTS;
        float sum = 0;
        for (int level = 0; level < LEVELS; ++level) {
            const int2 size = int2(shapes[2 * level + 1], shapes[2 * level]);
            const auto image = value + starts[level] * H * D;
            _Pragma("clang loop unroll(full)")
            for (int point = 0; point < POINTS; ++point, locations += 2, ++weights) {
                const float2 at = float2(locations[0], locations[1]) * float2(size) - 0.5f;
                sum = fma(weights[0], sample(image, size, H * D, channel, at), sum);
            }
        }
        out[query * H * D + channel] = sum;
    """
    shapes = np.array([[9, 7], [5, 4], [3, 2]], np.int32)
    starts = np.concatenate([[0], np.prod(shapes, 1).cumsum()[:-1]]).astype(np.int32)
    heads, depth, points, queries = 2, 8, 4, 11
    total = int(np.prod(shapes, 1).sum())
    value = rng.standard_normal((total, heads * depth)).astype(np.float32)
    shape = (queries, heads, len(shapes), points)
    locations = rng.uniform(-0.1, 1.1, (*shape, 2)).astype(np.float32)
    weights = rng.uniform(0, 1, shape).astype(np.float32)
    got = run_one(
        body,
        {
            "value": value,
            "shapes": shapes,
            "starts": starts,
            "locations": locations,
            "weights": weights,
        },
        {"out": ((queries, heads * depth), mx.float32)},
        (heads * depth, queries, 1),
        (heads * depth, 4, 1),
        header=SAMPLE,
        template=[("H", heads), ("D", depth), ("LEVELS", len(shapes)), ("POINTS", points)],
    )
    want = np.zeros((queries, heads, depth))
    for level, ((rows, columns), start) in enumerate(zip(shapes, starts)):
        image = value[start : start + rows * columns].reshape(rows, columns, heads, depth)
        at = locations[:, :, level].astype(float) * (columns, rows) - 0.5
        for head in range(heads):
            sampled = bilinear(
                image[:, :, head].astype(float), at[:, head, :, 1], at[:, head, :, 0]
            )
            want[:, head] += (sampled * weights[:, head, level, :, None]).sum(1)
    np.testing.assert_allclose(got, want.reshape(queries, -1), rtol=1e-4, atol=1e-4)
