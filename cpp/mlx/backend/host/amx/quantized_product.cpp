// The products are computed on the matrix registers of x86 (AMX), which multiply bfloat16 and add
// up float32. With the scale s and the bias b of a group, and c in the middle of the integers'
// range,
//
//   sum x (s q + b) = s sum x (q - c) + (b + c s) sum x
//
// q - c has at most 8 bits, so it is a bfloat16. x is the sum of up to three bfloat16, each with
// the next 8 bits of its fraction. Hence all products are exact, and the sums are as accurate as
// those of float32 numbers. Only bfloat16 vectors are multiplied by dequantised bfloat16 numbers.
#include "mlx/backend/host/amx/quantized_product.h"

#include <algorithm>

#include "mlx/backend/host/amx/quantized_tiles.h"
#include "mlx/backend/host/amx/squares.h"
#include "mlx/backend/host/parallel.h"
#include "mlx/backend/host/working_memory.h"
#include "mlx/errors.h"

namespace mlx::core::cpu {

#if defined(__x86_64__)

namespace {

// Rows of x that are multiplied at a time, and rows of w in a part at most: packed, a block of
// their columns fits the second cache.
constexpr int kMaxRows = 512, kMaxColumns = 256;

// What all threads compute of a product.
template <typename T>
struct Job {
  const T* x;
  RowsAt x_rows;
  QuantizedMatrix w;
  T* out;
  RowsAt out_rows;
  PackedRows packed;
  Division division;

  // A square of the rows of x, and the block that starts at `column`.
  void pack(int square, int column) const {
    const T* from[kSquare];
    for (int i = 0; i < kSquare; ++i) {
      const int row = square * kSquare + i;
      from[i] = row < division.rows ? x + x_rows[row] * w.columns : nullptr;
    }
    pack_rows<T>(from, square * kSquare, column, packed);
  }

  void multiply(const Part& part, char* scratch) const {
    const AmxTiles tiles;
    const UnpackedRows unpacked(scratch, part.columns);
    auto* sums = reinterpret_cast<float*>(scratch + UnpackedRows::bytes(part.columns));
    const int across = in_squares(part.columns);
    auto at = [&](int row, int column) {
      return sums + int64_t{row} * across + int64_t{column} * kSquare;
    };
    std::fill_n(sums, in_squares(part.rows) * across, 0.0f);
    for (int block = 0; block < w.columns; block += kBlock) {
      unpack_rows<T>(w, part.column, part.columns, block, unpacked);
      for (int row = 0; row < part.rows; row += kSquare) {
        for (int column = 0; column < part.columns; column += kSquare) {
          multiply_square(packed, part.row + row, unpacked, column, block, at(row, column));
        }
      }
    }
    for (int row = 0; row < part.rows; row += kSquare) {
      for (int column = 0; column < part.columns; column += kSquare) {
        store(part, row, column, at(row, column));
      }
    }
  }

  void store(const Part& part, int row, int column, const float* sums) const {
    T* to[kSquare];
    for (int i = 0; i < kSquare; ++i) {
      to[i] = row + i < part.rows
                  ? out + out_rows[part.row + row + i] * w.rows + part.column + column
                  : nullptr;
    }
    store_square<T>(sums, to, std::min(part.columns - column, kSquare));
  }
};

int at_once(size_t rows) { return static_cast<int>(std::min<size_t>(rows, kMaxRows)); }

// A part's unpacked rows of w, and its sums.
size_t scratch_bytes(size_t rows, int columns) {
  columns = std::min(in_squares(columns), kMaxColumns);
  return UnpackedRows::bytes(columns) + sizeof(float) * in_squares(at_once(rows)) * columns;
}

template <typename T>
size_t packed_bytes(size_t rows, const QuantizedMatrix& w) {
  return PackedRows::bytes(at_once(rows), w.columns, w.group_size, kPieces<T>);
}

// Calls f with a value of the type.
template <typename F>
auto with_type(Dtype dtype, F&& f) {
  switch (dtype.val()) {
    case Dtype::Val::float32:
      return f(float{});
    case Dtype::Val::float16:
      return f(float16_t{});
    case Dtype::Val::bfloat16:
      return f(bfloat16_t{});
    default:
      internal_error("QuantizedProduct", "a type that is not supported");
  }
}

// The product with at most kMaxRows rows of x.
template <typename T>
void run(const Job<T>& job, const ThreadsWithScratch& threads) {
  const size_t squares = static_cast<size_t>(job.packed.rows / kSquare);
  parallel_for(squares * divided_up(job.w.columns, kBlock), 1, [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      job.pack(static_cast<int>(i % squares), static_cast<int>(i / squares) * kBlock);
    }
  });
  threads.for_each(job.division.count(),
                   [&](size_t i, char* scratch) { job.multiply(job.division.part(i), scratch); });
}

}  // namespace

bool QuantizedProduct::is_supported(const Quantization& q, Dtype dtype) {
  return q.affine() && (dtype == float32 || dtype == float16 || dtype == bfloat16) && has_amx();
}

QuantizedProduct::QuantizedProduct(Dtype dtype, size_t rows, const QuantizedMatrix& w, Stream s)
    : dtype_(dtype),
      packed_(working_memory(
          with_type(dtype, [&](auto zero) { return packed_bytes<decltype(zero)>(rows, w); }), s)),
      threads_(parallel_width(), scratch_bytes(rows, w.rows), s) {}

void QuantizedProduct::multiply(const void* x, RowsAt x_rows, int rows, const QuantizedMatrix& w,
                                void* out, RowsAt out_rows) const {
  with_type(dtype_, [&](auto zero) {
    using T = decltype(zero);
    for (int first = 0; first < rows; first += kMaxRows) {
      const int count = at_once(rows - first);
      run(Job<T>{static_cast<const T*>(x), x_rows.from(first), w, static_cast<T*>(out),
                 out_rows.from(first),
                 PackedRows(packed_, count, w.columns, w.group_size, kPieces<T>),
                 Division(count, w.rows, kMaxRows, kMaxColumns)},
          threads_);
    }
  });
}

#else

bool QuantizedProduct::is_supported(const Quantization&, Dtype) { return false; }

QuantizedProduct::QuantizedProduct(Dtype dtype, size_t, const QuantizedMatrix&, Stream s)
    : dtype_(dtype), packed_(nullptr), threads_(0, 0, s) {}

void QuantizedProduct::multiply(const void*, RowsAt, int, const QuantizedMatrix&, void*,
                                RowsAt) const {
  internal_error("QuantizedProduct", "a processor that does not support it");
}

#endif

}  // namespace mlx::core::cpu
