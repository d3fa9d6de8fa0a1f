"""Quantised arrays in NumPy, in double precision: the definitions of the modes."""

import mlx.core as mx
import numpy as np

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
FLOATS = {"mxfp4": (32, 4), "mxfp8": (32, 8), "nvfp4": (16, 4)}
AFFINE = [(group, bits) for group in (32, 64, 128) for bits in (1, 2, 3, 4, 5, 6, 8)]
MODES = [("affine", *pair) for pair in AFFINE] + [(mode, *pair) for mode, pair in FLOATS.items()]
RNG = np.random.default_rng(5)
TYPES = ["float32", "float16", "bfloat16"]
EPSILON = {"float32": 2e-6, "float16": 1e-3, "bfloat16": 8e-3}
FEW_MODES = [("affine", 64, 4), ("affine", 32, 3), ("mxfp4", 32, 4), ("nvfp4", 16, 4)]


def wide(x) -> np.ndarray:
    """An array of either library in double precision."""
    if isinstance(x, mx.array):
        x = x.astype(mx.float32) if x.dtype == mx.bfloat16 else x
        return np.array(x).astype(np.float64)
    return np.asarray(x, np.float64)


def e4m3(codes) -> np.ndarray:
    """The values of 8-bit codes."""
    codes = np.asarray(codes, np.int64)
    exponent, fraction = codes >> 3 & 15, codes & 7
    value = np.where(
        exponent == 0, fraction * 2.0**-9, (8 + fraction) * 2.0 ** (exponent.astype(float) - 10)
    )
    value = np.where((codes & 127) == 127, np.nan, value)
    return np.where(codes & 128, -value, value)


def unpacked(words: np.ndarray, bits: int) -> np.ndarray:
    """Unpacks codes, lowest bits first."""
    stream = np.unpackbits(
        np.ascontiguousarray(words).view(np.uint8).reshape(*words.shape[:-1], -1),
        axis=-1,
        bitorder="little",
    )
    places = stream.reshape(*words.shape[:-1], -1, bits).astype(np.int64)
    return (places << np.arange(bits)).sum(-1)


def numbers(codes: np.ndarray, mode: str) -> np.ndarray:
    """The values of codes, without scales."""
    if mode == "affine":
        return codes.astype(np.float64)
    if mode == "mxfp8":
        return e4m3(codes)
    return np.where(codes & 8, -1, 1) * E2M1[codes & 7]


def scales_of(scales: mx.array, mode: str) -> np.ndarray:
    """The values of scales."""
    if mode == "affine":
        return wide(scales)
    if mode == "nvfp4":
        return e4m3(np.array(scales))
    return 2.0 ** (np.array(scales).astype(np.float64) - 127)


def dequantized(parts, group: int, bits: int, mode: str) -> np.ndarray:
    """The dequantised array of (w, scales) or (w, scales, biases)."""
    values = numbers(unpacked(np.array(parts[0]), bits), mode)
    grouped = values.reshape(*parts[1].shape, group) * scales_of(parts[1], mode)[..., None]
    if mode == "affine":
        grouped = grouped + wide(parts[2])[..., None]
    return grouped.reshape(values.shape)


def random(*shape, dtype="float32"):
    return mx.array(RNG.standard_normal(shape).astype(np.float32)).astype(getattr(mx, dtype))


def keywords(mode, group, bits):
    return {"group_size": group, "bits": bits, "mode": mode}


def close(got, want, tolerance=2e-5):
    want = np.asarray(want, np.float64)
    scale = np.abs(want).max() if want.size else 1.0
    assert np.shape(got) == want.shape
    np.testing.assert_allclose(wide(got), want, rtol=tolerance, atol=tolerance * max(scale, 1e-3))
