// Checks of invariants. A failed one is a mistake in this code; no input of a user may cause one.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>

namespace metal {

// what() names the function whose invariant is broken.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

using Place = std::source_location;

// Throws InternalError. Under run_guarded it abandons the work instead, and run_guarded throws:
// exceptions must not pass through the frames of LLVM in between.
[[noreturn]] void internal_error(const std::string& what, const Place& place = Place::current());

// Checks in release builds, too.
inline void internal_check(bool holds, const char* what, const Place& place = Place::current()) {
  if (!holds) [[unlikely]]
    internal_error(what, place);
}

}  // namespace metal
