// Sorting, partitioning and searching.
#include <stdexcept>

#include "mlx/ops/sort.h"
#include "ops.h"
#include "optional_int.h"

using namespace pybind11::literals;

namespace {

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
  define_sort(m, "sort", &mx::sort, &mx::sort, "The elements in ascending order along an axis.");
  define_sort(m, "argsort", &mx::argsort, &mx::argsort, "The indices that sort an axis.");
  define_select(
      m, "partition", "kth", &mx::partition, &mx::partition,
      "The kth element at its sorted place, smaller ones before it and larger ones after it.");
  define_select(m, "argpartition", "kth", &mx::argpartition, &mx::argpartition,
                "The indices that partition an axis.");
  define_select(m, "topk", "k", &mx::topk, &mx::topk,
                "The k largest elements, in no particular order.");
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
      "Where values belong in a sorted sequence: before equal elements (left) or after them "
      "(right).");
}
