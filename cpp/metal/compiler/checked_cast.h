// llvm::cast with a check: in LLVM's release builds the original does not test the value's class.
#pragma once

#include <type_traits>
#include <utility>

#include "llvm/Support/Casting.h"
#include "llvm/Support/TypeName.h"
#include "metal/compiler/internal_check.h"

namespace metal {

// Casts pointers, which must not be null, to pointers, and references to references.
template <typename To, typename From>
decltype(auto) checked_cast(From&& value, const Place& place = Place::current()) {
  if (!llvm::isa_and_present<To>(value)) [[unlikely]] {
    internal_error("a value is no " + llvm::getTypeName<To>().str(), place);
  }
  return llvm::cast<To>(std::forward<From>(value));
}

}  // namespace metal
