// Counting sorts of entries.
#include "sparse_products/grouping.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <ranges>
#include <utility>

#include "counting_sort.h"

namespace mlx_sample {

namespace {

static_assert(std::endian::native == std::endian::little);

// Rows are counted in so many buckets to find where the parts begin.
constexpr int32_t kBuckets = 4096;

// Allocates integers from scratch memory.
class Space {
 public:
  explicit Space(int32_t* next) : next_(next) {}
  int32_t* take(size_t count) { return std::exchange(next_, next_ + count); }

 private:
  int32_t* next_;
};

int bucket_shift(int32_t rows) {
  int shift = 0;
  while ((rows >> shift) >= kBuckets) {
    ++shift;
  }
  return shift;
}

// With more keys than this, sorting by comparison needs less memory than counting.
bool countable(const PartSizes& sizes) {
  int64_t keys = int64_t(sizes.parts) * std::max(sizes.matrices, 1);
  return keys <= 2 * int64_t(sizes.entries) + 65536;
}

// Divides buckets into parts: part_of[bucket], and the first row of each part.
void cut(const PartSizes& sizes, const RowReader& row, int shift, int32_t* part_of,
         int32_t* first_row) {
  int32_t buckets = (sizes.rows >> shift) + 1;
  std::fill_n(part_of, buckets, 0);
  for (int32_t t = 0; t < sizes.entries; ++t) {
    ++part_of[row[t] >> shift];
  }
  int32_t part = 0;
  int64_t seen = 0;
  first_row[0] = 0;
  for (int32_t bucket = 0; bucket < buckets; ++bucket) {
    while (part + 1 < sizes.parts && seen * sizes.parts >= (part + 1) * int64_t(sizes.entries)) {
      first_row[++part] = std::min(bucket << shift, sizes.rows);
    }
    seen += std::exchange(part_of[bucket], part);
  }
  while (part < sizes.parts) {
    first_row[++part] = sizes.rows;
  }
}

}  // namespace

RowReader::RowReader(const mx::array& indices)
    : values_(indices.data<int32_t>()),
      // Values are below 2^31, so the low half of an integer is enough.
      step_(indices.itemsize() / sizeof(int32_t)) {}

PartSizes choose_parts(int32_t entries, int32_t n_o, int32_t matrices, int groups, int m, int c) {
  constexpr double kParts = 16;             // enough for the cores
  constexpr double kPartBytes = 512 << 10;  // sums that stay in the L2 cache
  constexpr double kShared = 96;            // entries that should share a matrix in a part
  constexpr double kMinWork = 100000;       // products
  constexpr double kMinTasks = 8;           // parts, or ranges of columns of wide rows
  constexpr double kStretch = 64;           // columns
  double row = double(groups) * m;
  double wanted = std::max(kParts, n_o * row * sizeof(float) / kPartBytes);
  double least = std::max(kMinTasks / (groups * std::max(m / kStretch, 1.0)), 1.0);
  double sharing = matrices ? std::max(entries / (kShared * matrices), least) : wanted;
  double worth = row * (double(entries) * c + n_o) / kMinWork;
  double parts = std::min({wanted, sharing, worth, double(n_o)});
  return {entries, n_o, matrices, std::max(static_cast<int32_t>(parts), 1)};
}

size_t PartSizes::space() const {
  size_t keys = countable(*this) ? size_t(parts) * std::max(matrices, 1) + 1 : 0;
  return 2 * (size_t(parts) + 1) + entries + kBuckets + 1 + keys;
}

Order order_by_part(const PartSizes& sizes, const RowReader& row, const RowReader& matrix,
                    int32_t* space) {
  Space free(space);
  Order order{sizes.parts, free.take(sizes.parts + 1), free.take(sizes.parts + 1),
              free.take(sizes.entries)};
  int shift = bucket_shift(sizes.rows);
  int32_t* part_of = free.take(kBuckets + 1);
  cut(sizes, row, shift, part_of, order.first_row);

  size_t matrices = std::max(sizes.matrices, 1);
  auto key = [&](int32_t t) {
    size_t part = part_of[row[t] >> shift];
    return part * matrices + (sizes.matrices ? matrix[t] : 0);
  };
  auto put = [entries = order.entries](int32_t t, int32_t place) { entries[place] = t; };
  bool moved = true;
  if (countable(sizes)) {
    moved = counting_sort(sizes.entries, sizes.parts * matrices, key,
                          free.take(sizes.parts * matrices + 1), put);
  } else {
    std::iota(order.entries, order.entries + sizes.entries, 0);
    std::sort(order.entries, order.entries + sizes.entries,
              [&](int32_t x, int32_t y) { return std::pair(key(x), x) < std::pair(key(y), y); });
  }
  if (!moved) {
    order.entries = nullptr;
  }
  order.first_entry[0] = 0;
  for (int32_t part = 0; part < sizes.parts; ++part) {
    auto in_part = [&](int32_t place) { return row[order[place]] < order.first_row[part + 1]; };
    // Entries are sorted by part, so the end of one is found by binary search.
    auto places = std::views::iota(order.first_entry[part], sizes.entries);
    order.first_entry[part + 1] =
        order.first_entry[part] +
        static_cast<int32_t>(std::ranges::partition_point(places, in_part) - places.begin());
  }
  return order;
}

size_t space_by_row(int32_t entries, int32_t rows) { return size_t(entries) + rows + 1; }

Order order_by_row(int32_t entries, int32_t rows, const RowReader& row, int32_t* space) {
  Order order{rows, space, nullptr, space + rows + 1};
  auto key = [&](int32_t t) { return size_t(row[t]); };
  auto put = [entries = order.entries](int32_t t, int32_t place) { entries[place] = t; };
  if (!counting_sort(entries, rows, key, order.first_entry, put)) {
    order.entries = nullptr;
  }
  return order;
}

}  // namespace mlx_sample
