// How operations make nodes: promote types, broadcast shapes, attach the primitive.
#pragma once

#include <memory>
#include <utility>

#include "mlx/ops/common.h"
#include "mlx/primitives/primitive.h"

namespace mlx::core {

// Casts the inputs to `dtype` and broadcasts them to one shape.
std::vector<array> cast_and_broadcast(std::vector<array> inputs, Dtype dtype, const Stream& s);

// A node with one output of the type `dtype` and the shape of the first input.
template <typename P, typename... State>
array elementwise(std::vector<array> inputs, Dtype dtype, const Stream& s, State&&... state) {
  Shape shape = inputs[0].shape();
  return array(std::move(shape), dtype, std::make_shared<P>(s, std::forward<State>(state)...),
               std::move(inputs));
}

// Throws unless the type is an integer type (or bool, if allowed).
void check_integral(const array& a, const std::string& op, bool allow_bool = false);
// Throws for complex64.
void check_real(const array& a, const std::string& op);

// A scalar array of the type of `like`.
inline array scalar(double value, const array& like) { return array(value, like.dtype()); }

inline int rank(const array& a) { return static_cast<int>(a.ndim()); }

std::vector<int> all_axes(const array& a);

// The number of elements in a reduction, less `ddof`. A graph for all shapes computes it whenever
// it runs.
array number_along(const array& a, const std::vector<int>& axes, int ddof, Dtype dtype,
                   StreamOrDevice s);

// The type of sums that are divided later: they could overflow 16-bit floats.
Dtype wide(Dtype dtype);

// Removes axes of length 1, which are sorted and not negative.
array without_axes(const array& a, std::vector<int> axes, const Stream& s);

// The axes in front of the last two.
inline Shape batch_of(const array& a) { return Shape(a.shape().begin(), a.shape().end() - 2); }

// Broadcasts the batch axes of matrices of rank 2 or more.
std::pair<array, array> broadcast_batches(const array& a, const array& b, const Stream& s);

// The conjugate transposes of matrices.
array adjoint(const array& a, StreamOrDevice s);

// Applies `f`, which works along the last axis, to the given axes (sorted, not empty): they are
// merged into one axis at the end. f must keep that axis; `same_length` says whether with its
// length, otherwise with length 1.
array along_axes(const array& a, const std::vector<int>& axes, bool same_length, const Stream& s,
                 const std::function<array(const array&)>& f);

}  // namespace mlx::core
