// The order in which entries are computed: entries that share a matrix and rows of the result are
// neighbours, and parts that run concurrently write to different rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mlx/array.h"

namespace mlx_sample {

namespace mx = mlx::core;

// The rows that entries use: from indices of any type, or row t for entry t.
class RowReader {
 public:
  RowReader() = default;
  explicit RowReader(const mx::array& indices);

  int32_t operator[](int64_t entry) const {
    return values_ ? values_[entry * step_] : static_cast<int32_t>(entry);
  }
  bool identity() const { return !values_; }

 private:
  const int32_t* values_ = nullptr;
  int64_t step_ = 1;
};

// The order of entries, divided into parts.
struct Order {
  int32_t parts;
  int32_t* first_entry;  // parts + 1 positions in the order
  int32_t* first_row;    // parts + 1 rows of the result, or null if part i is row i
  int32_t* entries;      // null: the identity

  int32_t operator[](int32_t place) const { return entries ? entries[place] : place; }
};

// Parts of consecutive rows with about equally many entries. Within a part, entries are sorted by
// matrix, then by index. `matrices` is 0 if each entry has a matrix of its own.
struct PartSizes {
  int32_t entries;
  int32_t rows;
  int32_t matrices;
  int32_t parts;

  // The integers of scratch memory that `order_by_part` needs, including its result.
  size_t space() const;
};

// Parts for n_o x G x M sums over entries of products with C terms.
PartSizes choose_parts(int32_t entries, int32_t n_o, int32_t matrices, int groups, int m, int c);

Order order_by_part(const PartSizes& sizes, const RowReader& row, const RowReader& matrix,
                    int32_t* space);

// A part for each row.
size_t space_by_row(int32_t entries, int32_t rows);
Order order_by_row(int32_t entries, int32_t rows, const RowReader& row, int32_t* space);

}  // namespace mlx_sample
