// Sorting, partitioning and searching.
#include "mlx/ops/sort.h"

#include <stdexcept>

#include "convert/optional_int.h"
#include "ops/ops.h"

using namespace pybind11::literals;

namespace {

const char* const kSortDoc = R"(Sorts an array along an axis, in ascending order.

Args:
    axis: The axis. None means the axis of the flattened array.

Returns:
    The sorted elements.)";

const char* const kArgsortDoc = R"(Finds the indices that sort an array along an axis.

Args:
    axis: The axis. None means the axis of the flattened array.

Returns:
    The indices, of type uint32.

Example:
    >>> mx.argsort(mx.array([30, 10, 20]))
    array([1, 2, 0], dtype=uint32))";

const char* const kPartitionDoc =
    R"(Puts the element `kth` at its sorted place: smaller ones come before it, larger ones after it.

Args:
    kth: The place, in sorted order.
    axis: The axis. None means the axis of the flattened array.

Returns:
    The elements in the new order.)";

const char* const kArgpartitionDoc = R"(Finds the indices that partition an array, see `partition`.

Args:
    kth: The place, in sorted order.
    axis: The axis. None means the axis of the flattened array.

Returns:
    The indices, of type uint32.)";

const char* const kTopkDoc =
    R"(Selects the `k` largest elements along an axis, in no particular order.

Args:
    k: The number of elements.
    axis: The axis. None means the axis of the flattened array.

Returns:
    The elements. The axis has length `k`.

Example:
    >>> sorted(mx.topk(mx.array([4, 1, 3]), 2).tolist())
    [3, 4])";

const char* const kSearchsortedDoc = R"(Finds where values belong in a sorted sequence.

Args:
    sorted_sequence: The sequence, of shape (n,), in ascending order.
    values: The values, of any shape.
    side: 'left' finds the place before equal elements, 'right' the place after them.

Returns:
    The places, from 0 to n, of the shape of `values`.

Example:
    >>> mx.searchsorted(mx.array([1, 3, 5]), mx.array([3, 4])).tolist()
    [1, 2])";

using Sort = mx::array (*)(const mx::array&, mx::StreamOrDevice);
using AxisSort = mx::array (*)(const mx::array&, int, mx::StreamOrDevice);
using Select = mx::array (*)(const mx::array&, int, mx::StreamOrDevice);
using AxisSelect = mx::array (*)(const mx::array&, int, int, mx::StreamOrDevice);

void define_sort(py::module_& m, const char* name, Sort flat, AxisSort along_axis,
                 const char* doc) {
  m.def(
      name,
      [=](const mx::array& a, const OptionalInt& axis, StreamArg s) {
        return !axis ? flat(a, s) : along_axis(a, *axis, s);
      },
      "a"_a, py::pos_only(), "axis"_a = -1, STREAM_KEYWORD, doc);
}

void define_select(py::module_& m, const char* name, const char* count, Select flat,
                   AxisSelect along_axis, const char* doc) {
  m.def(
      name,
      [=](const mx::array& a, int k, const OptionalInt& axis, StreamArg s) {
        return !axis ? flat(a, k, s) : along_axis(a, k, *axis, s);
      },
      "a"_a, py::pos_only(), py::arg(count), "axis"_a = -1, STREAM_KEYWORD, doc);
}

}  // namespace

void init_ops_sort(py::module_& m, ArrayClass&) {
  define_sort(m, "sort", &mx::sort, &mx::sort, kSortDoc);
  define_sort(m, "argsort", &mx::argsort, &mx::argsort, kArgsortDoc);
  define_select(m, "partition", "kth", &mx::partition, &mx::partition, kPartitionDoc);
  define_select(m, "argpartition", "kth", &mx::argpartition, &mx::argpartition, kArgpartitionDoc);
  define_select(m, "topk", "k", &mx::topk, &mx::topk, kTopkDoc);
  m.def(
      "searchsorted",
      [](const mx::array& sequence, const ArrayLike& values, const std::string& side, StreamArg s) {
        if (side != "left" && side != "right") {
          throw std::invalid_argument("[searchsorted] side must be 'left' or 'right' but was '" +
                                      side + "'.");
        }
        return mx::searchsorted(sequence, to_array(values, sequence.dtype()), side == "right", s);
      },
      "sorted_sequence"_a, "values"_a, py::pos_only(), "side"_a = "left", STREAM_KEYWORD,
      kSearchsortedDoc);
}
