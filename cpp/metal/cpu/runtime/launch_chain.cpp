#include "metal/cpu/runtime/launch_chain.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "metal/cpu/runtime/jit.h"
#include "metal/cpu/runtime/system.h"

namespace metal::cpu {
namespace {

// The elements that a core runs through a chain fill this part of its own cache.
constexpr uint64_t kShareOfOwnCache = 2;

// Threads of all launches of a chain, which end within a fraction of a second: a thread that waits
// looks for Ctrl-C between chains.
constexpr uint64_t kMostThreads = uint64_t{1} << 27;

bool may_be_in_chain(const CpuKernel& code, const LaunchParameters& parameters) {
  const uint32_t* grid = parameters.threads_per_grid;
  return !code.element_accesses.empty() && grid[0] >= Dispatch::kManyThreads && grid[1] == 1 &&
         grid[2] == 1 && parameters.order_stride == 0;
}

struct Range {
  const char* begin;
  const char* end;
};

Range range_of(const ElementAccess& access, const LaunchParameters& parameters) {
  const auto* begin = static_cast<const char*>(parameters.buffers[access.buffer]);
  const uint64_t elements = parameters.threads_per_grid[0];
  return {begin, begin + (access.bytes ? access.bytes * elements : access.shared)};
}

// Whether threads at different positions of two launches may access the same memory, one of them to
// write it. If the buffers overlap, their elements must be the same.
bool meet(const ElementAccess& a, const Range& x, const ElementAccess& b, const Range& y) {
  if (!a.written && !b.written) return false;
  if (!std::less<>()(x.begin, y.end) || !std::less<>()(y.begin, x.end)) return false;
  return x.begin != y.begin || a.bytes != b.bytes || a.bytes == 0;
}

// The rule that makes chains legal: a thread depends only on what earlier launches wrote at its own
// position, and overwrites only what they are done with there.
bool depend_across_positions(const CpuKernel& one, const LaunchParameters& first,
                             const CpuKernel& other, const LaunchParameters& second) {
  return std::ranges::any_of(one.element_accesses, [&](const ElementAccess& a) {
    return std::ranges::any_of(other.element_accesses, [&](const ElementAccess& b) {
      return meet(a, range_of(a, first), b, range_of(b, second));
    });
  });
}

}  // namespace

bool LaunchChain::add(const Kernel& kernel, const CpuKernel& code,
                      const LaunchParameters& parameters) {
  if (!may_be_in_chain(code, parameters)) return false;
  const bool depends = std::ranges::any_of(links_, [&](const Link& link) {
    return depend_across_positions(link.code, link.parameters, code, parameters);
  });
  const uint64_t threads = parameters.threads_per_grid[0] * uint64_t{links_.size() + 1};
  if (depends || (!links_.empty() && threads > kMostThreads)) return false;
  Link& link = links_.emplace_back(kernel, code, parameters);
  if (link.dispatch.has_same_threadgroups(links_.front().dispatch)) return true;
  links_.pop_back();
  return false;
}

void LaunchChain::run() {
  if (links_.empty()) return;
  std::list<Link> links = std::exchange(links_, {});
  if (links.size() == 1) return links.front().dispatch.run();
  std::vector<Dispatch*> dispatches;
  std::map<const void*, uint64_t> buffers;  // bytes of an element
  for (Link& link : links) {
    if (&link != &links.back()) link.dispatch.keep_results_in_caches();
    dispatches.push_back(&link.dispatch);
    for (const ElementAccess& access : link.code.element_accesses)
      buffers[link.parameters.buffers[access.buffer]] = access.bytes;
  }
  uint64_t bytes = 1;
  for (const auto& [buffer, size] : buffers) bytes += size;
  Dispatch::run_chain(dispatches, second_level_cache() / kShareOfOwnCache / bytes);
}

}  // namespace metal::cpu
