#include "metal/compiler/attributes.h"

#include <algorithm>
#include <array>
#include <utility>

namespace metal::compiler {
namespace {

constexpr std::string_view kPrefix = "metal.";

constexpr std::pair<std::string_view, Builtin> kBuiltins[] = {
    {"thread_position_in_grid", Builtin::ThreadPositionInGrid},
    {"thread_position_in_threadgroup", Builtin::ThreadPositionInThreadgroup},
    {"thread_index_in_threadgroup", Builtin::ThreadIndexInThreadgroup},
    {"thread_index_in_simdgroup", Builtin::ThreadIndexInSimdgroup},
    {"thread_index_in_quadgroup", Builtin::ThreadIndexInQuadgroup},
    {"simdgroup_index_in_threadgroup", Builtin::SimdgroupIndexInThreadgroup},
    {"quadgroup_index_in_threadgroup", Builtin::QuadgroupIndexInThreadgroup},
    {"threadgroup_position_in_grid", Builtin::ThreadgroupPositionInGrid},
    {"threads_per_grid", Builtin::ThreadsPerGrid},
    {"threads_per_threadgroup", Builtin::ThreadsPerThreadgroup},
    {"dispatch_threads_per_threadgroup", Builtin::DispatchThreadsPerThreadgroup},
    {"threadgroups_per_grid", Builtin::ThreadgroupsPerGrid},
    {"threads_per_simdgroup", Builtin::ThreadsPerSimdgroup},
    {"thread_execution_width", Builtin::ThreadsPerSimdgroup},
    {"quadgroups_per_threadgroup", Builtin::QuadgroupsPerThreadgroup},
    {"simdgroups_per_threadgroup", Builtin::SimdgroupsPerThreadgroup},
    {"dispatch_simdgroups_per_threadgroup", Builtin::DispatchSimdgroupsPerThreadgroup},
    {"dispatch_quadgroups_per_threadgroup", Builtin::DispatchQuadgroupsPerThreadgroup},
    {"grid_origin", Builtin::GridOrigin},
    {"grid_size", Builtin::GridSize},
};

constexpr std::string_view kOthers[] = {
    "kernel",      "host_name",         "buffer",
    "threadgroup", "function_constant", "max_total_threads_per_threadgroup",
    "__zeroed"};

constexpr std::string_view kGraphics[] = {"vertex",
                                          "fragment",
                                          "position",
                                          "stage_in",
                                          "texture",
                                          "sampler",
                                          "color",
                                          "user",
                                          "flat",
                                          "vertex_id",
                                          "instance_id",
                                          "point_size",
                                          "attribute",
                                          "id",
                                          "visible",
                                          "stitchable",
                                          "early_fragment_tests",
                                          "raster_order_group",
                                          "unroll",
                                          "loop",
                                          "required_threads_per_threadgroup",
                                          "invariant",
                                          "patch",
                                          "intersection",
                                          "payload",
                                          "object",
                                          "mesh",
                                          "alias",
                                          "no_inline",
                                          "always_inline"};

constexpr std::string_view kStandard[] = {"nodiscard", "maybe_unused",      "likely",
                                          "unlikely",  "fallthrough",       "deprecated",
                                          "noreturn",  "no_unique_address", "using"};

template <size_t N>
bool contains(const std::string_view (&names)[N], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace

uint32_t component_count(Builtin builtin) {
  switch (builtin) {
    case Builtin::ThreadPositionInGrid:
    case Builtin::ThreadPositionInThreadgroup:
    case Builtin::ThreadgroupPositionInGrid:
    case Builtin::ThreadsPerGrid:
    case Builtin::ThreadsPerThreadgroup:
    case Builtin::DispatchThreadsPerThreadgroup:
    case Builtin::ThreadgroupsPerGrid:
    case Builtin::GridOrigin:
    case Builtin::GridSize:
      return 3;
    default:
      return 1;
  }
}

std::optional<Builtin> find_builtin(std::string_view attribute) {
  for (const auto& [name, builtin] : kBuiltins) {
    if (name == attribute) return builtin;
  }
  return std::nullopt;
}

bool is_metal_attribute(std::string_view attribute) {
  return find_builtin(attribute).has_value() || contains(kOthers, attribute);
}

bool is_graphics_attribute(std::string_view attribute) { return contains(kGraphics, attribute); }

bool is_standard_attribute(std::string_view attribute) { return contains(kStandard, attribute); }

std::string annotation_name(std::string_view attribute) {
  return std::string(kPrefix).append(attribute);
}

std::optional<std::string_view> annotated_attribute(std::string_view annotation) {
  if (!annotation.starts_with(kPrefix)) return std::nullopt;
  return annotation.substr(kPrefix.size());
}

}  // namespace metal::compiler
