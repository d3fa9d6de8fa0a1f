// What compiled functions need of trees: keys that tell calls apart, and state that is replaced in
// place.
#pragma once

#include <string>

#include "transforms/trees.h"

// Appends the arrays of a function's arguments, and a text that differs where anything else in the
// tree does. Leaves that are neither arrays nor constants are an error of `op`.
void append_key(py::handle arguments, const char* op, std::string& key, Arrays& arrays);
// The same for state, whose other leaves do not matter.
void append_state_key(py::handle state, std::string& key, Arrays& arrays);

// Puts arrays in the places of those that lists and dictionaries in the tree hold, in order.
// Tuples within them are replaced; what cannot be is an error.
void set_state(py::handle state, const Arrays& arrays);

// While it exists, the state holds other arrays.
class StateScope {
 public:
  StateScope(py::handle state, const Arrays& arrays);
  ~StateScope();
  StateScope(const StateScope&) = delete;
  StateScope& operator=(const StateScope&) = delete;

 private:
  struct Place;
  std::vector<Place> places_;
};
