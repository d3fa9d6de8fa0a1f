#include "metal/cpu/runtime/check_calls.h"

#include "metal/cpu/checks/check_abi.h"
#include "metal/cpu/checks/exact_math.h"
#include "metal/cpu/runtime/coverage_run.h"
#include "metal/cpu/runtime/debugged_run.h"
#include "metal/cpu/runtime/dispatch.h"
#include "metal/cpu/runtime/fibre_scheduler.h"
#include "metal/cpu/runtime/findings.h"
#include "metal/cpu/runtime/group_checks.h"
#include "metal/cpu/runtime/number_origins.h"
#include "metal/cpu/runtime/ordered_run.h"
#include "metal/cpu/runtime/outside_kernel.h"
#include "metal/cpu/runtime/race_detector.h"
#include "metal/cpu/runtime/rounding_errors.h"
#include "metal/cpu/runtime/shadow_buffers.h"
#include "metal/cpu/runtime/worker.h"

using metal::cpu::AccessKind;
using metal::cpu::CheckObject;
using metal::cpu::CheckSite;
using metal::cpu::CoverageTable;
using metal::cpu::FibreScheduler;
using metal::cpu::Finding;
using metal::cpu::FindingKind;
using metal::cpu::Group;
using metal::cpu::GroupChecks;
using metal::cpu::NumberOrigins;
using metal::cpu::ObjectKind;
using metal::cpu::OutsideKernel;
using metal::cpu::RaceDetector;
using metal::cpu::ResultFormat;

namespace {

constexpr uint64_t kNowhere = 4096;  // bytes: more than one access has, but for copies

alignas(64) const char zeros[kNowhere] = {};

uint32_t thread_of(const Group* group) {
  const FibreScheduler& scheduler = metal::cpu::scheduler_of(group);
  return scheduler.active() ? scheduler.thread() : group->thread;
}

GroupChecks& checks_of(const OutsideKernel& outside) { return outside.worker().group_checks(); }

bool is_nowhere(const GroupChecks& checks, uint64_t address) {
  const auto within = [&](const char* begin) {
    return address - reinterpret_cast<uint64_t>(begin) < kNowhere;
  };
  return within(zeros) || within(checks.nowhere());
}

// A note on where the consequence is, unless that is the same line.
void add_place(Finding& finding, const CheckSite* place, const char* note) {
  if (place->line == finding.site->line) return;
  finding.other_site = place;
  finding.note = note;
}

// A number that is not finite has an effect: in memory, or as an integer.
void report_number(const OutsideKernel& outside, const Group* group, uint32_t number,
                   Finding finding, const CheckSite* site, const char* note) {
  const NumberOrigins::Origin origin = outside.worker().dispatch()->numbers()->get(number);
  finding.site = origin.site;
  finding.position = metal::cpu::position_of(*group, thread_of(group));
  finding.more = origin.text + finding.more;
  add_place(finding, site, note);
  outside.worker().dispatch()->findings()->add(finding);
}

void report_written_number(const OutsideKernel& outside, const Group* group, uint32_t number,
                           const CheckSite* site, const CheckObject* object, int64_t offset) {
  Finding finding{.kind = FindingKind::Numbers, .site = site, .object = object, .offset = offset};
  if (object) {
    finding.more = ", which gets into element " + std::to_string(offset / object->element_bytes) +
                   " of " + metal::cpu::describe_object(*object);
  }
  report_number(outside, group, number, std::move(finding), site, "it is written here");
}

}  // namespace

static_assert(kNowhere == GroupChecks::kNowhere);

extern "C" {

uint32_t metal_cpu_check_outside(const Group* group, const CheckSite* site,
                                 const CheckObject* object, int64_t offset, uint64_t size,
                                 uint64_t bytes, AccessKind access, bool deferred) {
  const OutsideKernel outside(group);
  if (!(outside.worker().dispatch()->checks() & metal::kCheckBounds)) return 0;
  const Finding finding{.kind = FindingKind::Bounds,
                        .site = site,
                        .object = object,
                        .access = access,
                        .offset = offset,
                        .size = size,
                        .bytes = bytes,
                        .position = metal::cpu::position_of(*group, thread_of(group))};
  if (deferred) return checks_of(outside).defer(finding);
  outside.worker().dispatch()->findings()->add(finding);
  return 0;
}

void* metal_cpu_check_nowhere(const Group* group, AccessKind access) {
  const OutsideKernel outside(group);
  const bool reads = access == AccessKind::Read || access == AccessKind::AtomicRead;
  return reads ? const_cast<char*>(zeros) : checks_of(outside).nowhere();
}

void metal_cpu_check_used(const Group* group, uint32_t finding) {
  const OutsideKernel outside(group);
  if (outside.worker().dispatch()->screens()) return outside.worker().stop("suspect");
  checks_of(outside).use(finding);
}

void metal_cpu_check_suspect(const Group* group) {
  const OutsideKernel outside(group);
  outside.worker().stop("suspect");
}

void metal_cpu_check_history(const Group* group, uint32_t place, uint32_t passed) {
  if (!group->histories[place]) {
    group->histories[place] = passed;
  } else if (group->histories[place] != passed) {
    metal_cpu_check_suspect(group);
  }
}

void metal_cpu_check_barrier(const Group* group, const CheckSite* site, uint32_t scope,
                             bool orders) {
  const OutsideKernel outside(group);
  checks_of(outside).barrier(thread_of(group), site, scope, orders);
}

void metal_cpu_check_branch(const Group* group, const CheckSite* site, uint32_t number,
                            uint64_t successor, bool reconverges) {
  const OutsideKernel outside(group);
  checks_of(outside).branch(thread_of(group), site, number, successor, reconverges);
}

void metal_cpu_check_overwrite(const Group* group, const CheckObject* object, const void* place,
                               uint64_t bytes) {
  if (!object) return;
  const OutsideKernel outside(group);
  outside.worker().dispatch()->races()->overwrite(place, bytes);
}

void metal_cpu_check_access(const Group* group, const CheckSite* site, const CheckObject* object,
                            uint64_t begin, uint64_t address, uint64_t bytes, AccessKind access) {
  if (!object) return;  // a pointer that the kernel read from memory
  const OutsideKernel outside(group);
  const GroupChecks& checks = checks_of(outside);
  if (is_nowhere(checks, address)) return;
  const metal::cpu::Dispatch& dispatch = *outside.worker().dispatch();
  const uint32_t thread = thread_of(group);
  dispatch.races()->access({site, object, begin, address, bytes, access}, thread,
                           checks.epochs(thread), *dispatch.findings());
}

uint32_t metal_cpu_check_valueless(const Group* group, const CheckSite* site,
                                   const CheckObject* object) {
  const OutsideKernel outside(group);
  return checks_of(outside).defer_variable(
      {.kind = FindingKind::Uninitialised, .site = site, .object = object});
}

uint32_t metal_cpu_check_unwritten(const Group* group, const CheckSite* site,
                                   const CheckObject* object, uint64_t begin, uint64_t address,
                                   const char* shadow, uint64_t bytes) {
  if (!object) return 0;
  const OutsideKernel outside(group);
  uint64_t first = 0, last = bytes;
  while (first < bytes && !shadow[first]) ++first;
  while (last > first && !shadow[last - 1]) --last;
  const uint64_t element = object->element_bytes, offset = address - begin;
  first = (offset + first) / element * element;
  last = (offset + last + element - 1) / element * element;
  // The value may have come here from elsewhere.
  if (const uint32_t number = checks_of(outside).kept_undefined(begin + first)) return number;
  return checks_of(outside).defer({.kind = FindingKind::Uninitialised,
                                   .site = site,
                                   .object = object,
                                   .offset = static_cast<int64_t>(first),
                                   .bytes = last - first});
}

void metal_cpu_check_matters(const Group* group, const CheckSite* site, uint32_t number) {
  const OutsideKernel outside(group);
  const Finding* origin = checks_of(outside).deferred(number);
  Finding finding{.kind = FindingKind::Uninitialised, .site = site};
  if (!origin) {
    finding.more = "uses a value that nobody has given";
  } else {
    finding = *origin;
    finding.more = metal::cpu::why_undefined(*origin);
    finding.note = origin->bytes ? "its value matters here" : "it is declared here";
    finding.other_site = origin->bytes ? site : origin->site;
    if (!origin->bytes) finding.site = site;
    if (finding.other_site->line == finding.site->line) {
      finding.other_site = nullptr;
      finding.note.clear();
    }
  }
  finding.position = metal::cpu::position_of(*group, thread_of(group));
  outside.worker().dispatch()->findings()->add(finding);
}

void metal_cpu_check_undefined_store(const Group* group, const CheckSite* site,
                                     const CheckObject* object, uint64_t begin, uint64_t address,
                                     uint64_t bytes, uint32_t number) {
  const OutsideKernel outside(group);
  const Finding finding{.kind = FindingKind::Uninitialised,
                        .site = site,
                        .object = object,
                        .access = AccessKind::Write,
                        .offset = static_cast<int64_t>(address - begin),
                        .position = metal::cpu::position_of(*group, thread_of(group))};
  GroupChecks& checks = checks_of(outside);
  const uint64_t element = object->element_bytes;
  for (uint64_t place = address; place < address + bytes; place += element)
    checks.keep_undefined(place, number);
  if (object->kind == ObjectKind::Buffer)
    outside.worker().dispatch()->shadows()->note_store(finding, checks.deferred(number), address,
                                                       bytes);
}

void metal_cpu_check_unknown_writes(const Group* group) {
  const OutsideKernel outside(group);
  outside.worker().dispatch()->shadows()->forget();
}

void metal_cpu_check_written(const Group* group, const CheckSite* site, const void* place,
                             uint64_t bytes) {
  const FibreScheduler& scheduler = metal::cpu::scheduler_of(group);
  metal::cpu::OrderedRun& run = *scheduler.worker().dispatch()->ordered();
  const auto begin = reinterpret_cast<uintptr_t>(place);
  const auto watched = reinterpret_cast<uintptr_t>(run.watched);
  if (begin >= watched + run.watched_bytes || watched >= begin + bytes) return;
  run.writer = site;
  run.writer_position = metal::cpu::position_of(*group, scheduler.thread());
}

void metal_cpu_check_sum(const Group* group, const void* place, float addend, bool shared) {
  const OutsideKernel outside(group);
  outside.worker().dispatch()->ordered()->sums.add(static_cast<const float*>(place), addend,
                                                   shared);
}

void metal_cpu_check_block(const Group* group, const CoverageTable* table, uint32_t block) {
  const OutsideKernel outside(group);
  outside.worker().dispatch()->coverage()->run_block(*table, thread_of(group), block);
}

void metal_cpu_check_edge(const Group* group, const CoverageTable* table, uint32_t edge) {
  const OutsideKernel outside(group);
  outside.worker().dispatch()->coverage()->take(*table, edge);
}

void metal_cpu_check_touch(const Group* group, const CoverageTable* table, uint32_t access,
                           const void* place, uint64_t bytes) {
  const OutsideKernel outside(group);
  outside.worker().dispatch()->coverage()->touch(*table, thread_of(group), access, place, bytes);
}

uint32_t metal_cpu_check_number_made(const Group* group, const CheckSite* site, double result,
                                     uint32_t operands, double a, double b, double c) {
  const OutsideKernel outside(group);
  std::vector<double> values = {a, b, c};
  values.resize(operands);
  return outside.worker().dispatch()->numbers()->add(site, result, values);
}

uint32_t metal_cpu_check_number_loaded(const Group* group, uint64_t address, uint64_t bytes,
                                       uint64_t element_bytes) {
  const OutsideKernel outside(group);
  return outside.worker().dispatch()->numbers()->kept(address, bytes, element_bytes);
}

void metal_cpu_check_number_stored(const Group* group, const CheckSite* site,
                                   const CheckObject* object, uint64_t begin, uint64_t address,
                                   uint64_t bytes, uint64_t element_bytes, uint32_t number,
                                   bool leaves) {
  const OutsideKernel outside(group);
  outside.worker().dispatch()->numbers()->keep(address, bytes, element_bytes, number);
  if (!leaves || !number) return;
  report_written_number(outside, group, number, site, object,
                        static_cast<int64_t>(address - begin));
}

void metal_cpu_check_numbers_copied(const Group* group, const CheckSite* site,
                                    const CheckObject* object, uint64_t begin, uint64_t address,
                                    uint64_t from, uint64_t bytes, bool leaves) {
  const OutsideKernel outside(group);
  NumberOrigins& numbers = *outside.worker().dispatch()->numbers();
  numbers.copy(address, from, bytes);
  const uint32_t number = leaves ? numbers.kept(address, bytes, 1) : 0;
  if (!number) return;
  report_written_number(outside, group, number, site, object,
                        static_cast<int64_t>(address - begin));
}

void metal_cpu_check_number_converted(const Group* group, const CheckSite* site, uint32_t number) {
  const OutsideKernel outside(group);
  report_number(outside, group, number,
                {.kind = FindingKind::Numbers, .site = site, .more = ", which becomes an integer"},
                site, "it becomes one here");
}

double metal_cpu_check_exact_math(const Group*, const CheckSite* site, uint32_t operands, double a,
                                  double b, double c) {
  const double values[] = {a, b, c};
  return metal::cpu::exact_math(site->what, {values, operands});
}

double metal_cpu_check_exact_loaded(const Group* group, uint64_t address, double value) {
  const OutsideKernel outside(group);
  return outside.worker().dispatch()->rounding()->exact(address, value);
}

void metal_cpu_check_exact_stored(const Group* group, const CheckSite* site,
                                  const CheckObject* object, uint64_t begin, uint64_t address,
                                  double value, double exact, ResultFormat format) {
  const OutsideKernel outside(group);
  metal::cpu::RoundingErrors& errors = *outside.worker().dispatch()->rounding();
  errors.keep(address, value, exact);
  if (format == ResultFormat::None || !object) return;
  errors.add({.site = site,
              .object = object,
              .index = (address - begin) / object->element_bytes,
              .position = metal::cpu::position_of(*group, thread_of(group)),
              .value = value,
              .exact = exact},
             format);
}

void metal_cpu_check_exact_copied(const Group* group, uint64_t address, uint64_t from,
                                  uint64_t bytes) {
  const OutsideKernel outside(group);
  outside.worker().dispatch()->rounding()->copy(address, from, bytes);
}

void metal_cpu_check_wrapped(const Group* group, const CheckSite* site, const CheckSite* access,
                             const CheckObject* object, int64_t value, int64_t exact, int64_t a,
                             int64_t b) {
  const OutsideKernel outside(group);
  const std::string text = std::to_string(a) + " " + site->what + " " +
                           (b < 0 ? "(" + std::to_string(b) + ")" : std::to_string(b));
  Finding finding{.kind = FindingKind::Numbers,
                  .site = site,
                  .object = object,
                  .position = metal::cpu::position_of(*group, thread_of(group)),
                  .more = "an index wraps around in 32 bits: " + text + " = " +
                          std::to_string(exact) + " becomes " + std::to_string(value)};
  if (object) finding.more += ", and is an index of " + metal::cpu::describe_object(*object);
  add_place(finding, access, "it is used here");
  outside.worker().dispatch()->findings()->add(finding);
}

void metal_cpu_check_debug_enter(const Group* group, const char* description) {
  const OutsideKernel outside(group);
  outside.worker().dispatch()->debugged()->enter(thread_of(group), description);
}

void metal_cpu_check_debug_variable(const Group* group, uint32_t number, uint64_t address) {
  const OutsideKernel outside(group);
  outside.worker().dispatch()->debugged()->declare(thread_of(group), number, address);
}

void metal_cpu_check_debug_line(const Group* group, const CheckSite* site, uint32_t number) {
  const OutsideKernel outside(group);
  outside.worker().dispatch()->debugged()->reach(*group, thread_of(group), *site, number);
}

void metal_cpu_check_debug_leave(const Group* group) {
  const OutsideKernel outside(group);
  outside.worker().dispatch()->debugged()->leave(thread_of(group));
}

void metal_cpu_check_fence(const Group* group) {
  const OutsideKernel outside(group);
  outside.worker().dispatch()->races()->fence(thread_of(group));
}
}

namespace metal::cpu {

std::span<const RuntimeCall> check_calls() {
#define ENTRY(name) {"metal_cpu_check_" #name, reinterpret_cast<void*>(&metal_cpu_check_##name)}
  static const RuntimeCall calls[] = {ENTRY(outside),
                                      ENTRY(nowhere),
                                      ENTRY(used),
                                      ENTRY(barrier),
                                      ENTRY(branch),
                                      ENTRY(overwrite),
                                      ENTRY(access),
                                      ENTRY(fence),
                                      ENTRY(suspect),
                                      ENTRY(history),
                                      ENTRY(valueless),
                                      ENTRY(unwritten),
                                      ENTRY(matters),
                                      ENTRY(undefined_store),
                                      ENTRY(unknown_writes),
                                      ENTRY(written),
                                      ENTRY(sum),
                                      ENTRY(block),
                                      ENTRY(edge),
                                      ENTRY(touch),
                                      ENTRY(number_made),
                                      ENTRY(number_loaded),
                                      ENTRY(number_stored),
                                      ENTRY(numbers_copied),
                                      ENTRY(number_converted),
                                      ENTRY(exact_math),
                                      ENTRY(exact_loaded),
                                      ENTRY(exact_stored),
                                      ENTRY(exact_copied),
                                      ENTRY(wrapped),
                                      ENTRY(debug_enter),
                                      ENTRY(debug_variable),
                                      ENTRY(debug_line),
                                      ENTRY(debug_leave)};
#undef ENTRY
  return calls;
}

}  // namespace metal::cpu
