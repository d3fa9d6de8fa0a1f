// The attributes of Metal that the compiler knows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace metal::compiler {

// The attributes of kernel arguments in table 5.8 of the Metal Shading Language specification.
enum class Builtin : uint32_t {
  ThreadPositionInGrid,
  ThreadPositionInThreadgroup,
  ThreadIndexInThreadgroup,
  ThreadIndexInSimdgroup,
  ThreadIndexInQuadgroup,
  SimdgroupIndexInThreadgroup,
  QuadgroupIndexInThreadgroup,
  ThreadgroupPositionInGrid,
  ThreadsPerGrid,
  ThreadsPerThreadgroup,
  DispatchThreadsPerThreadgroup,
  ThreadgroupsPerGrid,
  ThreadsPerSimdgroup,
  QuadgroupsPerThreadgroup,
  SimdgroupsPerThreadgroup,
  DispatchSimdgroupsPerThreadgroup,
  DispatchQuadgroupsPerThreadgroup,
  GridOrigin,
  GridSize,
};

uint32_t component_count(Builtin builtin);  // 1 or 3
std::optional<Builtin> find_builtin(std::string_view attribute);
bool is_metal_attribute(std::string_view attribute);     // meaningful in compute code
bool is_graphics_attribute(std::string_view attribute);  // accepted and ignored
bool is_standard_attribute(std::string_view attribute);  // an attribute of C++ itself

// The text in Clang's annotate attribute that marks a declaration with a Metal attribute, and the
// attribute from this text.
std::string annotation_name(std::string_view attribute);
std::optional<std::string_view> annotated_attribute(std::string_view annotation);

}  // namespace metal::compiler
