// Sums of products of indexed matrices and vectors, and their derivatives of every order.
#pragma once

#include <array>
#include <optional>

#include "mlx/ops.h"
#include "mlx/primitives.h"
#include "segments/offsets.h"
#include "sparse_products/grouping.h"

namespace mlx_sample {

using Indices = std::optional<mx::array>;

// o[o_idx[t], g, m] += sum over c of a[a_idx[t], g, m, c] * b[b_idx[t], g, c] for every entry t;
// the result has shape (n_o, G, M). a is (K, G, M, C), or (K, G, C, M) with `transpose`. Without
// indices, entry t uses row t.
mx::array sparse_matrix_vector_multiplication_reduction(const mx::array& a, const Indices& a_idx,
                                                        const mx::array& b, const Indices& b_idx,
                                                        const Indices& o_idx, int n_o,
                                                        bool transpose = false, bool check = true,
                                                        mx::StreamOrDevice s = {});

// o[o_idx[t], g, m, c] += a[a_idx[t], g, m] * b[b_idx[t], g, c] for every entry t; the result has
// shape (n_o, G, M, C). Without indices, entry t uses row t.
mx::array sparse_vector_vector_outer_product_reduction(const mx::array& a, const Indices& a_idx,
                                                       const mx::array& b, const Indices& b_idx,
                                                       const Indices& o_idx, int n_o,
                                                       bool check = true,
                                                       mx::StreamOrDevice s = {});

// The stride of indices in 4-byte words, or 0 if entry t uses row t.
int step_of(const Indices& indices);

// The checked index arguments. All have the same length.
struct Entries {
  Indices a;
  Indices b;
  Indices o;
  // Sorted by the index of matrices: those that are multiplied, or that are results. Derivatives
  // use the same order.
  std::optional<Groups> by_matrix;
};

// The same for checked arguments of one floating type.
mx::array multiply_sum(const mx::array& a, const mx::array& b, Entries entries, int n_o,
                       bool transpose, mx::Stream s);
mx::array outer_sum(const mx::array& a, const mx::array& b, Entries entries, int n_o, mx::Stream s);

// The base of the two primitives: inputs are a, b and the given indices. On a device with memory of
// its own, the entries' order by matrix and its offsets follow, and for products of matrices and
// vectors those by row.
class SparseProduct : public mx::Primitive {
 public:
  SparseProduct(mx::Stream stream, const Entries& entries, int n_o)
      : mx::Primitive(stream),
        present_{bool(entries.a), bool(entries.b), bool(entries.o)},
        n_o_(n_o),
        grouped_(entries.by_matrix.has_value()) {}

  void eval_cpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) override;
  void eval_gpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) override;
  bool encodes() const override { return true; }

  std::vector<mx::array> jvp(const std::vector<mx::array>& primals,
                             const std::vector<mx::array>& tangents,
                             const std::vector<int>& argnums) override;
  // Merges the mapped axis with the axes of rows.
  std::pair<std::vector<mx::array>, std::vector<int>> vmap(const std::vector<mx::array>& inputs,
                                                           const std::vector<int>& axes) override;

 protected:
  Entries entries_of(const std::vector<mx::array>& inputs) const;
  bool has_indices() const { return present_[0] || present_[1] || present_[2]; }
  // The number of entries: the length of an index argument, or the number of a's rows.
  int entries_in(const std::vector<mx::array>& inputs) const {
    return inputs[has_indices() ? 2 : 0].shape(0);
  }
  PartSizes part_sizes(const std::vector<mx::array>& inputs) const;
  virtual mx::array apply(const mx::array& a, const mx::array& b, const Entries& entries, int n_o,
                          mx::Stream s) const = 0;
  // Whether this is the first of the two primitives, and how that one reads its matrices.
  virtual bool multiplies() const = 0;
  virtual bool transposed() const { return false; }

  std::array<bool, 3> present_;
  int n_o_;
  bool grouped_;

 private:
  void multiply_in_tiles(const std::vector<mx::array>& inputs, mx::array& out) const;
  void add_outer_in_tiles(const std::vector<mx::array>& inputs, mx::array& out) const;
};

class SparseMatrixVectorSum : public SparseProduct {
 public:
  SparseMatrixVectorSum(mx::Stream stream, const Entries& entries, int n_o, bool transpose)
      : SparseProduct(stream, entries, n_o), transpose_(transpose) {}

  std::vector<mx::array> vjp(const std::vector<mx::array>& primals,
                             const std::vector<mx::array>& cotangents,
                             const std::vector<int>& argnums,
                             const std::vector<mx::array>& outputs) override;
  DEFINE_STATE(SparseMatrixVectorSum, present_, n_o_, transpose_)
  DEFINE_OUTPUT_SHAPES()
  DEFINE_NAME(SparseMatrixVectorSum)

 protected:
  mx::array apply(const mx::array& a, const mx::array& b, const Entries& entries, int n_o,
                  mx::Stream s) const override {
    return multiply_sum(a, b, entries, n_o, transpose_, s);
  }
  bool multiplies() const override { return true; }
  bool transposed() const override { return transpose_; }

 private:
  bool transpose_;
};

class SparseOuterProductSum : public SparseProduct {
 public:
  using SparseProduct::SparseProduct;

  std::vector<mx::array> vjp(const std::vector<mx::array>& primals,
                             const std::vector<mx::array>& cotangents,
                             const std::vector<int>& argnums,
                             const std::vector<mx::array>& outputs) override;
  DEFINE_STATE(SparseOuterProductSum, present_, n_o_)
  DEFINE_OUTPUT_SHAPES()
  DEFINE_NAME(SparseOuterProductSum)

 protected:
  mx::array apply(const mx::array& a, const mx::array& b, const Entries& entries, int n_o,
                  mx::Stream s) const override {
    return outer_sum(a, b, entries, n_o, s);
  }
  bool multiplies() const override { return false; }
};

}  // namespace mlx_sample
