// Trees for compiled functions: keys that distinguish calls, and state that is replaced in place.
#pragma once

#include <string>

#include "transforms/trees.h"

// Appends the arrays of a function's arguments, and a text that differs if anything else in the
// tree differs. Leaves that are neither arrays nor constants are an error of `op`.
void append_key(py::handle arguments, const char* op, std::string& key, Arrays& arrays);
// The same for state, whose other leaves are ignored.
void append_state_key(py::handle state, std::string& key, Arrays& arrays);

// Replaces the arrays in lists and dictionaries of the tree, in order. Tuples within them are
// replaced; other containers with arrays are an error.
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
