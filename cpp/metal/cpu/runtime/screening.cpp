#include "metal/cpu/runtime/screening.h"

#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "metal/cpu/checks/stamp.h"
#include "metal/cpu/runtime/dispatch.h"
#include "metal/cpu/runtime/jit.h"
#include "metal/cpu/runtime/order_check.h"
#include "metal/cpu/runtime/shadow_buffers.h"
#include "metal/cpu/runtime/snapshot.h"

namespace metal::cpu {
namespace {

// Whether nothing is suspected. If something is, memory is as it was before: a screen lets the
// kernel write nowhere else.
bool passes(const Kernel& kernel, const CpuKernel& code, const LaunchParameters& parameters) {
  Dispatch screen(kernel, code, parameters, /*screens=*/true);
  // Each buffer has stamps of its own, and a stamp has no more bits.
  if (screen.shares_results() || screen.groups() + 1 >= uint64_t{1} << kStampGroupBits)
    return false;
  const Snapshot before(kernel.info, *parameters.checked);
  if (!before.complete()) return false;
  try {
    screen.run();
    if (!screen.shadows() || screen.shadows()->all_written()) {
      screen.messages().print_held();
      return true;
    }
  } catch (const LaunchError& error) {
    // A fault may come from what the exact checks report.
    if (error.fault == LaunchFault::Interrupted || error.fault == LaunchFault::TimeLimit) throw;
  }
  before.restore();
  return false;
}

void run_screened(const Kernel& kernel, const CheckedCode& code,
                  const LaunchParameters& parameters) {
  try {
    if (code.screen && passes(kernel, *code.screen, parameters)) return;
  } catch (const std::bad_alloc&) {
    // The process has no address space for the stamps: nothing has run.
  }
  Dispatch(kernel, *code.exact, parameters).run();
}

// Whether there were reports.
bool finds_any(const Kernel& kernel, const CheckedCode& code, const LaunchParameters& parameters) {
  bool any = false;
  auto checked = std::make_shared<CheckedLaunch>(*parameters.checked);
  checked->handler = [&any, &parameters](const std::vector<CheckReport>& reports) {
    any = true;
    if (parameters.checked->handler) parameters.checked->handler(reports);
  };
  LaunchParameters watched = parameters;
  watched.checked = std::move(checked);
  run_screened(kernel, code, watched);
  return any;
}

}  // namespace

void run_checked(const Kernel& kernel, const CheckedCode& code,
                 const LaunchParameters& parameters) {
  if (!code.ordered) return run_screened(kernel, code, parameters);
  const Snapshot before(kernel.info, *parameters.checked);
  require_copies(kernel, before);
  if (code.exact) {
    // What is known to be wrong need not be run in all orders.
    if (finds_any(kernel, code, parameters)) return;
    before.restore();
  }
  check_order(kernel, *code.ordered, parameters, before);
}

}  // namespace metal::cpu
