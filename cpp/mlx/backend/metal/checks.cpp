// Which checks kernels run under, and how the user hears what they find.
#include "mlx/backend/metal/checks.h"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>

namespace mlx::core::metal {

std::atomic<uint32_t> check_sources{1};

namespace {

Checks& scope_checks() {
  thread_local Checks checks = ::metal::kNoChecks;
  return checks;
}

Checks environment_checks() {
  static const Checks checks = [] {
    const char* text = std::getenv("MLX_CHECK");
    Checks named = ::metal::parse_checks(text ? text : "", "[MLX_CHECK]");
    if (const char* order = std::getenv("MLX_CHECK_ORDER"); order && *order) {
      ::metal::chosen_schedules();  // throws if it is none
      named |= ::metal::kCheckOrder;
    }
    const char* coverage = std::getenv("MLX_COVERAGE");
    if (coverage && *coverage) named |= ::metal::kCoverage;
    if (!named) --check_sources;
    return named;
  }();
  return checks;
}

std::atomic<bool> debugs{false};

struct Warnings {
  std::mutex mutex;
  std::vector<std::string> texts;
  std::atomic<bool> any{false};
};

Warnings& warnings() {
  static auto& warnings = *new Warnings;  // kernels may run until the process ends
  return warnings;
}

bool only_warns() {
  const char* text = std::getenv("MLX_CHECK_REPORT");
  return text && std::string_view(text) == "warn";
}

}  // namespace

KernelCheckError::KernelCheckError(std::vector<CheckReport> found)
    : std::runtime_error(::metal::describe(found)), reports(std::move(found)) {}

Checks find_active_checks() {
  return environment_checks() | scope_checks() | (debugs ? ::metal::kDebug : ::metal::kNoChecks);
}

void start_debugging() {
  if (!debugs.exchange(true)) ++check_sources;
}

CheckScope::CheckScope(Checks checks)
    : before_(std::exchange(scope_checks(), scope_checks() | checks)) {
  ++check_sources;
}
CheckScope::~CheckScope() {
  scope_checks() = before_;
  --check_sources;
}

void raise_reports(const std::vector<CheckReport>& reports) {
  if (!only_warns()) throw KernelCheckError(reports);
  std::lock_guard lock(warnings().mutex);
  warnings().texts.push_back(::metal::describe(reports));
  warnings().any = true;
}

std::vector<std::string> take_check_warnings() {
  if (!warnings().any) return {};
  std::lock_guard lock(warnings().mutex);
  warnings().any = false;
  return std::exchange(warnings().texts, {});
}

}  // namespace mlx::core::metal
