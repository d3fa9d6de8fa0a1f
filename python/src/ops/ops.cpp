// Binds all families of operations, and aliases of some.
#include "ops/ops.h"

#include <utility>

#include "module.h"

namespace {

// The names in the array API standard of functions that have other names too.
void define_aliases(py::module_& m) {
  constexpr std::pair<const char*, const char*> kAliases[] = {
      {"acos", "arccos"},
      {"acosh", "arccosh"},
      {"asin", "arcsin"},
      {"asinh", "arcsinh"},
      {"atan", "arctan"},
      {"atan2", "arctan2"},
      {"atanh", "arctanh"},
      {"bitwise_left_shift", "left_shift"},
      {"bitwise_right_shift", "right_shift"},
      {"cumulative_prod", "cumprod"},
      {"cumulative_sum", "cumsum"},
      {"empty", "zeros"},  // uninitialised memory would be no faster
      {"empty_like", "zeros_like"},
      {"pow", "power"},
  };
  for (const auto& [alias, name] : kAliases) m.attr(alias) = m.attr(name);
}

}  // namespace

void init_ops(py::module_& m) {
  ArrayClass cls = py::reinterpret_borrow<ArrayClass>(m.attr("array"));
  init_ops_unary(m, cls);
  init_ops_binary(m, cls);
  init_ops_create(m, cls);
  init_ops_shape(m, cls);
  init_ops_join(m, cls);
  init_ops_reduce(m, cls);
  init_ops_scan(m, cls);
  init_ops_index(m, cls);
  init_ops_linear(m, cls);
  init_ops_convolution(m, cls);
  init_ops_grouped(m, cls);
  init_ops_quantized(m, cls);
  init_ops_sort(m, cls);
  define_aliases(m);
}
