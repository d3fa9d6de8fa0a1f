// Broken invariants: mistakes of ours, which nothing that a user types may trigger.
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

// Throws InternalError. What runs under run_guarded is abandoned instead, and run_guarded throws:
// between here and there may be frames of LLVM, which exceptions must not pass.
[[noreturn]] void internal_error(const std::string& what, const Place& place = Place::current());

// In release builds too.
inline void internal_check(bool holds, const char* what, const Place& place = Place::current()) {
  if (!holds) [[unlikely]]
    internal_error(what, place);
}

}  // namespace metal
