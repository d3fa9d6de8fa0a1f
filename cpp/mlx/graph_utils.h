// Graphs of arrays as text and as drawings.
#pragma once

#include <iosfwd>
#include <string>
#include <unordered_map>
#include <vector>

#include "mlx/array.h"

namespace mlx::core {

// Names of arrays: the names given, and A, B, ..., Z, AA, ... for other arrays. Arrays are
// identified by their ids, so they must stay alive.
struct NodeNamer {
  const std::string& get_name(const array& x);
  void set_name(const array& x, std::string name);

 private:
  std::unordered_map<std::uintptr_t, std::string> names_;
  size_t next_ = 0;
};

// Prints the outputs' operations that are not evaluated, one per line.
void print_graph(std::ostream& os, NodeNamer namer, const std::vector<array>& outputs);
// Prints them in the language DOT: arrays are ellipses, operations are rectangles.
void export_to_dot(std::ostream& os, NodeNamer namer, const std::vector<array>& outputs);

inline void print_graph(std::ostream& os, const std::vector<array>& outputs) {
  print_graph(os, NodeNamer{}, outputs);
}
inline void export_to_dot(std::ostream& os, const std::vector<array>& outputs) {
  export_to_dot(os, NodeNamer{}, outputs);
}

template <typename... Arrays, typename = enable_for_arrays_t<Arrays...>>
void print_graph(std::ostream& os, Arrays&&... outputs) {
  print_graph(os, NodeNamer{}, std::vector<array>{std::forward<Arrays>(outputs)...});
}
template <typename... Arrays, typename = enable_for_arrays_t<Arrays...>>
void print_graph(std::ostream& os, NodeNamer namer, Arrays&&... outputs) {
  print_graph(os, std::move(namer), std::vector<array>{std::forward<Arrays>(outputs)...});
}
template <typename... Arrays, typename = enable_for_arrays_t<Arrays...>>
void export_to_dot(std::ostream& os, Arrays&&... outputs) {
  export_to_dot(os, NodeNamer{}, std::vector<array>{std::forward<Arrays>(outputs)...});
}
template <typename... Arrays, typename = enable_for_arrays_t<Arrays...>>
void export_to_dot(std::ostream& os, NodeNamer namer, Arrays&&... outputs) {
  export_to_dot(os, std::move(namer), std::vector<array>{std::forward<Arrays>(outputs)...});
}

}  // namespace mlx::core
