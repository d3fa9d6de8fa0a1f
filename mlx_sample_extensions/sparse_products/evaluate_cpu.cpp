// Sums of indexed products on the host. Entries are ordered so that those that share a matrix are
// neighbours, and each task has places of the result to itself: no locks, no intermediate of the
// size of the products, and the same sums in the same order however many threads there are.
#include <algorithm>
#include <thread>

#include "evaluation.h"
#include "mlx/backend/cpu/encoder.h"
#include "mlx/backend/cpu/parallel.h"
#include "sparse_products/grouping.h"
#include "sparse_products/host_kernels.h"
#include "sparse_products/sparse_products.h"

namespace mlx_sample {

namespace {

constexpr int kPieceColumns = 32;      // of matrices times vectors, at least
constexpr int kPieceRows = 12;         // of outer products, at least
constexpr int64_t kPieceSize = 65536;  // of outer products, at most: they stay in the L2 cache
constexpr double kLeastWork = 100000;  // products that are worth a task

Element element_of(mx::Dtype dtype) {
  return dtype == mx::float32   ? Element::Float32
         : dtype == mx::float16 ? Element::Float16
                                : Element::BFloat16;
}

// Memory that counts as that of arrays does.
class Scratch {
 public:
  explicit Scratch(size_t bytes) : buffer_(mx::allocator::malloc(bytes)) {}
  ~Scratch() { mx::allocator::free(buffer_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  template <typename T>
  T* as() {
    return static_cast<T*>(buffer_.raw_ptr());
  }

 private:
  mx::allocator::Buffer buffer_;
};

// Asks for the begin of a row: those of a block lie anywhere, and the rest of each follows.
const char* soon(const char* row, int64_t bytes) {
  constexpr int64_t kLine = 64;
  constexpr int64_t kLines = 8;
  for (int64_t at = 0; at < std::min(bytes, kLines * kLine); at += kLine) {
    __builtin_prefetch(row + at);
  }
  return row;
}

// What tasks know: sizes, where things are, and which rows the entries use.
struct Call {
  int32_t entries, n_o;
  int groups, m, c;  // sizes of a matrix, whichever way it lies
  bool transposed;
  Element type;
  const char* a;
  const char* b;
  char* out;
  RowReader a_row, b_row, o_row;

  int64_t bytes(int64_t elements) const { return elements * (type == Element::Float32 ? 4 : 2); }
  double work() const { return (double(entries) * c + n_o) * groups * m; }
  // So many keep the cores evenly busy. How work is cut does not change any sum.
  int64_t tasks() const {
    static const double most = 4.0 * std::max(std::thread::hardware_concurrency(), 2u);
    return static_cast<int64_t>(std::clamp(work() / kLeastWork, 1.0, most));
  }
};

// A stretch of the columns of a row of the result.
struct Piece {
  int g, g_end;
  int m, m_end;
  int c, c_end;

  int64_t size() const { return int64_t(g_end - g) * (m_end - m) * (c_end - c); }
};

// Cuts G x M x C places into at least `wanted` pieces of at most `largest`, if they can be cut so
// often: by groups, then by rows in multiples of `unit`, then by columns.
class Pieces {
 public:
  Pieces(int groups, int m, int c, int64_t wanted, int64_t largest, int unit)
      : sizes_{groups, m, c}, lengths_{groups, m, c} {
    const int least[] = {1, unit, kLeastColumns};
    auto halve = [&](int axis) {
      int length = (lengths_[axis] + 2 * least[axis] - 1) / (2 * least[axis]) * least[axis];
      return std::exchange(lengths_[axis], std::min(length, lengths_[axis])) > lengths_[axis];
    };
    while (count() < wanted || piece_size() > largest) {
      bool large = piece_size() > largest;
      if (!halve(0) && !halve(1) && !(large && halve(2))) {
        break;
      }
    }
  }

  int64_t count() const { return int64_t(along(0)) * along(1) * along(2); }

  Piece operator[](int64_t i) const {
    int c = i % along(2) * lengths_[2];
    int m = i / along(2) % along(1) * lengths_[1];
    int g = i / along(2) / along(1) * lengths_[0];
    return {g, std::min(g + lengths_[0], sizes_[0]), m, std::min(m + lengths_[1], sizes_[1]),
            c, std::min(c + lengths_[2], sizes_[2])};
  }

 private:
  static constexpr int kLeastColumns = 64;

  int along(int axis) const { return (sizes_[axis] + lengths_[axis] - 1) / lengths_[axis]; }
  int64_t piece_size() const { return int64_t(lengths_[0]) * lengths_[1] * lengths_[2]; }

  int sizes_[3];
  int lengths_[3];
};

// The most entries that one part has.
int32_t largest_part(const Order& order) {
  int32_t largest = 0;
  for (int32_t i = 0; i < order.parts; ++i) {
    largest = std::max(largest, order.first_entry[i + 1] - order.first_entry[i]);
  }
  return largest;
}

// Pieces that the largest part is cut into, so that no task has much more than its share.
int64_t pieces_for_balance(const Call& call, const Order& order) {
  return int64_t(largest_part(order)) * call.tasks() / std::max(call.entries, 1);
}

// ---- matrices times vectors ----

// Entries of one part; all the tables that a block needs.
class MultiplyTask {
 public:
  MultiplyTask(const Call& call, const Order& order, float* sums, Piece piece)
      : call_(call), order_(order), sums_(sums), piece_(piece) {}

  void run(int32_t part) {
    clear(part);
    int64_t x_bytes = call_.bytes(int64_t(call_.groups) * call_.c);
    int32_t place = order_.first_entry[part];
    int32_t end = order_.first_entry[part + 1];
    while (place < end) {
      int32_t matrix = call_.a_row[order_[place]];
      int count = 0;
      for (; place < end && count < kMultiplyEntries; ++place, ++count) {
        int32_t entry = order_[place];
        if (call_.a_row[entry] != matrix) {
          break;
        }
        x_[count] = soon(call_.b + call_.b_row[entry] * x_bytes, x_bytes);
        o_[count] = sums_ + int64_t(call_.o_row[entry]) * row_size();
      }
      multiply(matrix, count);
    }
    round(part);
  }

 private:
  int64_t row_size() const { return int64_t(call_.groups) * call_.m; }

  // Calls f(offset, count) for the stretches of the result that the task computes.
  template <typename F>
  void each_stretch(int32_t part, F f) {
    int32_t first = order_.first_row[part];
    int32_t last = order_.first_row[part + 1];
    if (piece_.size() == row_size()) {
      return f(first * row_size(), (last - first) * row_size());
    }
    for (int32_t row = first; row < last; ++row) {
      for (int g = piece_.g; g < piece_.g_end; ++g) {
        f(row * row_size() + int64_t(g) * call_.m + piece_.m, piece_.m_end - piece_.m);
      }
    }
  }

  void clear(int32_t part) {
    each_stretch(part, [&](int64_t at, int64_t count) { std::fill_n(sums_ + at, count, 0.0f); });
  }

  void round(int32_t part) {
    if (call_.type != Element::Float32) {
      each_stretch(part, [&](int64_t at, int64_t count) {
        host_kernels().round(sums_ + at, call_.out + call_.bytes(at), count, call_.type);
      });
    }
  }

  void multiply(int32_t matrix, int count) {
    int64_t area = int64_t(call_.m) * call_.c;
    for (int g = piece_.g; g < piece_.g_end; ++g) {
      int64_t start = (int64_t(matrix) * call_.groups + g) * area +
                      int64_t(piece_.m) * (call_.transposed ? 1 : call_.c);
      host_kernels().multiply({call_.type, count, x_, o_, int64_t(g) * call_.c,
                               int64_t(g) * call_.m + piece_.m, call_.a + call_.bytes(start),
                               call_.transposed ? call_.m : call_.c, call_.transposed,
                               piece_.m_end - piece_.m, call_.c});
    }
  }

  const Call& call_;
  const Order& order_;
  float* sums_;
  Piece piece_;
  const void* x_[kMultiplyEntries];
  float* o_[kMultiplyEntries];
};

void multiply_all(const Call& call, const PartSizes& parts, int32_t* space, float* sums) {
  auto order = order_by_part(parts, call.o_row, call.a_row, space);
  int64_t wanted = std::max<int64_t>(pieces_for_balance(call, order),
                                     (call.tasks() + parts.parts - 1) / parts.parts);
  Pieces pieces(call.groups, call.m, 1, wanted, INT64_MAX, kPieceColumns);
  mx::cpu::parallel_for(parts.parts * pieces.count(), 1, [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      MultiplyTask(call, order, sums, pieces[i % pieces.count()]).run(i / pieces.count());
    }
  });
}

// ---- outer products ----

// The sum of one row of the result.
class OuterTask {
 public:
  OuterTask(const Call& call, const Order& order, float* scratch, Piece piece)
      : call_(call), order_(order), scratch_(scratch), piece_(piece) {}

  void run(int32_t row) {
    int32_t place = order_.first_entry[row];
    int32_t end = order_.first_entry[row + 1];
    if (place == end) {
      return clear(row);
    }
    int64_t a_bytes = call_.bytes(int64_t(call_.groups) * call_.m);
    int64_t b_bytes = call_.bytes(int64_t(call_.groups) * call_.c);
    for (bool first = true; place < end; first = false) {
      int count = std::min<int32_t>(kOuterEntries, end - place);
      for (int i = 0; i < count; ++i, ++place) {
        int32_t entry = order_[place];
        a_[i] = soon(call_.a + call_.a_row[entry] * a_bytes, a_bytes);
        b_[i] = soon(call_.b + call_.b_row[entry] * b_bytes, b_bytes);
      }
      for (int g = piece_.g; g < piece_.g_end; ++g) {
        multiply(row, g, count, first);
      }
    }
    round(row);
  }

 private:
  int rows() const { return piece_.m_end - piece_.m; }
  int columns() const { return piece_.c_end - piece_.c; }
  int64_t at(int32_t row, int g, int m) const {
    return ((int64_t(row) * call_.groups + g) * call_.m + m) * call_.c + piece_.c;
  }

  void multiply(int32_t row, int g, int count, bool first) {
    float* o = scratch_ ? scratch_ + int64_t(g - piece_.g) * rows() * columns()
                        : reinterpret_cast<float*>(call_.out) + at(row, g, piece_.m);
    host_kernels().outer({call_.type, count, a_, b_, int64_t(g) * call_.m + piece_.m,
                          int64_t(g) * call_.c + piece_.c, o, scratch_ ? columns() : call_.c,
                          rows(), columns(), first});
  }

  template <typename F>
  void each_line(int32_t row, F f) {
    for (int g = piece_.g; g < piece_.g_end; ++g) {
      for (int m = piece_.m; m < piece_.m_end; ++m) {
        f(call_.out + call_.bytes(at(row, g, m)));
      }
    }
  }

  void clear(int32_t row) {
    each_line(row, [&](char* line) { std::fill_n(line, call_.bytes(columns()), 0); });
  }

  void round(int32_t row) {
    if (scratch_) {
      const float* from = scratch_;
      each_line(row, [&](char* line) {
        host_kernels().round(from, line, columns(), call_.type);
        from += columns();
      });
    }
  }

  const Call& call_;
  const Order& order_;
  float* scratch_;
  Piece piece_;
  const void* a_[kOuterEntries];
  const void* b_[kOuterEntries];
};

void outer_all(const Call& call, int32_t* space) {
  auto order = order_by_row(call.entries, call.n_o, call.o_row, space);
  Pieces pieces(call.groups, call.m, call.c, pieces_for_balance(call, order), kPieceSize,
                kPieceRows);
  size_t tasks = call.n_o * pieces.count();
  auto grain = static_cast<size_t>(kLeastWork * tasks / std::max(call.work(), 1.0)) + 1;
  mx::cpu::parallel_for(tasks, grain, [&](size_t first, size_t last) {
    bool narrow = call.type != Element::Float32;
    Scratch scratch(narrow ? pieces[0].size() * sizeof(float) : 0);
    for (size_t i = first; i < last; ++i) {
      OuterTask(call, order, narrow ? scratch.as<float>() : nullptr, pieces[i % pieces.count()])
          .run(i / pieces.count());
    }
  });
}

}  // namespace

mx::array new_ints(size_t count) { return uninitialized({static_cast<int>(count)}, mx::int32); }

RowReader row_of(const Indices& indices) { return indices ? RowReader(*indices) : RowReader(); }

mx::array sums_for(const mx::array& out) {
  return out.dtype() == mx::float32 ? out : uninitialized(out.shape(), mx::float32);
}

PartSizes SparseProduct::part_sizes(const std::vector<mx::array>& inputs) const {
  auto& a = inputs[0];
  auto entries = entries_of(inputs);
  return choose_parts(entries_in(inputs), n_o_, entries.a ? a.shape(0) : 0, a.shape(1),
                      a.shape(transposed() ? 3 : 2), inputs[1].shape(2));
}

void SparseProduct::eval_cpu(const std::vector<mx::array>& inputs,
                             std::vector<mx::array>& outputs) {
  auto& a = inputs[0];
  auto& b = inputs[1];
  auto& out = outputs[0];
  allocate(out);
  if (out.size() == 0) {
    return;
  }
  auto entries = entries_of(inputs);
  Call call{
      .entries = entries_in(inputs),
      .n_o = n_o_,
      .groups = a.shape(1),
      .m = out.shape(2),
      .c = b.shape(2),
      .transposed = transposed(),
      .type = element_of(out.dtype()),
      .a = a.data<char>(),
      .b = b.data<char>(),
      .out = out.data<char>(),
      .a_row = row_of(entries.a),
      .b_row = row_of(entries.b),
      .o_row = row_of(entries.o),
  };
  auto& encoder = mx::cpu::get_command_encoder(stream());
  for (auto& in : inputs) {
    encoder.set_input_array(in);
  }
  encoder.set_output_array(out);
  if (!multiplies()) {
    auto space = new_ints(space_by_row(call.entries, n_o_));
    encoder.add_temporary(space);
    return encoder.dispatch([call, to = space.data<int32_t>()] { outer_all(call, to); });
  }
  auto parts = part_sizes(inputs);
  auto space = new_ints(parts.space());
  encoder.add_temporary(space);
  auto sums = sums_for(out);
  if (out.dtype() != mx::float32) {
    encoder.add_temporary(sums);
  }
  encoder.dispatch([call, parts, to = space.data<int32_t>(), sums = sums.data<float>()] {
    multiply_all(call, parts, to, sums);
  });
}

}  // namespace mlx_sample
