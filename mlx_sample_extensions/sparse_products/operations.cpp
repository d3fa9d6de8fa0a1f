// Sums of indexed products: the operations, with checks of their arguments.
#include <algorithm>

#include "evaluation.h"
#include "indices.h"
#include "mlx/utils.h"
#include "sparse_products/sparse_products.h"

namespace mlx_sample {

namespace {

// A call of one of the operations, with the names for its messages.
class Checks {
 public:
  Checks(const char* operation, bool values) : operation_(operation), values_(values) {}

  mx::Dtype common_type(const mx::array& a, const mx::array& b) const {
    auto promoted = mx::promote_types(a.dtype(), b.dtype());
    auto dtype = mx::issubdtype(promoted, mx::inexact) ? promoted : mx::float32;
    if (dtype != mx::float32 && dtype != mx::float16 && dtype != mx::bfloat16) {
      refuse(operation_,
             "a and b must be float32, float16, bfloat16 or integers, but together they are " +
                 mx::dtype_to_string(dtype) + ".");
    }
    return dtype;
  }

  void dimensions(const char* name, const mx::array& a, const std::string& wanted) const {
    if (a.ndim() != size_t(std::count(wanted.begin(), wanted.end(), ',') + 1)) {
      refuse(operation_, std::string(name) + " must have shape " + wanted + ", but it has shape " +
                             mx::shape_to_string(a.shape()) + ".");
    }
  }

  void same(const char* what, int of_a, int of_b) const {
    if (of_a != of_b) {
      refuse(operation_, std::string("a and b must have the same ") + what + ", but they have " +
                             std::to_string(of_a) + " and " + std::to_string(of_b) + ".");
    }
  }

  // The number of entries: the length of each index argument, or the number of rows without one.
  Entries entries(const mx::array& a, const Indices& a_idx, const mx::array& b,
                  const Indices& b_idx, const Indices& o_idx, int n_o) {
    if (n_o < 0) {
      refuse(operation_, "n_o must not be negative, but it is " + std::to_string(n_o) + ".");
    }
    return {indices("a_idx", a_idx, "a", a.shape(0)), indices("b_idx", b_idx, "b", b.shape(0)),
            indices("o_idx", o_idx, "n_o", n_o), std::nullopt};
  }

 private:
  Indices indices(const char* name, const Indices& idx, const char* rows, int size) {
    Indices result;
    if (idx) {
      result = checked_indices(*idx, {operation_, name, size, !values_});
    }
    std::string said =
        std::string(idx ? "the length of " : "the number of rows of ") + (idx ? name : rows);
    int length = idx ? idx->shape(0) : size;
    if (said_.empty()) {
      said_ = said;
      length_ = length;
    } else if (length != length_) {
      refuse(operation_, "There must be one number of entries, but " + said_ + " is " +
                             std::to_string(length_) + " and " + said + " is " +
                             std::to_string(length) + " (without indices, entry t uses row t).");
    }
    return result;
  }

  const char* operation_;
  bool values_;       // whether the values of indices are checked
  std::string said_;  // the argument that gave the number of entries
  int length_ = 0;
};

mx::array dense(const mx::array& a, mx::Dtype dtype, mx::Stream s) {
  return mx::contiguous(mx::astype(a, dtype, s), false, s);
}

// Entries that use row t, or the row that an index gives, sorted by that row.
Groups grouped(const Indices& idx, int entries, int rows, mx::Stream s) {
  return idx ? group_rows(*idx, rows, s)
             : Groups{mx::arange(0, entries, mx::int32, s),
                      mx::arange(0, entries + 1, mx::int32, s)};
}

// a, b and the given indices.
std::vector<mx::array> inputs_of(const mx::array& a, const mx::array& b, const Entries& entries,
                                 mx::Stream s) {
  std::vector<mx::array> inputs{dense(a, a.dtype(), s), dense(b, b.dtype(), s)};
  for (auto* idx : {&entries.a, &entries.b, &entries.o}) {
    if (*idx) {
      inputs.push_back(mx::contiguous(**idx, false, s));
    }
  }
  return inputs;
}

void append(std::vector<mx::array>& inputs, const Groups& groups) {
  inputs.push_back(groups.order);
  inputs.push_back(groups.offsets);
}

}  // namespace

mx::array sparse_matrix_vector_multiplication_reduction(const mx::array& a, const Indices& a_idx,
                                                        const mx::array& b, const Indices& b_idx,
                                                        const Indices& o_idx, int n_o,
                                                        bool transpose, bool check,
                                                        mx::StreamOrDevice s) {
  Checks checks("sparse_matrix_vector_multiplication_reduction", check);
  checks.dimensions("a", a, transpose ? "(K, G, C, M)" : "(K, G, M, C)");
  checks.dimensions("b", b, "(N, G, C)");
  checks.same("number of groups G", a.shape(1), b.shape(1));
  checks.same("depth C", a.shape(transpose ? 2 : 3), b.shape(2));
  auto dtype = checks.common_type(a, b);
  auto entries = checks.entries(a, a_idx, b, b_idx, o_idx, n_o);
  auto stream = mx::to_stream(s);
  return multiply_sum(mx::astype(a, dtype, stream), mx::astype(b, dtype, stream), entries, n_o,
                      transpose, stream);
}

mx::array sparse_vector_vector_outer_product_reduction(const mx::array& a, const Indices& a_idx,
                                                       const mx::array& b, const Indices& b_idx,
                                                       const Indices& o_idx, int n_o, bool check,
                                                       mx::StreamOrDevice s) {
  Checks checks("sparse_vector_vector_outer_product_reduction", check);
  checks.dimensions("a", a, "(N, G, M)");
  checks.dimensions("b", b, "(N, G, C)");
  checks.same("number of groups G", a.shape(1), b.shape(1));
  auto dtype = checks.common_type(a, b);
  auto entries = checks.entries(a, a_idx, b, b_idx, o_idx, n_o);
  auto stream = mx::to_stream(s);
  return outer_sum(mx::astype(a, dtype, stream), mx::astype(b, dtype, stream), entries, n_o,
                   stream);
}

mx::array multiply_sum(const mx::array& a, const mx::array& b, Entries entries, int n_o,
                       bool transpose, mx::Stream s) {
  auto inputs = inputs_of(a, b, entries, s);
  if (has_own_memory(s.device)) {
    const int count = entries.a ? entries.a->shape(0) : a.shape(0);
    if (!entries.by_matrix) entries.by_matrix = grouped(entries.a, count, a.shape(0), s);
    append(inputs, *entries.by_matrix);
    append(inputs, grouped(entries.o, count, n_o, s));
  }
  return mx::array({n_o, a.shape(1), a.shape(transpose ? 3 : 2)}, a.dtype(),
                   std::make_shared<SparseMatrixVectorSum>(s, entries, n_o, transpose),
                   std::move(inputs));
}

mx::array outer_sum(const mx::array& a, const mx::array& b, Entries entries, int n_o,
                    mx::Stream s) {
  auto inputs = inputs_of(a, b, entries, s);
  if (has_own_memory(s.device)) {
    if (!entries.by_matrix) entries.by_matrix = grouped(entries.o, n_o, n_o, s);
    append(inputs, *entries.by_matrix);
  }
  return mx::array({n_o, a.shape(1), a.shape(2), b.shape(2)}, a.dtype(),
                   std::make_shared<SparseOuterProductSum>(s, entries, n_o), std::move(inputs));
}

}  // namespace mlx_sample
