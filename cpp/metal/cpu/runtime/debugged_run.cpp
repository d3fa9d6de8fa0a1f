#include "metal/cpu/runtime/debugged_run.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string_view>
#include <utility>

#include "metal/cpu/runtime/dispatch.h"
#include "metal/cpu/runtime/findings.h"

namespace metal::cpu {
namespace {

using Position = std::vector<uint32_t>;

// Shared by the thread that runs kernels and the debugger's.
struct Debugger {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Breakpoint> breakpoints;
  std::optional<Position> chosen;
  std::optional<DebugStop> stop;  // until the debugger takes it
  bool waits = false;             // a thread has stopped, and has not gone on

  // What it was told at the last stop, and where that was.
  DebugResume how = DebugResume::Continue;
  const DebuggedRun* run = nullptr;
  size_t depth = 0;

  bool has_breakpoint(const CheckSite& site, const std::string& kernel) const {
    return std::ranges::any_of(breakpoints, [&](const Breakpoint& point) {
      return point.line == site.line && is_in(point.file, site.file, kernel);
    });
  }

  // A file may be named by the end of its path.
  static bool is_in(std::string_view wanted, std::string_view file, std::string_view kernel) {
    if (wanted.empty() || wanted == file) return true;
    if (wanted == kernel) return !file.ends_with(".header");
    return file.size() > wanted.size() && file.ends_with(wanted) &&
           file[file.size() - wanted.size() - 1] == '/';
  }

  bool ends_step(const DebuggedRun& at, size_t now) const {
    if (how == DebugResume::Continue || run != &at) return false;
    return how == DebugResume::Step || now + (how == DebugResume::Finish ? 1 : 0) <= depth;
  }
};

Debugger& debugger() {
  static auto& instance = *new Debugger;  // kernels may run until the process ends
  return instance;
}

}  // namespace

void DebuggedRun::start_threadgroup(uint32_t threads) {
  frames_.assign(threads, {});
  lines_.assign(threads, {});
}

void DebuggedRun::enter(uint32_t thread, const char* description) {
  frames_[thread].push_back({.description = description, .addresses = {}});
  lines_[thread].push_back(0);
}

void DebuggedRun::leave(uint32_t thread) {
  frames_[thread].pop_back();
  lines_[thread].pop_back();
}

void DebuggedRun::declare(uint32_t thread, uint32_t number, uint64_t address) {
  std::vector<uint64_t>& addresses = frames_[thread].back().addresses;
  if (addresses.size() <= number) addresses.resize(size_t{number} + 1);
  addresses[number] = address;
}

void DebuggedRun::reach(const Group& group, uint32_t thread, const CheckSite& site,
                        uint32_t number) {
  std::vector<DebugFrame>& frames = frames_[thread];
  frames.back().site = number;
  // The parts of a loop's header are one line, which runs once.
  if (std::exchange(lines_[thread].back(), site.line) == site.line) return;
  const ThreadPosition place = position_of(group, thread);
  Position grid;
  for (int i = 0; i < 3; ++i) {
    const uint32_t size = group.launch->threads_per_threadgroup[i];
    grid.push_back(place.threadgroup[i] * size + place.thread[i]);
  }
  Debugger& d = debugger();
  std::unique_lock lock(d.mutex);
  if (d.chosen && *d.chosen != grid) return;
  const bool breaks = d.has_breakpoint(site, kernel_.name);
  if (!breaks && !d.ends_step(*this, frames.size())) return;
  while (d.waits && !dispatch_.stopped())  // for a thread of another launch
    d.changed.wait_for(lock, std::chrono::milliseconds(50));
  d.waits = true;
  if (!d.chosen) d.chosen = grid;
  d.run = this;
  d.depth = frames.size();
  d.stop = DebugStop{
      .kernel = kernel_.name, .source = kernel_.source, .breakpoint = breaks, .frames = frames};
  std::ranges::copy(grid, d.stop->grid);
  d.changed.notify_all();
  while (d.waits && !dispatch_.stopped()) d.changed.wait_for(lock, std::chrono::milliseconds(50));
  d.waits = false;
}

}  // namespace metal::cpu

namespace metal {

using cpu::debugger;

void set_breakpoints(std::vector<Breakpoint> breakpoints) {
  const std::lock_guard lock(debugger().mutex);
  debugger().breakpoints = std::move(breakpoints);
}

void choose_debugged_thread(std::optional<std::vector<uint32_t>> position) {
  const std::lock_guard lock(debugger().mutex);
  debugger().chosen = std::move(position);
}

std::optional<std::vector<uint32_t>> debugged_thread() {
  const std::lock_guard lock(debugger().mutex);
  return debugger().chosen;
}

std::optional<DebugStop> wait_for_stop(double seconds) {
  std::unique_lock lock(debugger().mutex);
  debugger().changed.wait_for(lock, std::chrono::duration<double>(seconds),
                              [] { return debugger().stop.has_value(); });
  return std::exchange(debugger().stop, std::nullopt);
}

void resume(DebugResume how) {
  const std::lock_guard lock(debugger().mutex);
  debugger().how = how;
  debugger().waits = false;
  debugger().changed.notify_all();
}

}  // namespace metal
