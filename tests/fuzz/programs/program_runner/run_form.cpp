#include "run_form.h"

#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "metal/driver.h"

namespace metal::fuzz {
namespace {

#ifdef METAL_EMULATED
constexpr int kSlower = 20;  // a launch may compile code
#else
constexpr int kSlower = 1;
#endif
constexpr double kLaunchSeconds = kSlower * 10;
constexpr int kCpuSeconds = kSlower * 30;    // for one program with its compilation
constexpr int kWallSeconds = kSlower * 300;  // for a program that only sleeps

constexpr const char* kReference = "reference";
constexpr const char* kCuda = "cuda";
constexpr const char* kChecked = "checked";
constexpr Checks kChecks = kCheckBounds | kCheckBarriers | kCheckRaces | kCheckUninitialised;

template <size_t N>
void copy_text(char (&to)[N], const std::string& text) {
  std::strncpy(to, text.c_str(), N - 1);
}

void choose_form(const Form& form) {
  if (form == kReference) {
    setenv("MLX_CPU_REFERENCE", "1", 1);
  } else if (form == kCuda) {
    setenv("MLX_METAL_DEVICE", "cuda", 1);
  } else if (form != kChecked) {
    setenv("MLX_CPU_TARGET", form.c_str(), 1);
  }
}

// The system ends this process if a program takes too long.
void restart_clocks() {
  const itimerval cpu = {{0, 0}, {kCpuSeconds, 0}}, wall = {{0, 0}, {kWallSeconds, 0}};
  setitimer(ITIMER_PROF, &cpu, nullptr);
  setitimer(ITIMER_REAL, &wall, nullptr);
}

// Device memory of one launch.
class DeviceBuffers {
 public:
  DeviceBuffers(const ProgramRequest& request, Stream& stream, LaunchParameters& parameters)
      : request_(request) {
    for (size_t i = 0; i < request.buffers.size(); ++i) {
      const BufferRequest& buffer = request.buffers[i];
      const size_t size = memory_of(buffer), start = kFence + buffer.offset;
      auto* memory = static_cast<char*>(default_driver().allocator().allocate(size));
      std::memset(memory, kFenceByte, size);
      std::memcpy(memory + start, buffer.bytes.data(), buffer.bytes.size());
      memory_.push_back(memory);
      if (device_) stream.upload(memory, size);
      void* first = memory + start;
      parameters.buffers[i] = device_ ? device_->counterpart(first) : first;
      parameters.buffer_bytes[i] = size - start;
    }
  }
  ~DeviceBuffers() {
    for (char* memory : memory_) default_driver().allocator().deallocate(memory);
  }

  void copy_to(char* to) const {
    for (size_t i = 0; i < memory_.size(); ++i) {
      const size_t size = memory_of(request_.buffers[i]);
      if (device_) device_->download(memory_[i], size);
      std::memcpy(to, memory_[i], size);
      to += size;
    }
  }

 private:
  DeviceMemory* const device_ = default_driver().device_memory();
  const ProgramRequest& request_;
  std::vector<char*> memory_;
};

// Reports end the launch: the programs are right.
std::shared_ptr<const CheckedLaunch> make_checked(const ProgramRequest& request,
                                                  const LaunchParameters& parameters) {
  auto checked = std::make_shared<CheckedLaunch>();
  checked->checks = kChecks;
  checked->handler = [](const std::vector<CheckReport>& reports) {
    throw LaunchError(LaunchFault::Trap, describe(reports));
  };
  checked->buffers.resize(kMaxBufferBindings);
  for (size_t i = 0; i < request.buffers.size(); ++i) {
    checked->buffers[i] = {static_cast<const char*>(parameters.buffers[i]),
                           request.buffers[i].bytes.size()};
  }
  return checked;
}

void launch(const ProgramRequest& request, const Program& program, bool is_checked, char* buffers,
            FormResult& result) {
  Driver& driver = default_driver();
  const auto kernel = driver.load(program, request.name, request.constants, request.name,
                                  is_checked ? kChecks : kNoChecks);
  copy_text(result.why_scalar, kernel->why_scalar(request.threadgroup));
  LaunchParameters parameters;
  parameters.time_limit = kLaunchSeconds;
  std::copy_n(request.grid, 3, parameters.threads_per_grid);
  std::copy_n(request.threadgroup, 3, parameters.threads_per_threadgroup);
  std::copy(request.threadgroup_memory.begin(), request.threadgroup_memory.end(),
            parameters.threadgroup_memory);
  const auto stream = driver.new_stream();
  const DeviceBuffers memory(request, *stream, parameters);
  if (is_checked) parameters.checked = make_checked(request, parameters);
  stream->launch(*kernel, parameters);
  stream->wait();
  memory.copy_to(buffers);
}

void run_one(const ProgramRequest& request, const Program& program, bool is_checked, char* buffers,
             FormResult& result) {
  auto failed = [&](Outcome outcome, const std::exception& error) {
    result.outcome = outcome;
    copy_text(result.message, error.what());
  };
  try {
    launch(request, program, is_checked, buffers, result);
  } catch (const LaunchError& error) {
    failed(Outcome::LaunchFails, error);
  } catch (const std::exception& error) {
    failed(Outcome::CompilerFails, error);
  }
}

// Runs the programs from this one on in a new process.
[[noreturn]] void run_from(size_t first, bool checked, const std::vector<ProgramRequest>& requests,
                           const std::vector<std::shared_ptr<Program>>& programs,
                           Results& results) {
  for (size_t i = first; i < requests.size(); ++i) {
    if (!programs[i]) continue;
    results[i].state = State::Runs;
    restart_clocks();
    run_one(requests[i], *programs[i], checked, results.buffers(i), results[i]);
    results[i].state = State::Ends;
  }
  _exit(0);
}

void note_end(FormResult& result, int status) {
  result.state = State::Ends;
  const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  result.outcome = number == SIGPROF || number == SIGALRM ? Outcome::Hangs : Outcome::Crashes;
  copy_text(result.message,
            number ? strsignal(number) : "exit status " + std::to_string(WEXITSTATUS(status)));
}

}  // namespace

void run_form(const Form& form, const std::vector<ProgramRequest>& requests,
              const std::vector<std::shared_ptr<Program>>& programs, Results& results) {
  for (size_t next = 0; next < requests.size();) {
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("no new process");
    if (child == 0) {
      choose_form(form);
      run_from(next, form == kChecked, requests, programs, results);
    }
    int status;
    if (waitpid(child, &status, 0) != child) throw std::runtime_error("a process is lost");
    while (next < requests.size() && (!programs[next] || results[next].state == State::Ends))
      ++next;
    if (next == requests.size()) return;
    if (results[next].state == State::Waits)
      throw std::runtime_error("a process ended between programs");
    note_end(results[next++], status);
  }
}

}  // namespace metal::fuzz
