// Which checks kernels run under (metal/checks.h), and how the user hears what they find.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "metal/checks.h"

namespace mlx::core::metal {

using Checks = ::metal::Checks;
using CheckReport = ::metal::CheckReport;

// What a kernel did wrong while it ran checked.
class KernelCheckError : public std::runtime_error {
 public:
  explicit KernelCheckError(std::vector<CheckReport> reports);
  std::vector<CheckReport> reports;
};

// The number of CheckScopes, and 1 if MLX_CHECK or MLX_CHECK_ORDER names checks or was not read.
// Most programs have none: then a launch tests only this.
extern std::atomic<uint32_t> check_sources;

Checks find_active_checks();

// The checks of MLX_CHECK and MLX_CHECK_ORDER, which are read once, and of this thread's
// CheckScopes. Throws std::invalid_argument if they name unknown ones.
inline Checks active_checks() {
  return check_sources.load(std::memory_order_relaxed) ? find_active_checks() : ::metal::kNoChecks;
}

// Kernels that this thread launches or calls while one exists are checked.
class CheckScope {
 public:
  explicit CheckScope(Checks checks);
  ~CheckScope();
  CheckScope(const CheckScope&) = delete;
  CheckScope& operator=(const CheckScope&) = delete;

 private:
  Checks before_;
};

// From now on, kernels of metal_kernel stop for a debugger (metal/debugger.h).
void start_debugging();

// Called with the reports of a launch. With MLX_CHECK_REPORT=warn they wait in take_check_warnings,
// else it throws KernelCheckError.
void raise_reports(const std::vector<CheckReport>& reports);
// Texts that nobody has taken so far.
std::vector<std::string> take_check_warnings();

}  // namespace mlx::core::metal
