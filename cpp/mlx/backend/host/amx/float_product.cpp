// A float32 is the sum of three bfloat16, each the nearest to what is left: at most 2^-8 of the
// piece before. Of the nine products of two numbers' pieces, the six largest are added up. What is
// left out is at most about 2^-23 of the product, and has either sign: a rounding error of float32.
// The registers multiply bfloat16 sixteen times faster than vector instructions multiply float32.
//
// They take subnormal numbers for zeros, and infinity times a piece that is zero is not a number.
// Hence parts of the product with numbers that are not finite, or lines of none but tiny ones, are
// left to libraries.
#include "mlx/backend/host/amx/float_product.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "mlx/allocator.h"
#include "mlx/backend/host/amx/square_registers.h"
#include "mlx/backend/host/amx/squares.h"
#include "mlx/backend/host/amx/vectors.h"
#include "mlx/backend/host/blas.h"
#include "mlx/backend/host/parallel.h"
#include "mlx/backend/host/working_memory.h"
#include "mlx/errors.h"

namespace mlx::core::cpu {

#if defined(__x86_64__)

namespace {

// Of a step of a square: two tiles for each piece.
constexpr std::ptrdiff_t kStepShorts = kPairShorts * kPieces<float>;
// Rows and columns of a task at most, and columns of the left factor that are multiplied at a time.
constexpr int kPartRows = 512, kPartColumns = 256, kBlockSteps = 4;
// Below these, libraries are faster: packing takes a time of its own.
constexpr int kMinExtent = 192, kMinColumns = 512;
constexpr double kMinMultiplications = 1 << 28;

// The rows of the left factor, or the columns of the right one.
struct Lines {
  const float* data;
  int count, depth;
  int64_t step;     // between lines, if their elements follow each other; else between elements
  bool contiguous;  // whether their elements follow each other

  const float* at(int line, int element) const {
    return contiguous ? data + line * step + element : data + element * step + line;
  }
  int steps() const { return divided_up(depth, kStep); }
};

// Where a line and a step begin in packed lines: those of a square have all their steps together.
uint16_t* at_step(uint16_t* packed, int line, int step, int steps) {
  return packed + (int64_t{line} / kSquare * steps + step) * kStepShorts + line % kSquare * kStep;
}

size_t packed_bytes(int lines, int depth) {
  return whole_pages(sizeof(uint16_t) * kStepShorts * divided_up(depth, kStep) *
                     (in_squares(lines) / kSquare));
}

// ---- packing ----

MLX_AMX inline __m512i magnitude(__m512 x) {
  return _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7fffffff));
}

// The nearest bfloat16 in the upper half of each float, with zeros below.
MLX_AMX inline __m512 rounded_to_upper_half(__m512 x) {
  const __m512i bits = _mm512_add_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x8000));
  return _mm512_castsi512_ps(_mm512_and_si512(bits, _mm512_set1_epi32(-0x10000)));
}

// The largest magnitudes of 16 lines, as bits, which are ordered like the numbers.
class Magnitudes {
 public:
  explicit Magnitudes(bool contiguous) : contiguous_(contiguous) {}

  // Adds numbers of the line i, or of all lines.
  MLX_AMX void add(int i, __m512 x, __m512 y) {
    const __m512i most = _mm512_max_epu32(magnitude(x), magnitude(y));
    __m512i& largest = reinterpret_cast<__m512i&>(bits_[contiguous_ ? i : 0]);
    largest = _mm512_max_epu32(largest, most);
  }

  // Whether each line has zeros only, or its largest number is in the range that is multiplied
  // here: even the last piece of the smallest such number is far from subnormal, and the largest
  // does not become infinite when it is rounded.
  bool are_suited() const {
    const auto bits = [](int exponent) { return static_cast<uint32_t>(exponent + 127) << 23; };
    const auto suited = [&](uint32_t most) {
      return most == 0 || (most >= bits(-79) && most < bits(127));
    };
    if (!contiguous_) return std::all_of(bits_[0].begin(), bits_[0].end(), suited);
    return std::all_of(bits_.begin(), bits_.end(), [&](const auto& line) {
      return suited(*std::max_element(line.begin(), line.end()));
    });
  }

 private:
  bool contiguous_;
  alignas(64) std::array<std::array<uint32_t, 16>, kTileRows> bits_ = {};
};

// The three pieces of 16 lines of a step, before they are stored.
using StepPieces = __m512i[kPieces<float>][kTileRows];

// Splits the numbers x and y, and stores their pieces as the vector `at` of each piece: all of x,
// then all of y, or in pairs.
template <bool in_pairs>
MLX_AMX inline void split(__m512 x, __m512 y, int at, StepPieces& to) {
  for (int piece = 0; piece < kPieces<float>; ++piece) {
    const __m512 upper_x = rounded_to_upper_half(x), upper_y = rounded_to_upper_half(y);
    to[piece][at] =
        in_pairs ? pairs_of_upper_halves(upper_x, upper_y) : upper_halves(upper_x, upper_y);
    x = _mm512_sub_ps(x, upper_x);
    y = _mm512_sub_ps(y, upper_y);
  }
}

// Reads 32 elements of 16 lines: a vector has the elements of a line, or a pair of elements of each
// line.
template <bool contiguous>
MLX_AMX inline void read_step(const Lines& lines, int first, int element, StepPieces& to,
                              Magnitudes& largest) {
  for (int i = 0; i < kTileRows; ++i) {
    __m512 x, y;
    if constexpr (contiguous) {
      const int rest = first + i < lines.count ? lines.depth - element : 0;
      const float* from = lines.at(std::min(first + i, lines.count - 1), element);
      x = load_floats(from, first_lanes(rest));
      y = load_floats(from + kLanes16, first_lanes(rest - kLanes16));
    } else {
      const __mmask16 lanes = first_lanes(lines.count - first);
      const int pair = element + 2 * i;
      x = load_floats(lines.at(first, pair), pair < lines.depth ? lanes : __mmask16{0});
      y = load_floats(lines.at(first, pair + 1), pair + 1 < lines.depth ? lanes : __mmask16{0});
    }
    largest.add(i, x, y);
    split<!contiguous>(x, y, i, to);
  }
}

// Packs some steps of 16 lines. With `in_pairs`, the rows of a tile have a pair of elements of each
// line, as the right factor must have; otherwise they are the lines.
template <bool contiguous, bool in_pairs>
MLX_AMX void pack_lines(const Lines& lines, int first, int step, int steps, uint16_t* to,
                        Magnitudes& largest) {
  for (const int end = step + steps; step < end; ++step, to += kStepShorts) {
    StepPieces pieces;
    read_step<contiguous>(lines, first, step * static_cast<int>(kStep), pieces, largest);
    for (int piece = 0; piece < kPieces<float>; ++piece) {
      if constexpr (contiguous == in_pairs) transpose(pieces[piece]);
      uint16_t* tile = to + kPairShorts * piece;
      for (int i = 0; i < kTileRows; ++i) _mm512_store_si512(tile + i * kStep, pieces[piece][i]);
    }
  }
}

template <bool in_pairs>
void pack(const Lines& lines, int first, int step, int steps, uint16_t* to, Magnitudes& largest) {
  lines.contiguous ? pack_lines<true, in_pairs>(lines, first, step, steps, to, largest)
                   : pack_lines<false, in_pairs>(lines, first, step, steps, to, largest);
}

// ---- multiplication ----

// Adds the products of some steps to a square.
MLX_AMX void multiply_steps(const uint16_t* left, const uint16_t* right, int steps, float* sums) {
  load_sums(sums);
  for (int step = 0; step < steps; ++step, left += kStepShorts, right += kStepShorts) {
    load_left(left);
    load_right(right + 2 * kPairShorts);
    multiply_loaded();
    load_right(right + kPairShorts);
    multiply_loaded();
    load_left(left + kPairShorts);
    multiply_loaded();
    load_right(right);
    multiply_loaded();
    load_left(left + 2 * kPairShorts);
    multiply_loaded();
    load_left(left);
    multiply_loaded();
  }
  store_sums(sums);
}

// Stores alpha * sums + beta * what is there, for the upper left corner of a square.
MLX_AMX void store(const float* sums, const Product& p, float* to, int rows, int columns) {
  const __m512 alpha = _mm512_set1_ps(static_cast<float>(p.alpha));
  const __m512 beta = _mm512_set1_ps(static_cast<float>(p.beta));
  for (int row = 0; row < rows; ++row, to += p.ldc) {
    for (int half = 0; half < 2; ++half) {
      const __mmask16 lanes = first_lanes(columns - half * kLanes16);
      __m512 x = _mm512_mul_ps(_mm512_load_ps(sums + offset_in_square(row, half)), alpha);
      if (p.beta != 0) x = _mm512_fmadd_ps(load_floats(to + half * kLanes16, lanes), beta, x);
      store_floats(to + half * kLanes16, x, lanes);
    }
  }
}

// ---- the whole product ----

// Memory from the allocator of arrays, which keeps it for the next product.
class Memory {
 public:
  explicit Memory(size_t bytes) : buffer_(allocator::malloc(bytes)) {}
  ~Memory() { allocator::free(buffer_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  char* data() { return static_cast<char*>(buffer_.raw_ptr()); }

 private:
  allocator::Buffer buffer_;
};

// The product of some rows of the left factor, which are packed as a whole. The right factor is
// packed block by block for each part.
class RowsOfProduct {
 public:
  RowsOfProduct(const Product& p, const float* a, const float* b, float* c, char* packed)
      : p_(p),
        c_(c),
        left_{a, p.m, p.k, p.lda, !p.ta},
        right_{b, p.n, p.k, p.ldb, p.tb},
        division_(p.m, p.n, kPartRows, kPartColumns),
        packed_(reinterpret_cast<uint16_t*>(packed)),
        suited_rows_(in_squares(p.m) / kTileRows) {}

  void run(const ThreadsWithScratch& threads) {
    threads.for_each(suited_rows_.size(), [&](size_t i, char*) {
      const int first = static_cast<int>(i) * kTileRows;
      Magnitudes largest(left_.contiguous);
      pack<false>(left_, first, 0, left_.steps(), at_step(packed_, first, 0, left_.steps()),
                  largest);
      suited_rows_[i] = largest.are_suited();
    });
    threads.for_each(division_.count(),
                     [&](size_t i, char* scratch) { multiply(division_.part(i), scratch); });
  }

  // For each thread: the packed columns of a block, and the sums of a part.
  static constexpr size_t kColumnsBytes =
      sizeof(uint16_t) * kStepShorts * kBlockSteps * (kPartColumns / kSquare);
  static constexpr size_t kScratchBytes = kColumnsBytes + sizeof(float) * kPartRows * kPartColumns;

 private:
  void multiply(const Part& part, char* scratch) const {
    auto* columns = reinterpret_cast<uint16_t*>(scratch);
    auto* sums = reinterpret_cast<float*>(scratch + kColumnsBytes);
    if (add_products(part, columns, sums)) {
      store_part(part, sums);
    } else {
      Product one = p_;
      one.m = part.rows;
      one.n = part.columns;
      gemm_by_library(one, left_.at(part.row, 0), right_.at(part.column, 0),
                      at(part.row, part.column));
    }
  }

  // Returns false if the numbers are not suited.
  bool add_products(const Part& part, uint16_t* columns, float* sums) const {
    for (int row = 0; row < part.rows; row += kTileRows) {
      if (!suited_rows_[(part.row + row) / kTileRows]) return false;
    }
    const AmxTiles tiles;
    const int across = in_squares(part.columns);
    std::fill_n(sums, int64_t{in_squares(part.rows)} * across, 0.0f);
    std::vector<Magnitudes> largest(across / kTileRows, Magnitudes(right_.contiguous));
    for (int step = 0; step < left_.steps(); step += kBlockSteps) {
      const int steps = std::min(kBlockSteps, left_.steps() - step);
      for (int column = 0; column < across; column += kTileRows) {
        pack<true>(right_, part.column + column, step, steps, at_step(columns, column, 0, steps),
                   largest[column / kTileRows]);
      }
      for (int row = 0; row < part.rows; row += kSquare) {
        for (int column = 0; column < across; column += kSquare) {
          multiply_steps(at_step(packed_, part.row + row, step, left_.steps()),
                         at_step(columns, column, 0, steps), steps,
                         sums + int64_t{row} * across + int64_t{column} * kSquare);
        }
      }
    }
    return std::all_of(largest.begin(), largest.end(),
                       [](const Magnitudes& of_lines) { return of_lines.are_suited(); });
  }

  void store_part(const Part& part, const float* sums) const {
    const int across = in_squares(part.columns);
    for (int row = 0; row < part.rows; row += kSquare) {
      for (int column = 0; column < part.columns; column += kSquare) {
        store(sums + int64_t{row} * across + int64_t{column} * kSquare, p_,
              at(part.row + row, part.column + column), std::min(part.rows - row, kSquare),
              std::min(part.columns - column, kSquare));
      }
    }
  }

  float* at(int row, int column) const { return c_ + int64_t{row} * p_.ldc + column; }

  const Product& p_;
  float* c_;
  Lines left_, right_;
  Division division_;
  uint16_t* packed_;
  std::vector<char> suited_rows_;  // in each tile; not bits, as threads write them
};

}  // namespace

bool is_for_tiles(const Product& p) {
  return std::min(p.m, p.k) >= kMinExtent && p.n >= kMinColumns &&
         p.multiplications() >= kMinMultiplications && has_amx();
}

void multiply_on_tiles(const Product& p, const float* a, const float* b, float* c, bool alone) {
  const size_t threads = alone ? 1 : parallel_width();
  const size_t packed = packed_bytes(std::min(p.m, kPartRows), p.k);
  Memory memory(packed + threads * whole_pages(RowsOfProduct::kScratchBytes));
  const ThreadsWithScratch with_scratch(threads, RowsOfProduct::kScratchBytes,
                                        memory.data() + packed);
  for (int row = 0; row < p.m; row += kPartRows) {
    Product some = p;
    some.m = std::min(kPartRows, p.m - row);
    RowsOfProduct(some, a + int64_t{row} * (p.ta ? 1 : p.lda), b, c + int64_t{row} * p.ldc,
                  memory.data())
        .run(with_scratch);
  }
}

#else

bool is_for_tiles(const Product&) { return false; }

void multiply_on_tiles(const Product&, const float*, const float*, float*, bool) {
  internal_error("multiply_on_tiles", "a processor without matrix registers");
}

#endif

}  // namespace mlx::core::cpu
