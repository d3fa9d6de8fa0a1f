// Weights of the pixels around a point, along one axis, for grid_sample's kernels.
#pragma once

#include <metal_stdlib>

constant int mode [[function_constant(0)]];     // 0 bilinear, 1 nearest, 2 bicubic
constant int padding [[function_constant(1)]];  // 0 zeros, 1 border, 2 reflection
constant bool align_corners [[function_constant(2)]];
// Orders of the derivative with respect to the grid's coordinates.
constant int column_order [[function_constant(3)]];
constant int row_order [[function_constant(4)]];

constant bool bilinear = mode == 0;
constant bool nearest = mode == 1;
constant bool bicubic = mode == 2;
// The number of pixels with weights along an axis.
constant int reach = nearest ? 1 : bilinear ? 2 : 4;

// A position on an axis in pixels, and its derivative with respect to the grid's coordinate.
struct Place {
  float at;
  float slope;
};

METAL_FUNC Place to_pixels(float coordinate, int size) {
  if (align_corners) return {(coordinate + 1) / 2 * (size - 1), (size - 1) / 2.0f};
  return {((coordinate + 1) * size - 1) / 2, size / 2.0f};
}

// Clamps to the picture; not-a-number becomes 0.
METAL_FUNC Place clip(Place p, int size) {
  if (!(p.at > 0)) return {0, 0};
  const float last = size - 1;
  if (p.at >= last) return {last, 0};
  return p;
}

// Reflects at the outermost pixels: at their centres or at their outer edges.
METAL_FUNC Place reflect(Place p, int size) {
  const float low = align_corners ? 0.0f : -0.5f;
  const float span = align_corners ? size - 1 : size;
  if (span <= 0) return {0, 0};
  const float distance = metal::abs(p.at - low);
  const float rest = metal::fmod(distance, span);
  const bool turned = metal::fmod(metal::floor(distance / span), 2.0f) != 0;
  const bool before = p.at < low;
  return {low + (turned ? span - rest : rest), turned == before ? p.slope : -p.slope};
}

METAL_FUNC Place locate(float coordinate, int size) {
  Place p = to_pixels(coordinate, size);
  if (!bicubic && padding == 2) p = reflect(p, size);
  if (!bicubic && padding != 0) return clip(p, size);
  // Far outside nothing changes any more, except that reflections repeat.
  const float low = padding == 2 ? -0x1p24f : -4.0f;
  const float high = padding == 2 ? 0x1p24f : size + 4.0f;
  p.at = p.at > low ? metal::min(p.at, high) : low;
  return p;
}

// The pixel that is used for pixel i, or -1 for none.
METAL_FUNC int inside(int i, int size) {
  if (bicubic && padding == 1) return metal::clamp(i, 0, size - 1);
  if (bicubic && padding == 2) return int(clip(reflect({float(i), 1}, size), size).at);
  return i >= 0 && i < size ? i : -1;
}

// The weight of pixel k, 0 <= k < reach, at fraction t between the middle two, or its derivative.
METAL_FUNC float weight(int k, float t, int order) {
  if (nearest) return order == 0 ? 1 : 0;
  if (bilinear) {
    if (order == 0) return k == 0 ? 1 - t : t;
    return order == 1 ? (k == 0 ? -1 : 1) : 0;
  }
  // Keys' cubic convolution with a = -3/4: a polynomial for each pixel.
  const float cubic = k == 0 ? -0.75f : k == 1 ? 1.25f : k == 2 ? -1.25f : 0.75f;
  const float square = k == 0 ? 1.5f : k == 1 ? -2.25f : k == 2 ? 1.5f : -0.75f;
  const float linear = k == 0 ? -0.75f : k == 2 ? 0.75f : 0.0f;
  const float constant_term = k == 1 ? 1.0f : 0.0f;
  if (order == 0) return ((cubic * t + square) * t + linear) * t + constant_term;
  if (order == 1) return (3 * cubic * t + 2 * square) * t + linear;
  if (order == 2) return 6 * cubic * t + 2 * square;
  return order == 3 ? 6 * cubic : 0;
}

// The pixels with weights along an axis.
struct Pixels {
  int index[4];
  float weights[4];
};

METAL_FUNC Pixels pixels_around(float coordinate, int size, int order) {
  const Place p = locate(coordinate, size);
  const float base = nearest ? metal::rint(p.at) : metal::floor(p.at);
  float scale = 1;
  for (int i = 0; i < order; ++i) scale *= p.slope;
  Pixels pixels;
#pragma clang loop unroll(full)
  for (int k = 0; k < reach; ++k) {
    pixels.index[k] = inside(int(base) + k - (bicubic ? 1 : 0), size);
    pixels.weights[k] = scale * weight(k, p.at - base, order);
  }
  return pixels;
}
