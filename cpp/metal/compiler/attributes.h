// The attributes of Metal that the compiler knows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace metal::compiler {

// The kernel arguments of table 5.8 of the Metal Shading Language specification.
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
bool is_metal_attribute(std::string_view attribute);     // has a meaning in compute code
bool is_graphics_attribute(std::string_view attribute);  // accepted and ignored
bool is_standard_attribute(std::string_view attribute);  // C++'s own

// The text that marks a declaration with a Metal attribute in Clang's annotate attribute, and back.
std::string annotation_name(std::string_view attribute);
std::optional<std::string_view> annotated_attribute(std::string_view annotation);

}  // namespace metal::compiler
