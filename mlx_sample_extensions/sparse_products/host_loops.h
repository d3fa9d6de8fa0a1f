// The loops behind host_kernels.h, written once: a file that includes this defines HOST_KERNELS,
// the name of its set, and VECTOR_FLOATS, the width that its processor has. Everything is local to
// that file: code for one kind of processor must not be taken for another's.
#include <cstring>

#include "sparse_products/host_kernels.h"

namespace mlx_sample {

namespace {

constexpr int kWidth = VECTOR_FLOATS;
constexpr int kPanel = 2 * kWidth;  // columns of a tile
constexpr int kTileRows = 6;        // 12 sums, 2 factors and 1 broadcast fit 16 registers
constexpr int kDepth = 256;         // a panel of so many rows stays in the L1 cache
constexpr int kOuterRows = 16 * kTileRows;
constexpr int kFewEntries = 3;  // so few do not pay for a panel

typedef float Vec __attribute__((vector_size(4 * VECTOR_FLOATS), aligned(4), may_alias));
typedef float Quad __attribute__((vector_size(16), aligned(4), may_alias));

inline Vec load(const float* p) { return *reinterpret_cast<const Vec*>(p); }
inline void store(float* p, Vec v) { *reinterpret_cast<Vec*>(p) = v; }

// ---- 16-bit floats ----

inline float widen_bfloat(uint16_t bits) {
  uint32_t word = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}

inline uint16_t round_bfloat(float value) {
  uint32_t word;
  std::memcpy(&word, &value, sizeof(value));
  bool nan = (word & 0x7fffffffu) > 0x7f800000u;
  return nan ? uint16_t((word >> 16) | 0x40u)
             : uint16_t((word + 0x7fffu + ((word >> 16) & 1)) >> 16);
}

void widen(const void* from, float* to, int count, Element type) {
  if (type == Element::Float32) {
    std::memcpy(to, from, size_t(count) * sizeof(float));
  } else if (type == Element::Float16) {
    for (int i = 0; i < count; ++i) to[i] = static_cast<const _Float16*>(from)[i];
  } else {
    for (int i = 0; i < count; ++i) to[i] = widen_bfloat(static_cast<const uint16_t*>(from)[i]);
  }
}

void round_all(const float* from, void* to, size_t count, Element type) {
  if (type == Element::Float16) {
    for (size_t i = 0; i < count; ++i) static_cast<_Float16*>(to)[i] = _Float16(from[i]);
  } else {
    for (size_t i = 0; i < count; ++i) static_cast<uint16_t*>(to)[i] = round_bfloat(from[i]);
  }
}

inline const void* skip(const void* p, int64_t elements, Element type) {
  return static_cast<const char*>(p) + elements * (type == Element::Float32 ? 4 : 2);
}

inline int smaller(int x, int y) { return x < y ? x : y; }

// ---- matrix times vectors ----

// o[r][j] += sum over c of x[r][c] * panel[c][j] for R rows and j < columns <= N vectors.
template <int R, int N>
inline void multiply_tile(const void* const* x, int64_t x_offset, float* const* o, int64_t o_offset,
                          const float* panel, int64_t panel_stride, int depth, int columns) {
  const float* row[R];
  Vec sum[R][N] = {};
  for (int r = 0; r < R; ++r) row[r] = static_cast<const float*>(x[r]) + x_offset;
  for (int c = 0; c < depth; ++c, panel += panel_stride) {
    Vec w[N];
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) w[n] = load(panel + n * kWidth);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
      for (int n = 0; n < N; ++n) sum[r][n] += row[r][c] * w[n];
    }
  }
  // One row after the other: two may be the same.
  for (int r = 0; r < R; ++r) {
    float* out = o[r] + o_offset;
    if (columns == N * kWidth) {
      for (int n = 0; n < N; ++n) store(out + n * kWidth, load(out + n * kWidth) + sum[r][n]);
    } else {
      float part[N * kWidth];
      for (int n = 0; n < N; ++n) store(part + n * kWidth, sum[r][n]);
      for (int j = 0; j < columns; ++j) out[j] += part[j];
    }
  }
}

template <int N>
void multiply_rows(int entries, const void* const* x, int64_t x_offset, float* const* o,
                   int64_t o_offset, const float* panel, int64_t stride, int depth, int columns) {
  int r = 0;
  for (; r + kTileRows <= entries; r += kTileRows) {
    multiply_tile<kTileRows, N>(x + r, x_offset, o + r, o_offset, panel, stride, depth, columns);
  }
  auto rest = [&]<int R>() {
    multiply_tile<R, N>(x + r, x_offset, o + r, o_offset, panel, stride, depth, columns);
  };
  switch (entries - r) {
    case 5:
      return rest.template operator()<5>();
    case 4:
      return rest.template operator()<4>();
    case 3:
      return rest.template operator()<3>();
    case 2:
      return rest.template operator()<2>();
    case 1:
      return rest.template operator()<1>();
  }
}

// panel[c][j] = w[j][c] in blocks of 4 x 4; columns beyond the last become zero. All rows of w are
// read side by side: so many streams are prefetched best. What comes next is asked for: on the way
// the lines of a matrix are far apart.
void pack_rows(const float* w, int64_t stride, int columns, int depth, float* panel, int width) {
  constexpr int kAhead = 64;
  int whole = columns & ~3;
  int c = 0;
  for (; c + 4 <= depth; c += 4) {
    for (int j = 0; j < whole; j += 4) {
      const float* from = w + j * stride + c;
      Quad r[4];
      for (int i = 0; i < 4; ++i) r[i] = *reinterpret_cast<const Quad*>(from + i * stride);
      if (c % 16 == 0 && c + kAhead < depth) {
        for (int i = 0; i < 4; ++i) __builtin_prefetch(from + i * stride + kAhead);
      }
      Quad a = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5);
      Quad b = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5);
      Quad d = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7);
      Quad e = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
      float* to = panel + c * width + j;
      *reinterpret_cast<Quad*>(to) = __builtin_shufflevector(a, b, 0, 1, 4, 5);
      *reinterpret_cast<Quad*>(to + width) = __builtin_shufflevector(a, b, 2, 3, 6, 7);
      *reinterpret_cast<Quad*>(to + 2 * width) = __builtin_shufflevector(d, e, 0, 1, 4, 5);
      *reinterpret_cast<Quad*>(to + 3 * width) = __builtin_shufflevector(d, e, 2, 3, 6, 7);
    }
    for (int i = 0; i < 4; ++i) {
      for (int k = whole; k < width; ++k) {
        panel[(c + i) * width + k] = k < columns ? w[k * stride + c + i] : 0;
      }
    }
  }
  for (; c < depth; ++c) {
    for (int k = 0; k < width; ++k) panel[c * width + k] = k < columns ? w[k * stride + c] : 0;
  }
}

// The same for w by columns.
void pack_columns(const float* w, int64_t stride, int columns, int depth, float* panel, int width) {
  for (int c = 0; c < depth; ++c) {
    for (int j = 0; j < width; ++j) panel[c * width + j] = j < columns ? w[c * stride + j] : 0;
  }
}

// Columns [j, j + columns) of the part of w at depth [c, c + depth) as a panel.
void pack(const MultiplyBlock& block, int j, int columns, int c, int depth, float* panel,
          int width) {
  const void* from =
      skip(block.w, block.transposed ? c * block.w_stride + j : j * block.w_stride + c, block.type);
  auto lay = block.transposed ? pack_columns : pack_rows;
  if (block.type == Element::Float32) {
    return lay(static_cast<const float*>(from), block.w_stride, columns, depth, panel, width);
  }
  float wide[kDepth * kPanel];
  int lines = block.transposed ? depth : columns;
  int length = block.transposed ? columns : depth;
  for (int i = 0; i < lines; ++i) {
    widen(skip(from, i * block.w_stride, block.type), wide + i * length, length, block.type);
  }
  lay(wide, length, columns, depth, panel, width);
}

// Entries of a block at depth [c, c + depth), as float32: where they are, or widened.
struct WideRows {
  const void* const* rows;
  int64_t offset;
};

WideRows widen_rows(const MultiplyBlock& block, int c, int depth, float* space, const void** rows) {
  if (block.type == Element::Float32) {
    return {block.x, block.x_offset + c};
  }
  for (int r = 0; r < block.entries; ++r) {
    rows[r] = space + r * depth;
    widen(skip(block.x[r], block.x_offset + c, block.type), space + r * depth, depth, block.type);
  }
  return {rows, 0};
}

// o[j] += w[j] . x for few vectors and w by rows, without a panel.
template <int R>
void multiply_few(const MultiplyBlock& block) {
  const float* w = static_cast<const float*>(block.w);
  const float* x[R];
  for (int r = 0; r < R; ++r) x[r] = static_cast<const float*>(block.x[r]) + block.x_offset;
  auto rows = [&]<int J>(int j) {
    Vec sum[J][R] = {};
    int c = 0;
    for (; c + kWidth <= block.depth; c += kWidth) {
#pragma GCC unroll 4
      for (int i = 0; i < J; ++i) {
        Vec factor = load(w + (j + i) * block.w_stride + c);
        for (int r = 0; r < R; ++r) sum[i][r] += factor * load(x[r] + c);
      }
    }
    for (int i = 0; i < J; ++i) {
      for (int r = 0; r < R; ++r) {
        float total = 0;
        for (int k = 0; k < kWidth; ++k) total += sum[i][r][k];
        for (int k = c; k < block.depth; ++k) total += w[(j + i) * block.w_stride + k] * x[r][k];
        block.o[r][block.o_offset + j + i] += total;
      }
    }
  };
  int j = 0;
  for (; j + 4 <= block.columns; j += 4) rows.template operator()<4>(j);
  for (; j < block.columns; ++j) rows.template operator()<1>(j);
}

void multiply(const MultiplyBlock& block) {
  bool few = block.entries <= kFewEntries && block.type == Element::Float32;
  if (few && !block.transposed) {
    return block.entries == 1   ? multiply_few<1>(block)
           : block.entries == 2 ? multiply_few<2>(block)
                                : multiply_few<3>(block);
  }
  alignas(64) float panel[kDepth * kPanel];
  float space[kMultiplyEntries * kDepth];
  const void* rows[kMultiplyEntries];
  for (int c = 0; c < block.depth; c += kDepth) {
    int depth = smaller(kDepth, block.depth - c);
    auto x = widen_rows(block, c, depth, space, rows);
    for (int j = 0; j < block.columns; j += kPanel) {
      int columns = smaller(kPanel, block.columns - j);
      int width = columns > kWidth ? kPanel : kWidth;
      const float* w = panel;
      int64_t stride = width;
      if (few && columns == width) {
        w = static_cast<const float*>(block.w) + c * block.w_stride + j;
        stride = block.w_stride;
      } else {
        pack(block, j, columns, c, depth, panel, width);
      }
      auto run = width == kPanel ? multiply_rows<2> : multiply_rows<1>;
      run(block.entries, x.rows, x.offset, block.o, block.o_offset + j, w, stride, depth, columns);
    }
  }
}

// ---- outer products ----

// o[i][j] (+)= sum over r of a[r][i] * b[r][j] for R rows and N vectors.
template <int R, int N>
inline void outer_tile(const float* a, int a_stride, const float* b, int entries, float* o,
                       int64_t stride, int columns, bool first) {
  Vec sum[R][N] = {};
  for (int t = 0; t < entries; ++t, a += a_stride, b += N * kWidth) {
    Vec w[N];
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) w[n] = load(b + n * kWidth);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
      for (int n = 0; n < N; ++n) sum[r][n] += a[r] * w[n];
    }
  }
  for (int r = 0; r < R; ++r, o += stride) {
    if (columns == N * kWidth) {
      for (int n = 0; n < N; ++n) {
        float* out = o + n * kWidth;
        store(out, first ? sum[r][n] : load(out) + sum[r][n]);
      }
    } else {
      float part[N * kWidth];
      for (int n = 0; n < N; ++n) store(part + n * kWidth, sum[r][n]);
      for (int j = 0; j < columns; ++j) o[j] = first ? part[j] : o[j] + part[j];
    }
  }
}

template <int N>
void outer_rows(int rows, const float* a, int a_stride, const float* b, int entries, float* o,
                int64_t stride, int columns, bool first) {
  int i = 0;
  auto tile = [&]<int R>() {
    outer_tile<R, N>(a + i, a_stride, b, entries, o + i * stride, stride, columns, first);
  };
  for (; i + kTileRows <= rows; i += kTileRows) {
    tile.template operator()<kTileRows>();
  }
  switch (rows - i) {
    case 5:
      return tile.template operator()<5>();
    case 4:
      return tile.template operator()<4>();
    case 3:
      return tile.template operator()<3>();
    case 2:
      return tile.template operator()<2>();
    case 1:
      return tile.template operator()<1>();
  }
}

// to[t][k] = rows[t][first + k] for k < count, with zeros up to `width`.
void gather(const void* const* rows, int entries, int64_t first, int count, float* to, int width,
            Element type) {
  for (int t = 0; t < entries; ++t, to += width) {
    const void* from = skip(rows[t], first, type);
    if (type != Element::Float32) {
      widen(from, to, count, type);
    } else {
      auto* values = static_cast<const float*>(from);
      int k = 0;
      for (; k + kWidth <= count; k += kWidth) store(to + k, load(values + k));
      for (; k < count; ++k) to[k] = values[k];
    }
    for (int k = count; k < width; ++k) to[k] = 0;
  }
}

void outer(const OuterBlock& block) {
  alignas(64) float a[kOuterEntries * kOuterRows];
  alignas(64) float b[kOuterEntries * kPanel];
  for (int i = 0; i < block.rows; i += kOuterRows) {
    int rows = smaller(kOuterRows, block.rows - i);
    gather(block.a, block.entries, block.a_offset + i, rows, a, rows, block.type);
    for (int j = 0; j < block.columns; j += kPanel) {
      int columns = smaller(kPanel, block.columns - j);
      int width = columns > kWidth ? kPanel : kWidth;
      gather(block.b, block.entries, block.b_offset + j, columns, b, width, block.type);
      auto run = width == kPanel ? outer_rows<2> : outer_rows<1>;
      run(rows, a, rows, b, block.entries, block.o + i * block.o_stride + j, block.o_stride,
          columns, block.first);
    }
  }
}

}  // namespace

namespace host {
extern const HostKernels HOST_KERNELS;
const HostKernels HOST_KERNELS{multiply, outer, round_all};
}  // namespace host

}  // namespace mlx_sample
