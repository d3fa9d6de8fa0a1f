#include "metal/cuda/driver/cuda_stream.h"

#include <atomic>
#include <bit>
#include <cstdio>
#include <thread>

#include "metal/cuda/driver/launch.h"
#include "metal/spin.h"

namespace metal::cuda {
namespace {

// A launch would block if the driver's own queue were full, and then nothing could end it.
constexpr size_t kMaxPending = 256;
constexpr uint32_t kLaunchesOfMark = 64;  // at most
// How long an interrupted kernel has to end by itself.
constexpr auto kGracePeriod = std::chrono::seconds(2);
constexpr auto kCheckInterval = std::chrono::microseconds(100);
// So long a wait keeps its thread running: a thread that sleeps wakes up to 200 us too late.
constexpr auto kBusyWait = std::chrono::milliseconds(10);

LaunchFault fault_of(Result result) {
  switch (result) {
    case Result::IllegalAddress:
    case Result::MisalignedAddress:
    case Result::InvalidAddressSpace:
      return LaunchFault::BadAccess;
    case Result::StackError:
      return LaunchFault::StackOverflow;
    default:
      return LaunchFault::Trap;
  }
}

}  // namespace

CudaStream::CudaStream(Gpu& gpu, GpuMemory& memory) : gpu_(gpu), memory_(memory) {}

CudaStream::~CudaStream() {
  if (!gpu_.try_enter()) return;  // a running kernel still writes to this memory
  if (handle_) gpu_.api().cuStreamDestroy_v2(handle_);
  if (ended_) gpu_.api().cuMemFreeHost(ended_);
  if (constants_) memory_.deallocate_uncounted(constants_);
}

void CudaStream::open() {
  if (handle_) return;
  if (!constants_) constants_ = memory_.allocate_uncounted(ConstantCopies::kBlockBytes);
  if (!ended_) {
    void* memory = nullptr;
    gpu_.check(gpu_.api().cuMemHostAlloc(&memory, sizeof(uint32_t), kHostPortable),
               "get memory for a queue of the GPU");
    ended_ = new (memory) uint32_t(0);
  }
  gpu_.check(gpu_.api().cuStreamCreate(&handle_, kStreamNonBlocking), "open a queue of the GPU");
}

void CudaStream::launch(const Kernel& kernel, const LaunchParameters& parameters) {
  gpu_.enter();
  const auto& made = static_cast<const CudaKernel&>(kernel);
  const LaunchForm form = made.form_for(parameters);
  const LoadedCode& code = made.code_for(form);
  begin(kernel.name, parameters);
  for_each_part(parameters, form.several ? code.interface().at_once : 1,
                [&](const GridPart& part) { launch_part(code, kernel, parameters, part); });
  constant_copies_.end_launch();
}

// A library reports what fails at its start; faults of what it launched show while others wait.
void CudaStream::start(const LibraryCall& call, const LaunchParameters& parameters) {
  gpu_.enter();
  begin(call.name, parameters);
  call.start(handle_, parameters.buffers);
  end(call.name, parameters.trusted, Result::Success);
  constant_copies_.end_launch();
}

// Before work is put into the GPU's queue.
void CudaStream::begin(const std::string& name, const LaunchParameters& parameters) {
  open();
  if (!parameters.trusted && untrusted_ && *untrusted_ != name) write_mark();
  time_limit_ = parameters.time_limit;
  interrupts_before_ = parameters.interrupts_before;
  if (launched_ >= kMaxPending) wait_for(launched_ - kMaxPending, {});
  if (interrupt_count() != interrupts_before_) {
    throw LaunchError(LaunchFault::Interrupted, "[" + name + "] Interrupted before its start");
  }
}

// Counts the work. `result` says how putting it into the queue went.
void CudaStream::end(const std::string& name, bool trusted, Result result) {
  if (result != Result::Success) fail(result);
  {
    const std::lock_guard lock(mutex_);
    pending_.push_back({++launched_, &name, trusted});
  }
  if (!trusted) untrusted_ = &name;
  if (launched_ - marked_ >= kLaunchesOfMark) write_mark();
}

void CudaStream::write_mark() {
  const Result result = gpu_.api().cuStreamWriteValue32_v2(
      handle_, reinterpret_cast<uintptr_t>(ended_), launched_, 0);
  if (result != Result::Success) fail(result);
  marked_ = launched_;
  untrusted_ = nullptr;
}

uint64_t CudaStream::mark() {
  if (marked_ != launched_) {
    gpu_.enter();
    write_mark();
  }
  return marked_;
}

void CudaStream::launch_part(const LoadedCode& code, const Kernel& kernel,
                             const LaunchParameters& parameters, const GridPart& part) {
  const uint32_t(&size)[3] = parameters.threads_per_threadgroup;
  const bool flat = code.interface().is_flat();
  std::string bytes = pack_parameters(code.interface(), parameters, part);
  size_t byte_count = bytes.size();
  void* arguments[] = {kLaunchBuffer, bytes.data(), kLaunchBufferBytes, &byte_count, nullptr};
  const Result result = gpu_.api().cuLaunchKernel(
      code.function(), part.blocks[0], part.blocks[1], part.blocks[2],
      flat ? whole_warps(size[0] * size[1] * size[2]) : size[0], flat ? 1 : size[1],
      flat ? 1 : size[2], dynamic_threadgroup_memory(parameters), handle_, nullptr, arguments);
  if (result == Result::OutOfResources) {
    throw std::runtime_error("[" + kernel.name + "] The NVIDIA GPU has too few registers for " +
                             "a threadgroup of this size");
  }
  end(kernel.name, parameters.trusted, result);
}

void CudaStream::upload(void* host, size_t bytes) {
  gpu_.enter();
  open();
  upload_to(std::bit_cast<DeviceAddress>(memory_.counterpart(host)), host, bytes);
}

void CudaStream::upload_to(DeviceAddress to, const void* bytes, size_t count) {
  try {
    memory_.staging().upload(to, bytes, count, handle_);
  } catch (const std::runtime_error&) {  // after a fault, every call fails
    const Result result = gpu_.api().cuStreamQuery(handle_);
    if (result != Result::Success && result != Result::NotReady) fail(result);
    throw;
  }
}

void CudaStream::copy_from(DeviceMemory& device, void* host, size_t bytes) {
  gpu_.enter();
  open();
  const auto& from = static_cast<const GpuMemory&>(device);
  const Result result = gpu_.api().cuMemcpyPeerAsync(
      std::bit_cast<DeviceAddress>(memory_.counterpart(host)), gpu_.context(),
      std::bit_cast<DeviceAddress>(from.counterpart(host)), from.gpu().context(), bytes, handle_);
  if (result != Result::Success) fail(result);
}

ConstantCopy CudaStream::copy_constant(const void* bytes, size_t count) {
  gpu_.enter();
  open();
  if (!constants_) return {};  // no memory was left
  return constant_copies_.find(
      memory_.counterpart(constants_), {static_cast<const char*>(bytes), count},
      [&](char* to) { upload_to(std::bit_cast<DeviceAddress>(to), bytes, count); });
}

bool CudaStream::has_ended(uint32_t number) const {
  const uint32_t ended = std::atomic_ref<uint32_t>(*ended_).load(std::memory_order_acquire);
  return static_cast<int32_t>(ended - number) >= 0;
}

bool CudaStream::has_passed(uint64_t mark) const {
  return !ended_ || has_ended(static_cast<uint32_t>(mark));
}

void CudaStream::wait_for(uint64_t mark, const std::function<void()>& poll) {
  const auto ended = [&] { return has_passed(mark); };
  if (!ended()) gpu_.enter();
  const auto start = Clock::now();
  Watch watch{start, Clock::time_point::max(), 0};
  spin_until(ended);
  while (!ended()) {
    check_progress(watch);
    if (poll) poll();
    if (Clock::now() - start < kBusyWait) {
      spin_until(ended);
    } else {
      std::this_thread::sleep_for(kCheckInterval);
    }
  }
  const std::lock_guard lock(mutex_);
  while (!pending_.empty() && has_ended(pending_.front().number)) pending_.pop_front();
}

// Throws if waiting makes no more sense: after a fault, at the time limit, after an interrupt.
void CudaStream::check_progress(Watch& watch) {
  const Result result = gpu_.api().cuStreamQuery(handle_);
  if (result != Result::Success && result != Result::NotReady) fail(result);
  const auto now = Clock::now();
  const uint32_t ended = std::atomic_ref<uint32_t>(*ended_).load();
  if (ended != watch.ended) {
    watch.ended = ended;
    watch.progress = now;
  }
  const std::chrono::duration<double> since_progress = now - watch.progress;
  const double time_limit = time_limit_;
  if (time_limit > 0 && since_progress.count() > time_limit) {
    char text[160];
    std::snprintf(text, sizeof(text),
                  "The kernel ran longer than the time limit of %g seconds "
                  "(environment variable MLX_KERNEL_TIME_LIMIT)",
                  time_limit);
    abandon(LaunchFault::TimeLimit, text);
  }
  if (interrupt_count() == interrupts_before_) return;
  if (watch.interrupted == Clock::time_point::max()) watch.interrupted = now;
  if (now - watch.interrupted > kGracePeriod) {
    abandon(LaunchFault::Interrupted, "The kernel was interrupted");
  }
}

// The name of the kernel that the GPU runs: of those since the last mark, the one that may fail.
std::string CudaStream::running() {
  const std::lock_guard lock(mutex_);
  const Pending* first = nullptr;
  for (const Pending& launch : pending_) {
    if (has_ended(launch.number)) continue;
    if (!first || first->trusted) first = &launch;
    if (!first->trusted) break;
  }
  return first ? "[" + *first->name + "] " : std::string();
}

void CudaStream::forget_pending() {
  const std::lock_guard lock(mutex_);
  pending_.clear();
}

void CudaStream::fail(Result result) {
  const std::string message =
      running() + "The kernel failed on the NVIDIA GPU: " + gpu_.api().describe(result);
  forget_pending();
  gpu_.lose(message);
  throw LaunchError(fault_of(result), message +
                                          ". The GPU is lost to this process: start a new one to "
                                          "use it again");
}

// Only the end of the process ends a running kernel.
void CudaStream::abandon(LaunchFault fault, const std::string& why) {
  const std::string message = running() + why;
  forget_pending();
  gpu_.lose(message + ", and it still runs");
  throw LaunchError(fault, message +
                               ". It still runs on the NVIDIA GPU, which is lost to this process: "
                               "start a new one to use it again");
}

}  // namespace metal::cuda
