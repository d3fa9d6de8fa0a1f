#include "metal/cpu/runtime/order_check.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "metal/cpu/runtime/dispatch.h"
#include "metal/cpu/runtime/element_numbers.h"
#include "metal/cpu/runtime/findings.h"
#include "metal/cpu/runtime/ordered_run.h"

namespace metal::cpu {
namespace {

// In another order threads may wait for threads that run later: forever, as they run one at a time.
constexpr double kShortestLimit = 3;  // seconds
constexpr double kLimitFactor = 50;   // of the time of the natural order

// What is computed from sums of atomics may differ by rounding, too.
constexpr double kRoundedDigits = 1024;  // epsilons

// A buffer whose contents depend on the order.
struct Difference {
  const Snapshot::Part* part = nullptr;
  uint64_t offset = 0;  // of the first element that differs
  uint64_t element_bytes = 1;
  uint64_t count = 0;  // of elements
  std::string natural{}, other{};
};

bool writers_differ(const OrderedRun& one, const OrderedRun& other) {
  const auto thread = [](const OrderedRun& run) {
    const auto& [in_group, group] = run.writer_position;
    return std::tuple(in_group[0], in_group[1], in_group[2], group[0], group[1], group[2]);
  };
  return one.writer != other.writer || thread(one) != thread(other);
}

class OrderCheck {
 public:
  OrderCheck(const Kernel& kernel, const CpuKernel& code, const LaunchParameters& parameters,
             const Snapshot& before)
      : kernel_(kernel), code_(code), parameters_(parameters), before_(before) {
    auto checked = std::make_shared<CheckedLaunch>(*parameters.checked);
    // Otherwise another run has printed them.
    natural_.prints = (checked->checks & ~kCheckOrder) == 0;
    checked->checks = kCheckOrder;
    checked->handler = nullptr;
    parameters_.checked = std::move(checked);
  }

  void run() {
    const auto start = std::chrono::steady_clock::now();
    run(natural_);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    has_limit_ = parameters_.time_limit > 0;
    if (!has_limit_) parameters_.time_limit = kShortestLimit + kLimitFactor * spent.count();
    const Snapshot results(kernel_.info, *parameters_.checked);
    require_copies(kernel_, results);
    const Schedules& schedules = parameters_.checked->schedules;
    for (uint32_t i = 0; i < schedules.count && !ended_; ++i) compare(schedules.first + i, results);
    results.restore();
  }

  std::vector<CheckReport> reports() const {
    return findings_.reports(kernel_.name, kernel_.source);
  }

 private:
  void run(OrderedRun& run) { Dispatch(kernel_, code_, parameters_, false, &run).run(); }

  void compare(uint32_t number, const Snapshot& results) {
    OrderedRun other{.schedule = Schedule(number)};
    before_.restore();
    try {
      run(other);
    } catch (const LaunchError& error) {
      if (error.fault == LaunchFault::Interrupted) throw;
      if (error.fault == LaunchFault::TimeLimit && has_limit_) throw;
      add_fault(number, error);
      return;
    }
    std::vector<Difference> found;
    for (const Snapshot::Part& part : results.parts()) {
      const Difference difference = compare(part, other.sums);
      if (difference.count && reported_.insert(part.begin).second) found.push_back(difference);
    }
    for (const Difference& difference : found) add(number, difference);
    ended_ = reported_.size() == results.parts().size();
  }

  Difference compare(const Snapshot::Part& part, const RoundingBounds& sums) const {
    Difference result{.part = &part};
    if (std::memcmp(part.begin, part.copy, part.bytes) == 0) return result;
    const ElementNumbers numbers(*part.argument);
    const uint64_t element = std::max(part.argument->element_size, 1u);
    for (uint64_t begin = 0; begin < part.bytes; begin += element) {
      const uint64_t end = std::min(begin + element, part.bytes);
      bool same = true;
      for (uint64_t i = begin; i + numbers.bytes() <= end && same; i += numbers.bytes())
        same = is_same(part.begin + i, part.copy + i, numbers, sums);
      if (same || end - begin < element || result.count++) continue;
      result.offset = begin;
      result.element_bytes = element;
      result.natural = numbers.text(part.copy + begin);
      result.other = numbers.text(part.begin + begin);
    }
    return result;
  }

  bool is_same(const char* other, const char* natural, const ElementNumbers& numbers,
               const RoundingBounds& sums) const {
    if (std::memcmp(other, natural, numbers.bytes()) == 0) return true;
    if (!numbers.floats()) return false;
    const double a = numbers.value(other), b = numbers.value(natural);
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    if (a == b || !sums.any()) return a == b;
    const auto* place = reinterpret_cast<const float*>(other);
    const double digits = numbers.single() ? kRoundedDigits : 1;
    return std::fabs(a - b) <=
           sums.bound(place) + digits * numbers.epsilon() * std::max(std::fabs(a), std::fabs(b));
  }

  // Runs both orders again, to see who writes the element.
  void add(uint32_t number, const Difference& difference) {
    const OrderedRun natural = watch({}, difference);
    const OrderedRun other = watch(Schedule(number), difference);
    const std::string token = "s" + std::to_string(number);
    const ArgumentInfo& argument = *difference.part->argument;
    objects_.push_back(
        {argument.name.c_str(), ObjectKind::Buffer, std::max(argument.element_size, 1u)});
    const OrderedRun& writer = natural.writer ? natural : other;
    Finding finding{.kind = FindingKind::Order,
                    .site = writer.writer ? writer.writer : &kNoSite,
                    .object = &objects_.back(),
                    .access = AccessKind::Write,
                    .offset = static_cast<int64_t>(difference.offset),
                    .size = difference.part->bytes,
                    .bytes = difference.element_bytes,
                    .position = writer.writer_position};
    finding.more = ": " + difference.natural + " in the natural order, " + difference.other +
                   " with MLX_CHECK_ORDER=" + token;
    if (difference.count > 1)
      finding.more += ", and " + std::to_string(difference.count - 1) + " more elements differ";
    const bool both = natural.writer && other.writer;
    if (both && writers_differ(natural, other)) {
      finding.other_site = other.writer;
      finding.note =
          "with " + token + " thread " + describe(other.writer_position) + " writes it last, here";
    } else if (!both && (natural.writer || other.writer)) {
      finding.more += std::string("; no thread writes it ") +
                      (natural.writer ? "with " + token : "in the natural order");
    }
    findings_.add(finding);
  }

  OrderedRun watch(std::optional<Schedule> schedule, const Difference& difference) {
    OrderedRun again{.schedule = schedule,
                     .watched = difference.part->begin + difference.offset,
                     .watched_bytes = difference.element_bytes};
    before_.restore();
    run(again);
    return again;
  }

  void add_fault(uint32_t number, const LaunchError& error) {
    Finding finding{.kind = FindingKind::Order, .site = &kNoSite};
    finding.more = error.fault == LaunchFault::TimeLimit
                       ? "does not end: threads wait for others that run later"
                       : std::string("does not end: ") + error.what();
    finding.more += " (with MLX_CHECK_ORDER=s" + std::to_string(number) + ")";
    findings_.add(finding);
    ended_ = true;
  }

  const Kernel& kernel_;
  const CpuKernel& code_;
  LaunchParameters parameters_;
  const Snapshot& before_;
  OrderedRun natural_;
  bool has_limit_ = false;  // the user's
  bool ended_ = false;      // nothing more can be found
  std::set<const char*> reported_;
  std::deque<CheckObject> objects_;
  Findings findings_;
};

}  // namespace

void require_copies(const Kernel& kernel, const Snapshot& snapshot) {
  if (snapshot.complete()) return;
  throw std::runtime_error("[" + kernel.name +
                           "] The check of order has no memory for copies of the buffers");
}

void check_order(const Kernel& kernel, const CpuKernel& code, const LaunchParameters& parameters,
                 const Snapshot& before) {
  OrderCheck check(kernel, code, parameters, before);
  check.run();
  const auto reports = check.reports();
  if (!reports.empty() && parameters.checked->handler) parameters.checked->handler(reports);
}

}  // namespace metal::cpu
