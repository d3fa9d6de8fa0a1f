// The numbers in a buffer, by the type of its elements as Metal spells it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "metal/compiler/compiler.h"

namespace metal::cpu {

class ElementNumbers {
 public:
  explicit ElementNumbers(const ArgumentInfo& buffer);

  uint32_t bytes() const { return bytes_; }  // of a number
  bool floats() const {
    return single() || type_ == ScalarType::Half || type_ == ScalarType::BFloat;
  }
  bool single() const { return type_ == ScalarType::Float; }  // 32-bit floats
  double epsilon() const;                                     // of floats

  double value(const char* number) const;  // of a float
  // An element as text: "5", "(1, 2)" or, where its type is not known, "0x0102".
  std::string text(const char* element) const;

 private:
  std::string number_text(const char* number) const;

  std::optional<ScalarType> type_;  // none if it is not known
  uint32_t bytes_ = 1;
  uint32_t count_ = 1;  // in an element
};

}  // namespace metal::cpu
