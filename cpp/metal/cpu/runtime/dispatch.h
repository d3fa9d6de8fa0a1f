// One launch of a kernel while it runs on the cores.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "metal/cpu/abi.h"
#include "metal/cpu/runtime/messages.h"
#include "metal/cpu/runtime/threadgroup_order.h"
#include "metal/cpu/runtime/worker.h"
#include "metal/cpu/variant.h"
#include "metal/driver.h"

namespace metal::cpu {

class CoverageRun;
class DebuggedRun;
class Findings;
class NumberOrigins;
class RaceDetector;
class RoundingErrors;
class ShadowBuffers;
class StampTables;
struct OrderedRun;
struct CpuCode;
struct CpuKernel;

class Dispatch {
 public:
  // The arguments must outlive run(). `screens`: the code is a screen (screening.h). `ordered`:
  // this is a run of the check of order, on one core.
  Dispatch(const Kernel& kernel, const CpuKernel& machine_code, const LaunchParameters& parameters,
           bool screens = false, OrderedRun* ordered = nullptr);
  ~Dispatch();

  // Returns when every threadgroup has run; throws LaunchError if one did not finish, and what the
  // handler of findings throws.
  void run();

  // A grid of so many threads is spread over all cores at once.
  static constexpr uint64_t kManyThreads = 65536;

  // Runs several launches, whose threadgroups are the same and which have no checks: a core runs
  // the next threadgroups, of at most `threads` threads together, of one after the other. Throws as
  // run() does, for the first one that failed.
  static void run_chain(std::span<Dispatch* const> dispatches, uint64_t threads);
  bool has_same_threadgroups(const Dispatch& other) const {
    return threads_ == other.threads_ && groups_ == other.groups_;
  }
  // Others will read them soon.
  void keep_results_in_caches() { launch_.cached_stores = ~uint64_t{0}; }

  const Launch& launch() const { return launch_; }
  const ThreadgroupOrder& order() const { return order_; }
  // The code for this threadgroup.
  const CpuCode& code(const Group& group) const;
  bool stopped(std::memory_order order = std::memory_order_seq_cst) const {
    return stopped_.load(order);
  }
  // Whether the kernel may read through one argument what it writes through another.
  bool shares_results() const { return shares_results_; }
  // Whether neighbouring threadgroups may run as one.
  bool joins_groups() const;

  bool screens() const { return screens_; }
  OrderedRun* ordered() const { return ordered_; }
  // The number that a profile gives the launch; 0 if it is in none.
  uint32_t profiled() const { return profiled_; }
  void profile(uint32_t launch) { profiled_ = launch; }
  uint64_t threadgroup_memory() const { return threadgroup_memory_; }
  uint64_t groups() const { return groups_; }

  // Of a checked launch, otherwise none. The pointers are null in screens and ordered runs; `races`
  // also if races are not looked for.
  Checks checks() const { return parameters_.checked ? parameters_.checked->checks : kNoChecks; }
  Findings* findings() const { return findings_.get(); }
  RaceDetector* races() const { return races_.get(); }
  // Null if nobody looks for what is not written.
  ShadowBuffers* shadows() const { return shadows_.get(); }
  NumberOrigins* numbers() const { return numbers_.get(); }
  RoundingErrors* rounding() const { return rounding_.get(); }
  CoverageRun* coverage() const { return coverage_.get(); }
  DebuggedRun* debugged() const { return debugged_.get(); }

  // Of os_log. Those of a screen and of reordered runs are held.
  Messages& messages() { return messages_; }

  // Ends the launch, from any thread, with this error. The first error counts.
  void stop(LaunchFault fault, const std::string& message);
  // Called by a worker whose kernel was aborted in this threadgroup.
  void fail(const Fault& fault, const Group& group);

 private:
  uint64_t run_first(uint64_t count);
  static void run_all_cores(std::span<Dispatch* const> dispatches, uint64_t first, uint64_t count,
                            uint64_t largest);
  void throw_failure();

  void lay_out(const JoinedGroups& joined);
  bool choose_code(const JoinedGroups& joined);
  void prepare_checks();
  void report_findings() const;

  const Kernel& kernel_;
  const CpuKernel& machine_code_;
  const LaunchParameters& parameters_;
  Launch launch_;
  bool shares_results_;
  ThreadgroupOrder order_;
  const CpuCode* codes_[8] = {};  // by the dimensions in which the grid's edge cuts the threadgroup
  uint32_t threads_ = 0;          // per threadgroup
  uint64_t groups_ = 0;
  uint64_t threadgroup_memory_ = 0;  // bytes
  std::vector<CheckedMemory> checked_memory_;
  std::unique_ptr<Findings> findings_;
  std::unique_ptr<RaceDetector> races_;
  std::unique_ptr<NumberOrigins> numbers_;
  std::unique_ptr<RoundingErrors> rounding_;
  std::unique_ptr<CoverageRun> coverage_;
  std::unique_ptr<DebuggedRun> debugged_;
  bool screens_;
  OrderedRun* ordered_;
  uint32_t profiled_ = 0;
  std::unique_ptr<StampTables> stamps_;  // of screens for races
  std::unique_ptr<ShadowBuffers> shadows_;
  Messages messages_;
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  LaunchFault fault_ = LaunchFault::Trap;
  std::string message_;
};

}  // namespace metal::cpu
