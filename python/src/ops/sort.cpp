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

const char* const kUniqueDoc =
    R"(unique(a: array, /, size: int, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, fill_value: scalar | array | None = None, *, stream: StreamOrDevice = None) -> Any

Finds the different elements of an array, in ascending order.

Args:
    a: The array.
    size: How many to find. Where there are more, the largest are left out.
    return_index: Whether to return where in the flattened array each stands first.
    return_inverse: Whether to return which of the results each element of the array is. It is the last
        for those that are left out.
    return_counts: Whether to return how often each occurs.
    fill_value: What fills the places for which there are no different elements. None means the first of
        them; an array without elements needs another value.

Returns:
    The elements, of shape (size,). If any of the others is wanted, a tuple of the elements, the places
    (uint32, of shape (size,)), the inverse (uint32, of the shape of the array) and the numbers (int32, of shape
    (size,), 0 where there is no element).

Example:
    >>> mx.unique(mx.array([2, 1, 2, 3, 1]), 4, return_counts=True)
    (array([1, 2, 3, 1], dtype=int32), array([2, 2, 1, 0], dtype=int32)))";

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

py::object unique(const mx::array& a, int size, bool with_index, bool with_inverse,
                  bool with_counts, const py::object& fill_value, mx::StreamOrDevice s) {
  std::optional<mx::array> fill;
  if (!fill_value.is_none()) fill = to_array(fill_value, a.dtype());
  const mx::Unique found = mx::unique(a, size, fill, s);
  if (!with_index && !with_inverse && !with_counts) return py::cast(found.values);
  std::vector<mx::array> wanted{found.values};
  if (with_index) wanted.push_back(found.index);
  if (with_inverse) wanted.push_back(found.inverse);
  if (with_counts) wanted.push_back(found.counts);
  return to_tuple(wanted);
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
  m.def(
      "unique",
      [](const mx::array& a, int size, bool with_index, bool with_inverse, bool with_counts,
         const py::object& fill_value, StreamArg s) {
        return unique(a, size, with_index, with_inverse, with_counts, fill_value, s);
      },
      "a"_a, py::pos_only(), "size"_a, "return_index"_a = false, "return_inverse"_a = false,
      "return_counts"_a = false, "fill_value"_a = py::none(), STREAM_KEYWORD, kUniqueDoc);
}
