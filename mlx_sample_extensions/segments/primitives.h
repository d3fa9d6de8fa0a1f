// The primitives of segments. Rows are (T, C), segments (K, C), offsets (K + 1,) int32.
#pragma once

#include <optional>

#include "mlx/primitives.h"
#include "rules.h"

namespace mlx_sample {

namespace mx = mlx::core;

// The values are function constants of the kernels.
enum class Reduction { Sum, Mean, Max, Min, Prod };

// The rows of the segments: segment k consists of rows offsets[k] to offsets[k + 1] - 1, or of the
// rows that `rows` lists at these positions. A permutation lists every row once.
struct Segments {
  mx::array offsets;
  std::optional<mx::array> rows;  // (T,) int32
  bool permutation = false;

  int count() const { return offsets.shape(0) - 1; }
  bool repeats_rows() const { return rows && !permutation; }
};

// Reductions (K, C) of rows x (N, C).
mx::array reduce_rows(const mx::array& x, const Segments& segments, Reduction reduction,
                      mx::Stream s);
// The adjoint of the sum, or of the mean: each segment's value g (K, C) at each of its T rows.
// This and the ones below need segments that list no row twice.
mx::array spread_rows(const mx::array& g, const Segments& segments, int rows, bool mean,
                      mx::Stream s);
// The adjoint of an extremum y (K, C) of rows x: g (K, C) divided equally among the rows that are
// equal to it, 0 elsewhere.
mx::array share_among_ties(const mx::array& x, const mx::array& y, const mx::array& g,
                           const Segments& segments, mx::Stream s);
// Its adjoint in g: the mean of v (T, C) over the rows that are equal to the extremum.
mx::array mean_of_ties(const mx::array& x, const mx::array& y, const mx::array& v,
                       const Segments& segments, mx::Stream s);
// For each row of x the product of the other rows of its segment.
mx::array product_of_others(const mx::array& x, const Segments& segments, mx::Stream s);
// The derivative of that in direction u: for each row t the sum over the other rows s of u[s] times
// the product of all rows of the segment except s and t. It is its own adjoint in u.
mx::array moved_product_of_others(const mx::array& x, const mx::array& u, const Segments& segments,
                                  mx::Stream s);

// Inputs: `values` arrays of rows or segments, the offsets, and optionally the listed rows.
class SegmentPrimitive : public mx::Primitive {
 public:
  SegmentPrimitive(mx::Stream stream, int values, bool permutation)
      : mx::Primitive(stream), values_(values), permutation_(permutation) {}

  bool encodes() const override { return true; }
  // If segments are not mapped, the mapped axis becomes columns; otherwise it becomes more
  // segments.
  std::pair<Arrays, std::vector<int>> vmap(const Arrays& inputs,
                                           const std::vector<int>& axes) override;

 protected:
  Segments segments_of(const Arrays& inputs) const;
  // Applies the operation to other inputs with `batch` times as many rows.
  virtual mx::array apply(const Arrays& values, const Segments& segments, int batch) = 0;

  int values_;
  bool permutation_;
};

#define MLX_SAMPLE_SEGMENT_RULES()                                                             \
  void eval_cpu(const Arrays& inputs, Arrays& outputs) override;                               \
  void eval_gpu(const Arrays& inputs, Arrays& outputs) override;                               \
  Arrays jvp(const Arrays& primals, const Arrays& tangents, const std::vector<int>& argnums)   \
      override;                                                                                \
  Arrays vjp(const Arrays& primals, const Arrays& cotangents, const std::vector<int>& argnums, \
             const Arrays& outputs) override;                                                  \
                                                                                               \
 protected:                                                                                    \
  mx::array apply(const Arrays& values, const Segments& segments, int batch) override;

// (x, offsets[, rows])
class SegmentReduce : public SegmentPrimitive {
 public:
  SegmentReduce(mx::Stream stream, Reduction reduction, bool permutation)
      : SegmentPrimitive(stream, 1, permutation), reduction_(reduction) {}
  const char* name() const override { return "SegmentReduce"; }
  bool is_equivalent(const mx::Primitive& other) const override {
    auto& o = static_cast<const SegmentReduce&>(other);
    return reduction_ == o.reduction_ && permutation_ == o.permutation_;
  }
  MLX_SAMPLE_SEGMENT_RULES()

 private:
  Reduction reduction_;
};

// (g, offsets[, rows])
class SegmentSpread : public SegmentPrimitive {
 public:
  SegmentSpread(mx::Stream stream, int rows, bool mean, bool permutation)
      : SegmentPrimitive(stream, 1, permutation), rows_(rows), mean_(mean) {}
  const char* name() const override { return "SegmentSpread"; }
  bool is_equivalent(const mx::Primitive& other) const override {
    auto& o = static_cast<const SegmentSpread&>(other);
    return rows_ == o.rows_ && mean_ == o.mean_ && permutation_ == o.permutation_;
  }
  MLX_SAMPLE_SEGMENT_RULES()

 private:
  int rows_;
  bool mean_;
};

// (x, y, g, offsets[, rows])
class SegmentShare : public SegmentPrimitive {
 public:
  SegmentShare(mx::Stream stream, bool permutation) : SegmentPrimitive(stream, 3, permutation) {}
  const char* name() const override { return "SegmentShare"; }
  bool is_equivalent(const mx::Primitive& other) const override {
    return permutation_ == static_cast<const SegmentShare&>(other).permutation_;
  }
  MLX_SAMPLE_SEGMENT_RULES()
};

// (x[, u], offsets[, rows])
class SegmentOthers : public SegmentPrimitive {
 public:
  SegmentOthers(mx::Stream stream, bool moved, bool permutation)
      : SegmentPrimitive(stream, moved ? 2 : 1, permutation), moved_(moved) {}
  const char* name() const override { return "SegmentOthers"; }
  bool is_equivalent(const mx::Primitive& other) const override {
    auto& o = static_cast<const SegmentOthers&>(other);
    return moved_ == o.moved_ && permutation_ == o.permutation_;
  }
  MLX_SAMPLE_SEGMENT_RULES()

 private:
  bool moved_;
};

#undef MLX_SAMPLE_SEGMENT_RULES

}  // namespace mlx_sample
