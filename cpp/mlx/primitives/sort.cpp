// Sorting: derivatives follow the order of the elements, vmap moves the axis.
#include "mlx/primitives/sort.h"

#include "mlx/ops.h"
#include "mlx/primitives/rules.h"

namespace mlx::core {

namespace {

// Reorders t like the sorted elements, and back.
array reorder(const array& t, const array& order, int axis, const Stream& s) {
  return take_along_axis(t, stop_gradient(order, s), axis, s);
}

array restore(const array& t, const array& order, int axis, const Stream& s) {
  return put_along_axis(zeros_like(t, s), stop_gradient(order, s), t, axis, s);
}

}  // namespace

std::vector<array> Sort::jvp(const std::vector<array>& primals, const std::vector<array>& tangents,
                             const std::vector<int>&) {
  return {reorder(tangents[0], argsort(primals[0], axis_, stream()), axis_, stream())};
}

std::vector<array> Sort::vjp(const std::vector<array>& primals,
                             const std::vector<array>& cotangents, const std::vector<int>&,
                             const std::vector<array>&) {
  return {restore(cotangents[0], argsort(primals[0], axis_, stream()), axis_, stream())};
}

VmapResult Sort::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  return {{sort(axis_in_front(inputs[0], axes[0], stream()), axis_ + 1, stream())}, {0}};
}

std::vector<array> Partition::jvp(const std::vector<array>& primals,
                                  const std::vector<array>& tangents, const std::vector<int>&) {
  return {reorder(tangents[0], argpartition(primals[0], kth_, axis_, stream()), axis_, stream())};
}

std::vector<array> Partition::vjp(const std::vector<array>& primals,
                                  const std::vector<array>& cotangents, const std::vector<int>&,
                                  const std::vector<array>&) {
  return {restore(cotangents[0], argpartition(primals[0], kth_, axis_, stream()), axis_, stream())};
}

VmapResult Partition::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  return {{partition(axis_in_front(inputs[0], axes[0], stream()), kth_, axis_ + 1, stream())}, {0}};
}

#define INDEX_RULES(PRIMITIVE)                                                                     \
  std::vector<array> PRIMITIVE::jvp(const std::vector<array>& primals,                             \
                                    const std::vector<array>& tangents, const std::vector<int>&) { \
    return {zeros(primals[0].shape(), tangents[0].dtype(), stream())};                             \
  }                                                                                                \
  std::vector<array> PRIMITIVE::vjp(const std::vector<array>& primals, const std::vector<array>&,  \
                                    const std::vector<int>& argnums, const std::vector<array>&) {  \
    return zero_cotangents(primals, argnums, stream());                                            \
  }
INDEX_RULES(ArgSort)
INDEX_RULES(ArgPartition)
#undef INDEX_RULES

VmapResult ArgSort::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  return {{argsort(axis_in_front(inputs[0], axes[0], stream()), axis_ + 1, stream())}, {0}};
}

VmapResult ArgPartition::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  return {{argpartition(axis_in_front(inputs[0], axes[0], stream()), kth_, axis_ + 1, stream())},
          {0}};
}

}  // namespace mlx::core
