// Products of bfloat16 matrices with oneDNN: a thread computes a tile, or some products of a batch.
#include <algorithm>
#include <mutex>
#include <string>

#include "metal/cpu/runtime/parallel.h"
#include "mlx/backend/common/utils.h"
#include "mlx/backend/host/encoder.h"
#include "mlx/backend/host/matrices.h"
#include "mlx/backend/host/onednn.h"
#include "mlx/backend/host/working_memory.h"
#include "mlx/bounded_cache.h"

namespace mlx::core::cpu {

namespace {

using dnnl::memory;

constexpr size_t kMaxMatmuls = 512;
constexpr size_t kTilesPerThread = 2;
constexpr double kWorkOfTask = 1 << 18;  // multiplications in a task of many small products
constexpr int kMinRows = 64, kMinColumns = 256;

// Products whose matrices lie `step` elements apart; a step of 0 repeats one matrix.
struct Batch {
  Product product;
  int count;
  int64_t a_step, b_step, c_step;
};

struct Matmul16 {
  dnnl::matmul primitive;
  memory::desc a, b, c, scratch;
};

using SharedMatmul = std::shared_ptr<const Matmul16>;

// Describes `count` matrices that lie `step` apart, with the strides `row` and `column`.
memory::desc described(int count, int64_t step, int rows, int columns, int64_t row,
                       int64_t column) {
  const memory::dims dims{rows, columns}, strides{row, column};
  if (count == 1) return {dims, memory::data_type::bf16, strides};
  return {{step == 0 ? 1 : count, rows, columns},
          memory::data_type::bf16,
          {step == 0 ? int64_t{rows} * columns : step, row, column}};
}

SharedMatmul made(const Batch& of) {
  const Product& p = of.product;
  const auto a = described(of.count, of.a_step, p.m, p.k, p.ta ? 1 : p.lda, p.ta ? p.lda : 1);
  const auto b = described(of.count, of.b_step, p.k, p.n, p.tb ? 1 : p.ldb, p.tb ? p.ldb : 1);
  const auto c = described(of.count, of.c_step, p.m, p.n, p.n, 1);
  auto attributes = with_scratch_of_caller();
  if (p.alpha != 1.0) attributes.set_output_scales(0, {static_cast<float>(p.alpha)});
  if (p.beta != 0.0) {
    dnnl::post_ops after;
    after.append_sum(static_cast<float>(p.beta));
    attributes.set_post_ops(after);
  }
  const OnThisThread alone;
  const dnnl::matmul::primitive_desc description({a, b, c}, attributes, onednn_engine());
  return std::make_shared<const Matmul16>(
      Matmul16{dnnl::matmul(description), a, b, c, description.scratchpad_desc()});
}

// Primitives are cached.
SharedMatmul matmul_of(const Batch& of) {
  const Product& p = of.product;
  const double numbers[] = {
      double(p.m),       double(p.n),       double(p.k),       double(p.ta), double(p.tb),
      double(p.lda),     double(p.ldb),     p.alpha,           p.beta,       double(of.count),
      double(of.a_step), double(of.b_step), double(of.c_step),
  };
  static std::mutex mutex;
  static auto* matmuls = new BoundedCache<std::string, SharedMatmul>(kMaxMatmuls);
  std::lock_guard lock(mutex);
  return matmuls->get({reinterpret_cast<const char*>(numbers), sizeof(numbers)},
                      [&] { return made(of); });
}

struct Task {
  SharedMatmul matmul;
  int64_t a, b, c;  // where its matrices start, in elements
  // For a tile that is narrower than the matrix: it is computed in dense memory, which is faster.
  int rows = 0, columns = 0;
  int64_t row_step = 0;

  size_t tile_bytes() const { return sizeof(bfloat16_t) * size_t(rows) * size_t(columns); }
  size_t scratch() const { return whole_pages(tile_bytes()) + matmul->scratch.get_size(); }
  void run(const bfloat16_t* left, const bfloat16_t* right, bfloat16_t* to, char* scratch) const;
};

void copy_rows(const bfloat16_t* from, int64_t from_step, bfloat16_t* to, int64_t to_step, int rows,
               int columns) {
  for (int row = 0; row < rows; ++row)
    std::copy_n(from + row * from_step, columns, to + row * to_step);
}

void Task::run(const bfloat16_t* left, const bfloat16_t* right, bfloat16_t* to,
               char* scratch) const {
  auto* tile = rows > 0 ? reinterpret_cast<bfloat16_t*>(scratch) : to + c;
  // The product may be added to what is there.
  copy_rows(to + c, row_step, tile, columns, rows, columns);
  execute(
      matmul->primitive,
      {{DNNL_ARG_SRC, onednn_memory(matmul->a, left + a)},
       {DNNL_ARG_WEIGHTS, onednn_memory(matmul->b, right + b)},
       {DNNL_ARG_DST, onednn_memory(matmul->c, tile)},
       {DNNL_ARG_SCRATCHPAD, onednn_memory(matmul->scratch, scratch + whole_pages(tile_bytes()))}});
  copy_rows(tile, columns, to + c, row_step, rows, columns);
}

// Exchanges a and b: computes the transposed product of the transposed matrices.
Products transposed(Products products) {
  Product& p = products.one;
  std::swap(p.m, p.n);
  std::swap(p.lda, p.ldb);
  std::swap(p.ta, p.tb);
  p.ta = !p.ta;
  p.tb = !p.tb;
  if (p.m == 1 && p.ta && p.lda == 1) {
    p.ta = false;
    p.lda = p.k;
  }
  std::swap(products.a_strides, products.b_strides);
  return products;
}

// Whether oneDNN supports matrices `step` apart, each of `lines` contiguous lines: they are all the
// same matrix, follow each other, or alternate line by line.
bool is_regular(int64_t step, int count, int lines, int line, int leading) {
  const int64_t span = int64_t{leading} * (lines - 1) + line;
  return step == 0 || step >= span || (step >= line && leading >= step * count);
}

int divided_into(int value, int parts) { return (value + parts - 1) / parts; }

// The tiles of one large product; the offsets say where it starts.
void add_tiles(const Product& whole, int64_t a, int64_t b, int64_t c, size_t tiles,
               std::vector<Task>& tasks) {
  const auto wanted = static_cast<int>(tiles);
  const int down = std::clamp(whole.m / kMinRows, 1, wanted);
  const int across = std::clamp(whole.n / kMinColumns, 1, divided_into(wanted, down));
  const int rows = divided_into(whole.m, down), columns = divided_into(whole.n, across);
  for (int row = 0; row < whole.m; row += rows) {
    for (int column = 0; column < whole.n; column += columns) {
      Product p = whole;
      p.m = std::min(rows, whole.m - row);
      p.n = std::min(columns, whole.n - column);
      tasks.push_back({matmul_of({p, 1, 0, 0, 0}), a + (whole.ta ? row : int64_t{row} * whole.lda),
                       b + (whole.tb ? int64_t{column} * whole.ldb : column),
                       c + int64_t{row} * whole.n + column});
      if (p.n < whole.n && p.m > 1) {
        tasks.back().rows = p.m;
        tasks.back().columns = p.n;
        tasks.back().row_step = whole.n;
      }
    }
  }
}

// How many small products of a batch of `count` make a task.
int products_per_task(const Product& p, int count, int64_t a_step, int64_t b_step) {
  const bool regular = is_regular(a_step, count, p.ta ? p.k : p.m, p.ta ? p.m : p.k, p.lda) &&
                       is_regular(b_step, count, p.tb ? p.n : p.k, p.tb ? p.k : p.n, p.ldb);
  // oneDNN does not repeat the product of one pair.
  if (!regular || (a_step == 0 && b_step == 0)) return 1;
  return static_cast<int>(std::clamp(kWorkOfTask / p.multiplications(), 1.0, 1.0 * count));
}

std::vector<Task> tasks_of(const Products& products, size_t threads) {
  const Product& one = products.one;
  auto [shape, strides] =
      collapse_contiguous_dims(products.batch, {products.a_strides, products.b_strides});
  const int inner = shape.back();
  const int64_t a_step = strides[0].back(), b_step = strides[1].back();
  const int64_t size = int64_t{one.m} * one.n;
  const auto matrices = shape_size(shape);
  const bool large = one.multiplications() >= kLargeProduct;
  const size_t tiles = (threads * kTilesPerThread + matrices - 1) / matrices;
  const int some = large ? 1 : products_per_task(one, inner, a_step, b_step);

  std::vector<Task> tasks;
  for (size_t start = 0; start < matrices; start += static_cast<size_t>(inner)) {
    for (int first = 0; first < inner; first += some) {
      const auto at = static_cast<int64_t>(start) + first;
      const int64_t a = elem_to_loc(at, shape, strides[0]), b = elem_to_loc(at, shape, strides[1]);
      const int count = std::min(some, inner - first);
      if (large) {
        add_tiles(one, a, b, at * size, tiles, tasks);
      } else if (count == 1) {
        tasks.push_back({matmul_of({one, 1, 0, 0, 0}), a, b, at * size});
      } else {
        tasks.push_back({matmul_of({one, count, a_step, b_step, size}), a, b, at * size});
      }
    }
  }
  return tasks;
}

}  // namespace

void multiply_bfloat16(const Products& products, const array& a, const array& b, array& out,
                       Stream s) {
  // A product with one row is faster than one with one column.
  if (products.one.n == 1 && products.one.m != 1)
    return multiply_bfloat16(transposed(products), b, a, out, s);
  const size_t width = ::metal::cpu::parallel_width();
  auto tasks = std::make_shared<const std::vector<Task>>(tasks_of(products, width));
  size_t scratch = 0;
  for (const auto& task : *tasks) scratch = std::max(scratch, task.scratch());
  const ThreadsWithScratch threads(std::min(width, tasks->size()), scratch, s);
  get_command_encoder(s).dispatch(
      [=, left = a.data<bfloat16_t>(), right = b.data<bfloat16_t>(), to = out.data<bfloat16_t>()] {
        threads.for_each(tasks->size(),
                         [&](size_t i, char* own) { (*tasks)[i].run(left, right, to, own); });
      });
}

}  // namespace mlx::core::cpu
