// Keys of trees that distinguish calls, and trees whose arrays are replaced in place.
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

struct ReplacedPlace {
  py::object container, key, old, now;
};

// While it exists, the state holds other arrays. What a function puts there itself goes as well.
class StateScope {
 public:
  StateScope(py::handle state, const Arrays& arrays);
  ~StateScope();
  StateScope(const StateScope&) = delete;
  StateScope& operator=(const StateScope&) = delete;

 private:
  std::vector<ReplacedPlace> places_;
};

// While it exists, arguments hold other arrays: in their own lists and dictionaries, so that a
// function gets the very objects that it was called with, such as modules. A plain list or
// dictionary that occurs again is copied there, so that each place has arrays of its own. What the
// function puts into them itself stays.
class ArgumentScope {
 public:
  // Arguments that are no lists and dictionaries are replaced in the list of them.
  ArgumentScope(const py::list& arguments, const Arrays& arrays);
  ~ArgumentScope();
  ArgumentScope(const ArgumentScope&) = delete;
  ArgumentScope& operator=(const ArgumentScope&) = delete;

 private:
  std::vector<ReplacedPlace> places_;
};
