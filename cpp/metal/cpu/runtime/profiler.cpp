#include "metal/cpu/runtime/profiler.h"

#include <ucontext.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>

#include "metal/compiler_library.h"
#include "metal/cpu/runtime/dispatch.h"
#include "metal/cpu/runtime/source_lines.h"
#include "metal/cpu/runtime/worker.h"
#include "metal/signals.h"

namespace metal::cpu {
namespace {

uint64_t instruction_of(const void* context) {
  const auto* interrupted = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
  return static_cast<uint64_t>(interrupted->uc_mcontext.gregs[REG_RIP]);
#else
  return interrupted->uc_mcontext.pc;
#endif
}

// Runs on the thread that is sampled.
bool on_sample(int, siginfo_t* info, void* context) {
  if (info->si_code != SI_TKILL) return false;
  const Worker* worker = Worker::current_or_null();
  const Dispatch* dispatch = worker ? worker->dispatch() : nullptr;
  if (dispatch && dispatch->profiled() && worker->in_kernel())
    Profiler::instance().add_sample(dispatch->profiled(), instruction_of(context));
  return true;
}

uint32_t this_thread_number() {
  static std::atomic<uint32_t> count{0};
  thread_local const uint32_t number = ++count;
  return number;
}

void sort_lines(std::vector<ProfiledLine>& lines) {
  std::ranges::stable_sort(lines, std::ranges::greater(), &ProfiledLine::samples);
}

}  // namespace

Profiler& Profiler::instance() {
  static auto& profiler = *new Profiler;  // kernels may run until the process ends
  return profiler;
}

void Profiler::start() {
  const std::lock_guard lock(mutex_);
  if (active()) throw std::runtime_error("[profile] There is a profile already");
  add_handler();
  if (!samples_) samples_ = std::make_unique<Sample[]>(kMaxSamples);
  taken_ = 0;
  first_ += static_cast<uint32_t>(launches_.size());
  launches_.clear();
  start_ = Clock::now();
  active_ = true;
  sampler_ = std::thread([this] { sample_threads(); });
}

void Profiler::add_handler() {
  static std::once_flag once;
  std::call_once(once, [] { add_signal_handler({SIGPROF}, on_sample); });
}

void Profiler::sample_threads() {
  for (auto next = Clock::now() + kPeriod; active(); next += kPeriod) {
    std::this_thread::sleep_until(next);
    Worker::signal_busy(SIGPROF);
  }
}

Profile Profiler::stop() {
  active_ = false;
  if (sampler_.joinable()) sampler_.join();
  const std::lock_guard lock(mutex_);
  Profile profile;
  profile.period = std::chrono::duration<double, std::micro>(kPeriod).count();
  std::vector<Launch> launches = launches_;
  add_lines(launches);
  for (Launch& launch : launches) {
    if (!launch.ended) continue;
    for (const ProfiledLine& line : launch.result.lines) {
      auto known = std::ranges::find_if(profile.lines, [&](const ProfiledLine& other) {
        return std::tie(other.kernel, other.file, other.line, other.text) ==
               std::tie(line.kernel, line.file, line.line, line.text);
      });
      if (known == profile.lines.end()) {
        profile.lines.push_back(line);
      } else {
        known->samples += line.samples;
      }
    }
    profile.launches.push_back(std::move(launch.result));
  }
  sort_lines(profile.lines);
  return profile;
}

void Profiler::add_lines(std::vector<Launch>& launches) const {
  std::map<uint64_t, CodeLine> known;
  std::map<std::tuple<uint32_t, std::string, uint32_t>, uint64_t> counts;
  for (uint64_t i = 0; i < std::min(taken_.load(), kMaxSamples); ++i) {
    const Sample& sample = samples_[i];
    if (sample.launch < first_ || sample.launch - first_ >= launches.size()) continue;
    const auto found = known.find(sample.address);
    const CodeLine line = found == known.end()
                              ? known[sample.address] = compiler_library().line_at(sample.address)
                              : found->second;
    ++counts[{sample.launch - first_, line.file, line.line}];
  }
  for (const auto& [place, samples] : counts) {
    const auto& [number, file, line] = place;
    Launch& launch = launches[number];
    launch.result.lines.push_back(
        {launch.result.kernel, file, line, lines_of(launch.source, file)[line], samples});
  }
  for (Launch& launch : launches) sort_lines(launch.result.lines);
}

uint32_t Profiler::begin_launch(const Kernel& kernel, const LaunchParameters& parameters) {
  const std::lock_guard lock(mutex_);
  if (!active()) return 0;
  Launch launch;
  launch.result.kernel = kernel.name;
  launch.source = kernel.source;
  std::ranges::copy(parameters.threads_per_grid, launch.result.grid);
  std::ranges::copy(parameters.threads_per_threadgroup, launch.result.threadgroup);
  launch.result.start = now();
  launches_.push_back(std::move(launch));
  return first_ + static_cast<uint32_t>(launches_.size()) - 1;
}

void Profiler::end_launch(uint32_t number) {
  const std::lock_guard lock(mutex_);
  if (number < first_ || number - first_ >= launches_.size()) return;
  Launch& launch = launches_[number - first_];
  launch.result.duration = now() - launch.result.start;
  launch.ended = true;
}

void Profiler::add_part(uint32_t launch, Clock::time_point start, uint64_t threadgroups) {
  const uint32_t thread = this_thread_number();
  const std::lock_guard lock(mutex_);
  if (launch < first_ || launch - first_ >= launches_.size()) return;
  auto& parts = launches_[launch - first_].result.parts;
  auto part = std::ranges::find(parts, thread, &ProfiledLaunch::Part::thread);
  if (part == parts.end()) part = parts.insert(part, {thread, time(start), 0, 0});
  part->duration = now() - part->start;
  part->threadgroups += threadgroups;
}

void Profiler::add_sample(uint32_t launch, uint64_t address) {
  const uint64_t place = taken_.fetch_add(1, std::memory_order_relaxed);
  if (place < kMaxSamples) samples_[place] = {address, launch};
}

double Profiler::now() const { return time(Clock::now()); }

double Profiler::time(Clock::time_point point) const {
  return std::chrono::duration<double, std::micro>(point - start_).count();
}

}  // namespace metal::cpu
