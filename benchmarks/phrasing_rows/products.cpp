// Products of matrices and vectors.
#include <memory>

#include "threads.h"
#include "vectors.h"

namespace {

// A block of results stays in registers: 6 x 2 of 16, or 12 x 2 of 32.
constexpr int kRows = kBytes == 64 ? 12 : 6, kColumns = 2 * kLanes;
constexpr long kDepth = 256, kHeight = 96;

// c += a b for Rows x kColumns results; both panels lie as they are read.
template <int Rows>
void multiply_block(const float* a, const float* b, float* c, long size, long depth, bool first) {
  Floats sums[Rows][2];
  for (int i = 0; i < Rows; ++i)
    for (int j = 0; j < 2; ++j) sums[i][j] = first ? Floats{} : load(c + i * size + j * kLanes);
  for (long k = 0; k < depth; ++k) {
    const Floats b0 = load(b + k * kColumns), b1 = load(b + k * kColumns + kLanes);
#pragma GCC unroll 12
    for (int i = 0; i < Rows; ++i) {
      const Floats value = splat(a[k * kRows + i]);
      sums[i][0] += value * b0;
      sums[i][1] += value * b1;
    }
  }
  for (int i = 0; i < Rows; ++i)
    for (int j = 0; j < 2; ++j) store(c + i * size + j * kLanes, sums[i][j]);
}

template <int Rows = kRows>
void multiply_rows(long rows, const float* a, const float* b, float* c, long size, long depth,
                   bool first) {
  if (rows >= Rows) return multiply_block<Rows>(a, b, c, size, depth, first);
  if constexpr (Rows > 1) multiply_rows<Rows - 1>(rows, a, b, c, size, depth, first);
}

// Rows of `a` in panels of kRows, each panel column by column.
void pack_rows(const float* a, float* packed, long rows, long size, long depth) {
  for (long row = 0; row < rows; row += kRows) {
    for (long i = 0; i < std::min<long>(kRows, rows - row); ++i)
      for (long k = 0; k < depth; ++k)
        packed[row * depth + k * kRows + i] = a[(row + i) * size + k];
  }
}

}  // namespace

// Square matrices; `size` is a multiple of kColumns.
extern "C" void matmul(const float* a, const float* b, float* c, long size) {
  static thread_local std::unique_ptr<float[]> packed;
  if (!packed) packed.reset(new float[kDepth * 8192]);
  float* panels = packed.get();
  for (long k = 0; k < size; k += kDepth) {
    const long depth = std::min(kDepth, size - k);
    Threads::all().share_runs(size, 8 * kColumns, [=](long first, long last) {
      for (long column = first; column < last; column += kColumns)
        for (long i = 0; i < depth; ++i)
          std::memcpy(panels + column * depth + i * kColumns, b + (k + i) * size + column,
                      kColumns * sizeof(float));
    });
    Threads::all().share_runs(size, kHeight, [=](long first, long last) {
      alignas(64) float own[kHeight * kDepth];
      pack_rows(a + first * size + k, own, last - first, size, depth);
      for (long column = 0; column < size; column += kColumns)
        for (long row = first; row < last; row += kRows)
          multiply_rows(last - row, own + (row - first) * depth, panels + column * depth,
                        c + row * size + column, size, depth, k == 0);
    });
  }
}
