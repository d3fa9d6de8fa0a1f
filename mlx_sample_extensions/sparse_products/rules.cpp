// Derivatives and vmap of sums of indexed products. Both are linear in a and in b, and each is the
// gradient of the other.
#include "rules.h"

#include <limits>

#include "sparse_products/sparse_products.h"

namespace mlx_sample {

namespace {

// Merges the mapped axis of a and b, if any, with their rows.
mx::array merged(const mx::array& a, int axis, mx::Stream s) {
  return axis < 0 ? a : mx::flatten(mx::moveaxis(a, axis, 0, s), 0, 1, s);
}

// Indices into merged rows. With `shift` each of the `count` mapped calls has its own `rows`. None
// if entry t still uses row t.
Indices merged_indices(const Indices& idx, int axis, int count, int length, int rows, bool shift,
                       mx::Stream s) {
  if (!idx && shift) {
    return {};
  }
  bool wide = int64_t(count) * rows > std::numeric_limits<int32_t>::max();
  auto dtype = wide ? mx::int64 : idx ? idx->dtype() : mx::int32;
  auto own = idx ? mx::astype(axis < 0 ? *idx : mx::moveaxis(*idx, axis, 0, s), dtype, s)
                 : mx::arange(0.0, double(length), dtype, s);
  if (axis < 0) {
    own = mx::expand_dims(own, 0, s);
  }
  if (shift) {
    auto start = mx::multiply(mx::arange(0.0, double(count), dtype, s), mx::array(rows, dtype), s);
    own = mx::add(own, mx::expand_dims(start, 1, s), s);
  }
  return mx::flatten(mx::broadcast_to(own, {count, length}, s), s);
}

}  // namespace

Entries SparseProduct::entries_of(const Arrays& inputs) const {
  Entries entries;
  size_t next = 2;
  Indices* all[] = {&entries.a, &entries.b, &entries.o};
  for (int i = 0; i < 3; ++i) {
    if (present_[i]) {
      *all[i] = inputs[next++];
    }
  }
  if (grouped_) {
    entries.by_matrix = Groups{inputs[next], inputs[next + 1]};
  }
  return entries;
}

Arrays SparseProduct::jvp(const Arrays& primals, const Arrays& tangents,
                          const std::vector<int>& argnums) {
  auto entries = entries_of(primals);
  Arrays terms;
  for (size_t i = 0; i < argnums.size(); ++i) {
    if (argnums[i] == 0) {
      terms.push_back(apply(tangents[i], primals[1], entries, n_o_, stream()));
    } else if (argnums[i] == 1) {
      terms.push_back(apply(primals[0], tangents[i], entries, n_o_, stream()));
    }
  }
  if (terms.empty()) {
    return {mx::zeros(output_shapes(primals)[0], primals[0].dtype(), stream())};
  }
  return {terms.size() == 1 ? terms[0] : mx::add(terms[0], terms[1], stream())};
}

std::pair<Arrays, std::vector<int>> SparseProduct::vmap(const Arrays& inputs,
                                                        const std::vector<int>& axes) {
  auto s = stream();
  int count = mapped_length(inputs, axes);
  // The number of entries and rows of one call.
  auto rows = [&](int i) { return inputs[i].shape(axes[i] == 0 ? 1 : 0); };
  int length = has_indices() ? inputs[2].shape(axes[2] == 0 ? 1 : 0) : rows(0);

  auto entries = entries_of(inputs);
  size_t next = 2;
  auto merge = [&](const Indices& idx, int of, int size) {
    int axis = idx ? axes[next++] : -1;
    return merged_indices(idx, axis, count, length, size, of < 0 || axes[of] >= 0, s);
  };
  Entries all;
  all.a = merge(entries.a, 0, rows(0));
  all.b = merge(entries.b, 1, rows(1));
  all.o = merge(entries.o, -1, n_o_);
  auto sums =
      apply(merged(inputs[0], axes[0], s), merged(inputs[1], axes[1], s), all, count * n_o_, s);
  return {{mx::unflatten(sums, 0, {count, n_o_}, s)}, {0}};
}

Arrays SparseMatrixVectorSum::vjp(const Arrays& primals, const Arrays& cotangents,
                                  const std::vector<int>& argnums, const Arrays&) {
  auto& a = primals[0];
  auto& b = primals[1];
  auto& g = cotangents[0];
  auto [ia, ib, io, by_matrix] = entries_of(primals);
  Arrays result;
  for (int operand : argnums) {
    if (operand == 0) {
      result.push_back(transpose_ ? outer_sum(b, g, {ib, io, ia, by_matrix}, a.shape(0), stream())
                                  : outer_sum(g, b, {io, ib, ia, by_matrix}, a.shape(0), stream()));
    } else if (operand == 1) {
      result.push_back(
          multiply_sum(a, g, {ia, io, ib, by_matrix}, b.shape(0), !transpose_, stream()));
    } else {
      result.push_back(mx::zeros_like(primals[operand], stream()));
    }
  }
  return result;
}

Arrays SparseOuterProductSum::vjp(const Arrays& primals, const Arrays& cotangents,
                                  const std::vector<int>& argnums, const Arrays&) {
  auto& a = primals[0];
  auto& b = primals[1];
  auto& g = cotangents[0];
  auto [ia, ib, io, by_matrix] = entries_of(primals);
  Arrays result;
  for (int operand : argnums) {
    if (operand == 0) {
      result.push_back(multiply_sum(g, b, {io, ib, ia, by_matrix}, a.shape(0), false, stream()));
    } else if (operand == 1) {
      result.push_back(multiply_sum(g, a, {io, ia, ib, by_matrix}, b.shape(0), true, stream()));
    } else {
      result.push_back(mx::zeros_like(primals[operand], stream()));
    }
  }
  return result;
}

std::vector<mx::Shape> SparseMatrixVectorSum::output_shapes(const Arrays& inputs) {
  auto& a = inputs[0];
  return {{n_o_, a.shape(1), a.shape(transpose_ ? 3 : 2)}};
}

std::vector<mx::Shape> SparseOuterProductSum::output_shapes(const Arrays& inputs) {
  auto& a = inputs[0];
  return {{n_o_, a.shape(1), a.shape(2), inputs[1].shape(2)}};
}

}  // namespace mlx_sample
