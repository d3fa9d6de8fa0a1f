// Runs one launch of a kernel on the cores.
#include "metal/cpu/runtime/dispatch.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <list>

#include "metal/cpu/runtime/coverage_run.h"
#include "metal/cpu/runtime/debugged_run.h"
#include "metal/cpu/runtime/fault_message.h"
#include "metal/cpu/runtime/faults.h"
#include "metal/cpu/runtime/findings.h"
#include "metal/cpu/runtime/helpers.h"
#include "metal/cpu/runtime/jit.h"
#include "metal/cpu/runtime/monitor.h"
#include "metal/cpu/runtime/number_origins.h"
#include "metal/cpu/runtime/ordered_run.h"
#include "metal/cpu/runtime/parallel.h"
#include "metal/cpu/runtime/race_detector.h"
#include "metal/cpu/runtime/rounding_errors.h"
#include "metal/cpu/runtime/shadow_buffers.h"
#include "metal/cpu/runtime/stamp_tables.h"
#include "metal/cpu/runtime/system.h"
#include "metal/cpu/variant.h"
#include "metal/sanitizers.h"
#include "metal/signals.h"

namespace metal::cpu {
namespace {

constexpr auto kShortTime = std::chrono::microseconds(5);
constexpr auto kMeasurableTime = std::chrono::microseconds(1);  // the caches are warm by then
constexpr auto kWakingTime = std::chrono::microseconds(10);     // of a thread, if a core is idle
constexpr uint64_t kChunksPerCore = 4;  // in the rest of the grid, when a core takes its next chunk
constexpr uint64_t kGroupsPerCore = 64;    // smallest chunks, enough to balance the cores
constexpr uint64_t kOrderedThreads = 512;  // per threadgroup in a reordered launch: fits a cache

// Threads of a row in threadgroups of several rows, if they access memory that is far apart. The
// next rows access the same lines, which the first-level cache and its page table then still hold.
constexpr uint64_t kTileRow = 128;
constexpr uint64_t kPairOfLines = 2;  // which caches fetch together

// Results of this part of the last-level cache already evict much of it. If many cores share the
// cache, the second constant is the limit.
constexpr uint64_t kCacheShare = 2;
constexpr uint64_t kLargestShare = uint64_t{32} << 20;
// Bytes that one thread is assumed to write at most, without loops and with them.
constexpr uint64_t kMaxResults = 256;
constexpr uint64_t kMaxLoopResults = uint64_t{64} << 10;

uint64_t divide_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit; }

// Hands out threadgroups [next, last) in chunks that shrink, so that all cores finish together.
// Each core takes the next chunk until none is left.
struct Chunks {
  std::span<Dispatch* const> dispatches;  // of which each runs a chunk after the one before
  std::atomic<uint64_t> next;
  uint64_t last;
  uint64_t cores;
  uint64_t smallest, largest;  // number of threadgroups in a chunk
  uint64_t threads;            // that take part
  std::atomic<uint64_t> arrived{0};

  void run() {
    if (arrived++ == 0) run_until_all_arrived();
    while (run_next(cores * kChunksPerCore)) {
    }
  }

  // The first thread runs small chunks while the other threads start. They wake each other one by
  // one.
  void run_until_all_arrived() {
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < kWakingTime * (threads - 1)) {
      if (arrived == threads || !run_next(cores * kGroupsPerCore)) return;
    }
    if (arrived < threads) move_late_helpers();
  }

  // Runs the next chunk, one of `parts` equal parts of the rest. False if nothing is left.
  bool run_next(uint64_t parts) {
    uint64_t first = next;
    uint64_t end;
    do {
      const uint64_t size = std::clamp((last - first) / parts, smallest, largest);
      end = std::min(first + size, last);
      if (first == end || any_stopped()) return false;
    } while (!next.compare_exchange_weak(first, end, std::memory_order_relaxed));
    for (Dispatch* dispatch : dispatches) {
      Worker::current().run(*dispatch, first, end);
      if (dispatch->stopped()) return false;
    }
    return true;
  }

  bool any_stopped() const {
    return std::ranges::any_of(dispatches, [](const Dispatch* d) { return d->stopped(); });
  }
};

// Whether the results are too many for the caches. Results that overlap an input are in the caches
// already.
bool writes_beyond_caches(const FunctionInfo& function, const LaunchParameters& parameters,
                          bool repeats) {
  uint64_t threads = 1;
  for (uint32_t count : parameters.threads_per_grid) threads *= count;
  const uint64_t many = std::min(last_level_cache() / kCacheShare, kLargestShare);
  if (threads < many / (repeats ? kMaxLoopResults : kMaxResults)) return false;
  uint64_t written = 0;
  for (const ArgumentInfo& argument : function.arguments) {
    if (argument.kind != ArgumentKind::Buffer || !argument.writable) continue;
    const void* buffer = parameters.buffers[argument.index];
    if (std::ranges::count(parameters.buffers, buffer) > 1) return false;
    written += parameters.buffer_bytes[argument.index];
  }
  return written >= many;
}

bool overlap(const LaunchParameters& parameters, uint32_t one, uint32_t other) {
  const auto* a = static_cast<const char*>(parameters.buffers[one]);
  const auto* b = static_cast<const char*>(parameters.buffers[other]);
  return std::less<>()(a, b + parameters.buffer_bytes[other]) &&
         std::less<>()(b, a + parameters.buffer_bytes[one]);
}

bool has_overlapping_results(const FunctionInfo& function, const LaunchParameters& parameters) {
  auto is_buffer = [](const ArgumentInfo& argument) {
    return argument.kind == ArgumentKind::Buffer;
  };
  return std::ranges::any_of(function.arguments, [&](const ArgumentInfo& result) {
    return is_buffer(result) && result.writable &&
           std::ranges::any_of(function.arguments, [&](const ArgumentInfo& other) {
             return is_buffer(other) && &other != &result &&
                    overlap(parameters, result.index, other.index);
           });
  });
}

bool has_few_threads(const LaunchParameters& parameters) {
  return std::ranges::all_of(parameters.threads_per_grid, [](uint32_t count) {
    return count <= kFewThreads - kMaxJoinedRow;  // lanes without a thread are beyond the grid
  });
}

// How many threadgroups, next to each other along a dimension, run as one: so many that code can
// run whole columns at once (control/jam_rows.h), unless too few would be left for all cores.
uint32_t columns_in_one(const CpuKernel& kernel, const LaunchParameters& parameters) {
  const uint32_t dimension = kernel.column_dimension;
  const auto& size = parameters.threads_per_threadgroup;
  const auto& grid = parameters.threads_per_grid;
  if (dimension == 0 || kMostAtOnce % size[dimension] != 0 || grid[dimension] < kMostAtOnce)
    return 1;
  uint64_t groups = divide_up(grid[dimension], kMostAtOnce);
  for (const uint32_t other : {0u, 3 - dimension}) groups *= divide_up(grid[other], size[other]);
  return groups < kChunksPerCore * parallel_width() ? 1 : kMostAtOnce / size[dimension];
}

// How many neighbouring threadgroups of a row run as one. Then the costs per threadgroup are paid
// less often, rows that are shorter than a gang become longer, and what is prefetched for the next
// threadgroup has time to arrive. `size`: of the threadgroups.
uint32_t groups_in_one(const CpuKernel& kernel, const LaunchParameters& parameters,
                       const std::array<uint32_t, 3>& size) {
  const auto& grid = parameters.threads_per_grid;
  if (grid[0] < uint64_t{2} * size[0]) return 1;
  const bool ordered = !ThreadgroupOrder(parameters, 1).natural();
  const bool tiled = kernel.jumps_along_rows && uint64_t{size[1]} * size[2] > 1;
  const uint64_t longest = std::min<uint64_t>(tiled     ? kTileRow
                                              : ordered ? kOrderedThreads
                                                        : kMaxCoarsenedRow,
                                              grid[0]);
  const uint64_t columns = divide_up(grid[1], size[1]) * divide_up(grid[2], size[2]);
  const uint64_t fewest = parallel_width() * kGroupsPerCore;
  uint32_t count = 1;
  for (uint64_t length = uint64_t{2} * size[0];
       length <= longest && grid[0] / length * columns >= fewest &&
       !(ordered && ThreadgroupOrder(parameters, 2 * count).natural());
       length *= 2)
    count *= 2;
  return count;
}

// The threadgroups' size, larger than the author's if threads may run in any threadgroup.
std::array<uint32_t, 3> coarsened_size(const CpuKernel& kernel,
                                       const LaunchParameters& parameters) {
  std::array<uint32_t, 3> size = std::to_array(parameters.threads_per_threadgroup);
  if (!kernel.threads_are_independent) return size;
  size[kernel.column_dimension] *= columns_in_one(kernel, parameters);
  size[0] *= groups_in_one(kernel, parameters, size);
  return size;
}

// The neighbouring threadgroups, whose threads wait for each other, that run as one. None is cut,
// and their memory has a size that code knows.
JoinedGroups groups_to_join(const CpuKernel& kernel, const LaunchParameters& parameters) {
  const auto& size = parameters.threads_per_threadgroup;
  const auto& grid = parameters.threads_per_grid;
  const JoinedGroups joined = kernel.groups_to_join(size);
  if (!joined.any() || !ThreadgroupOrder(parameters, 1).natural()) return {};
  if (std::ranges::any_of(parameters.threadgroup_memory, [](auto bytes) { return bytes != 0; }))
    return {};
  uint64_t groups = 1;
  for (unsigned i = 0; i < 3; ++i) {
    if (grid[i] % size[i] != 0) return {};
    groups *= grid[i] / size[i];
  }
  return groups / joined.count < parallel_width() * kChunksPerCore ? JoinedGroups{} : joined;
}

}  // namespace

Dispatch::Dispatch(const Kernel& kernel, const CpuKernel& machine_code,
                   const LaunchParameters& parameters, bool screens, OrderedRun* ordered)
    : kernel_(kernel),
      machine_code_(machine_code),
      parameters_(parameters),
      launch_{},
      shares_results_(has_overlapping_results(kernel.info, parameters)),
      screens_(screens),
      ordered_(ordered),
      messages_(kernel.name, screens || (ordered && !ordered->prints)) {
  std::copy(std::begin(parameters.buffers), std::end(parameters.buffers), launch_.buffers);
  launch_.cached_stores =
      writes_beyond_caches(kernel.info, parameters, machine_code.repeats) ? 0 : ~uint64_t{0};
  uint64_t offset = divide_up(machine_code.static_threadgroup_memory, 16) * 16;
  for (uint32_t i = 0; i < kMaxBuffers; ++i) {
    launch_.threadgroup_offsets[i] = static_cast<uint32_t>(offset);
    offset += divide_up(parameters.threadgroup_memory[i], 16) * 16;
  }
  threadgroup_memory_ = offset;
  const JoinedGroups joined = groups_to_join(machine_code, parameters);
  lay_out(joined);
  if (!choose_code(joined)) {
    lay_out({});
    choose_code({});
  }
  if (ordered && ordered->schedule) order_ = ThreadgroupOrder(ordered->schedule->order(groups_));
  if (parameters.checked) prepare_checks();
}

Dispatch::~Dispatch() = default;

// Divides the grid into threadgroups, of which some run as one.
void Dispatch::lay_out(const JoinedGroups& joined) {
  auto size = coarsened_size(machine_code_, parameters_);
  size[joined.dimension] *= joined.count;
  order_ = ThreadgroupOrder(parameters_, size[0] / parameters_.threads_per_threadgroup[0]);
  launch_.order_stride = order_.natural() ? 0 : parameters_.order_stride;
  threads_ = 1;
  groups_ = 1;
  for (unsigned i = 0; i < 3; ++i) {
    launch_.threads_per_grid[i] = parameters_.threads_per_grid[i];
    launch_.threads_per_threadgroup[i] = size[i];
    launch_.threadgroups_per_grid[i] =
        static_cast<uint32_t>(divide_up(parameters_.threads_per_grid[i], size[i]));
    threads_ *= size[i];
    groups_ *= launch_.threadgroups_per_grid[i];
  }
  if (machine_code_.groups_write_columns && order_.natural() && !ordered_)
    order_ = ThreadgroupOrder(launch_.threadgroups_per_grid[0], kPairOfLines, groups_);
}

void Dispatch::prepare_checks() {
  const bool finds_races = checks() & kCheckRaces;
  if (!screens_ && !ordered_) findings_ = std::make_unique<Findings>();
  if (!screens_ && checks() & kCheckNumbers) numbers_ = std::make_unique<NumberOrigins>();
  if (checks() & kCheckRounding) rounding_ = std::make_unique<RoundingErrors>();
  if (checks() & kCoverage) coverage_ = std::make_unique<CoverageRun>();
  if (checks() & kDebug) debugged_ = std::make_unique<DebuggedRun>(*this, kernel_);
  if (!screens_ && finds_races) races_ = std::make_unique<RaceDetector>();
  checked_memory_.resize(size_t{kCheckedThreadgroup} + 1);
  for (uint32_t i = 0; i < kMaxBuffers; ++i) {
    const CheckedLaunch::Extent& extent = parameters_.checked->buffers[i];
    checked_memory_[i] = {extent.begin, extent.bytes};
    checked_memory_[kMaxBuffers + i] = {nullptr, parameters_.threadgroup_memory[i]};
  }
  if (screens_ && finds_races)
    stamps_ = std::make_unique<StampTables>(kernel_.info, threadgroup_memory_, checked_memory_);
  if (checks() & kCheckUninitialised) {
    shadows_ = std::make_unique<ShadowBuffers>(kernel_.info, parameters_, checked_memory_);
  }
  launch_.checked = checked_memory_.data();
}

void Dispatch::report_findings() const {
  if (shadows_ && !stopped()) shadows_->report(*findings_);
  if (rounding_) rounding_->report(*findings_);
  const auto reports = findings_->reports(kernel_.name, kernel_.source);
  if (!reports.empty() && parameters_.checked->handler) parameters_.checked->handler(reports);
}

// Runs before the launch starts, as code may have to be generated. False if there is none for
// these joined threadgroups.
bool Dispatch::choose_code(const JoinedGroups& joined) {
  const LaunchFacts facts{.separate_buffers = !shares_results_,
                          .few_threads = has_few_threads(parameters_),
                          .joined = joined};
  uint32_t sizes[3][2];                 // of whole threadgroups and of cut ones
  unsigned has_whole = 0, has_cut = 0;  // dimensions, as bits
  for (unsigned i = 0; i < 3; ++i) {
    const uint32_t whole = launch_.threads_per_threadgroup[i], grid = launch_.threads_per_grid[i];
    sizes[i][0] = whole;
    sizes[i][1] = grid % whole;
    has_whole |= static_cast<unsigned>(grid >= whole) << i;
    has_cut |= static_cast<unsigned>(sizes[i][1] != 0) << i;
  }
  for (unsigned cut = 0; cut < 8; ++cut) {
    if ((cut & ~has_cut) != 0 || (~cut & ~has_whole & 7) != 0) continue;
    const uint32_t size[] = {sizes[0][cut & 1], sizes[1][cut >> 1 & 1], sizes[2][cut >> 2]};
    codes_[cut] = &machine_code_.code_for(size, launch_.threads_per_threadgroup[0], facts);
    if (!codes_[cut]->entry) return false;
  }
  return true;
}

const CpuCode& Dispatch::code(const Group& group) const {
  unsigned cut = 0;
  for (unsigned i = 0; i < 3; ++i)
    cut |= static_cast<unsigned>(group.size[i] != launch_.threads_per_threadgroup[i]) << i;
  return *codes_[cut];
}

bool Dispatch::joins_groups() const {
  return machine_code_.threads_are_independent && order_.natural();
}

void Dispatch::run() {
  install_fault_handlers();
  {
    Monitored registration(*this, parameters_.time_limit, parameters_.interrupts_before);
    if (races_ || stamps_ || ordered_ || coverage_ || debugged_ || rounding_) {
      Worker::current().run(*this, 0, groups_);
    } else {
      uint64_t done = groups_ * threads_ < kManyThreads || groups_ == 1 ? run_first(groups_) : 0;
      Dispatch* const self = this;
      if (done < groups_ && !stopped()) run_all_cores({&self, 1}, done, groups_ - done, groups_);
    }
  }
  messages_.end();
  if (coverage_) coverage_->add_to_total(kernel_.name, kernel_.source);
  if (findings_) report_findings();
  throw_failure();
}

void Dispatch::throw_failure() {
  if (!stopped()) return;
  std::lock_guard lock(mutex_);
  throw LaunchError(fault_, message_);
}

void Dispatch::run_chain(std::span<Dispatch* const> dispatches, uint64_t threads) {
  install_fault_handlers();
  {
    std::list<Monitored> registrations;
    for (Dispatch* d : dispatches) {
      const double limit = d->parameters_.time_limit * static_cast<double>(dispatches.size());
      registrations.emplace_back(*d, limit, d->parameters_.interrupts_before);
    }
    const Dispatch& first = *dispatches.front();
    run_all_cores(dispatches, 0, first.groups_, std::max<uint64_t>(threads / first.threads_, 1));
  }
  for (Dispatch* d : dispatches) d->messages_.end();
  for (Dispatch* d : dispatches) d->throw_failure();
}

// Runs a small grid on the calling thread. Returns early, for all cores to continue, if it takes
// long, or as soon as the last threadgroups' time says that the rest would take longer than other
// threads need to start.
uint64_t Dispatch::run_first(uint64_t count) {
  Worker& worker = Worker::current();
  if (count == 1) {  // does not need the time
    worker.run(*this, 0, 1);
    return 1;
  }
  const auto start = std::chrono::steady_clock::now();
  auto before = start;
  uint64_t done = 0;
  for (uint64_t step = 1; done < count && !stopped(); step *= 2) {
    const uint64_t last = std::min(done + step, count);
    worker.run(*this, done, last);
    const auto now = std::chrono::steady_clock::now();
    const auto rest = (now - before) * (count - last) / (last - done);
    done = last;
    before = now;
    if (now - start > kShortTime || (now - start > kMeasurableTime && rest > kWakingTime)) break;
  }
  return done;
}

void Dispatch::run_all_cores(std::span<Dispatch* const> dispatches, uint64_t first, uint64_t count,
                             uint64_t largest) {
  const uint64_t cores = parallel_width();
  const uint64_t threads = std::min(cores, count);
  const uint64_t smallest = std::min(divide_up(count, cores * kGroupsPerCore), largest);
  Chunks chunks{dispatches, first, first + count, cores, smallest, largest, threads};
  auto run = [](void* context) {
    METAL_HAPPENS_AFTER(context);
    static_cast<Chunks*>(context)->run();
    METAL_HAPPENS_BEFORE(context);
  };
  METAL_HAPPENS_BEFORE(&chunks);
  run_parallel(threads, run, &chunks);
  METAL_HAPPENS_AFTER(&chunks);
}

void Dispatch::stop(LaunchFault fault, const std::string& message) {
  {
    std::lock_guard lock(mutex_);
    if (stopped()) return;
    fault_ = fault;
    message_ = "[" + kernel_.name + "] " + message;
    stopped_.store(true);
  }
  Worker::signal_all(*this, kStopSignal);
}

void Dispatch::fail(const Fault& fault, const Group& group) {
  if (fault.kind == Fault::Stopped) return;  // the caller of stop() has set the message
  const FaultScene scene{kernel_.info, parameters_, group, threadgroup_memory_};
  stop(launch_fault(fault), "The kernel was stopped: " + describe(fault, scene));
}

}  // namespace metal::cpu
