#include "metal/cpu/runtime/findings.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "metal/cpu/runtime/source_lines.h"

namespace metal::cpu {
namespace {

std::array<uint32_t, 6> order_of(const ThreadPosition& position) {
  const auto& [thread, group] = position;
  return {group[2], group[1], group[0], thread[2], thread[1], thread[0]};
}

std::string line_text(const std::string& source, const std::string& file, uint32_t line) {
  return lines_of(source, file)[line];
}

CheckPlace place_of(const CheckSite& site, const std::string& source) {
  return {site.file, site.line, site.column, line_text(source, site.file, site.line)};
}

const char* verb(AccessKind access) {
  switch (access) {
    case AccessKind::Read:
      return "reads";
    case AccessKind::Write:
      return "writes";
    case AccessKind::AtomicRead:
      return "atomically reads";
    case AccessKind::Atomic:
      return "atomically updates";
  }
  return "accesses";
}

const char* noun(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::Buffer:
      return "the buffer";
    case ObjectKind::Threadgroup:
      return "the threadgroup variable";
    case ObjectKind::Private:
      return "the variable";
    case ObjectKind::Table:
      return "the constant";
  }
  return "the object";
}

int64_t floor_divide(int64_t value, int64_t unit) {
  return value / unit - (value % unit < 0 ? 1 : 0);
}

std::string range(const char* unit, int64_t first, int64_t last) {
  if (first == last) return std::string(unit) + " " + std::to_string(first);
  return std::string(unit) + "s " + std::to_string(first) + " to " + std::to_string(last);
}

std::string counted(uint64_t count, const char* unit) {
  return std::to_string(count) + " " + unit + (count == 1 ? "" : "s");
}

// Elements are counted where they fit, else bytes.
bool fits_elements(const Finding& finding) {
  const auto element = static_cast<int64_t>(finding.object->element_bytes);
  return finding.offset % element == 0 && finding.size % element == 0;
}

// "element 64 of the buffer "y"".
std::string place_text(const Finding& finding) {
  const std::string object = describe_object(*finding.object);
  if (finding.bytes == 0) return object;
  const auto element = static_cast<int64_t>(finding.object->element_bytes);
  const int64_t last = finding.offset + static_cast<int64_t>(finding.bytes) - 1;
  return (fits_elements(finding)
              ? range("element", floor_divide(finding.offset, element), floor_divide(last, element))
              : range("byte", finding.offset, last)) +
         " of " + object;
}

// "writes element 64 of the buffer "y", which has 16 elements".
std::string access_text(const Finding& finding) {
  std::string text = finding.bytes ? verb(finding.access) : "uses";
  if (!finding.of_thread) text = "never " + text;
  text += " " + place_text(finding);
  if (finding.size == 0 && finding.kind != FindingKind::Bounds) return text;
  const uint64_t element = finding.object->element_bytes;
  const bool whole = fits_elements(finding);
  return text + ", which has " +
         (whole ? counted(finding.size / element, "element") : counted(finding.size, "byte"));
}

// Without lines, places are told apart by themselves.
std::string place_key(const CheckSite& site) {
  if (!site.line) return std::to_string(reinterpret_cast<uintptr_t>(&site));
  return std::to_string(site.line) + ":" + std::to_string(site.column) + ":" + site.file;
}

std::string key_of(const Finding& finding) {
  std::string key = std::to_string(static_cast<uint32_t>(finding.kind)) + ":";
  if (finding.object && finding.kind != FindingKind::Numbers)
    key += std::string(finding.object->name) + ":";
  std::string place = place_key(*finding.site);
  if (finding.kind == FindingKind::Races) {  // which of the two comes first is chance
    std::string other = place_key(*finding.other_site);
    if (other < place) std::swap(place, other);
    return key + place + ":" + other;
  }
  return key + place + ":" + std::to_string(static_cast<uint32_t>(finding.access));
}

}  // namespace

const char* why_undefined(const Finding& finding) {
  return finding.bytes ? ", which nobody has written" : ", which has no value";
}

std::string describe_object(const CheckObject& object) {
  return std::string(noun(object.kind)) + " \"" + object.name + "\"";
}

std::string describe_origin(const Finding& finding) {
  return place_text(finding) + why_undefined(finding);
}

ThreadPosition position_of(const Group& group, uint32_t thread) {
  ThreadPosition position;
  const uint32_t row = group.size[0], plane = row * group.size[1];
  position.thread[0] = thread % row;
  position.thread[1] = thread / row % group.size[1];
  position.thread[2] = thread / plane;
  std::copy(std::begin(group.position), std::end(group.position), position.threadgroup);
  return position;
}

void Findings::add(const Finding& finding) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[key_of(finding)];
  if (entry.count++ == 0 || order_of(finding.position) < order_of(entry.first.position))
    entry.first = finding;
}

std::vector<CheckReport> Findings::reports(const std::string& kernel,
                                           const std::string& source) const {
  static constexpr const char* kKinds[] = {"bounds",        "barriers", "races",
                                           "uninitialised", "order",    "numbers"};
  std::vector<CheckReport> reports;
  for (const auto& [key, entry] : entries_) {
    const Finding& finding = entry.first;
    CheckReport report;
    report.kind = kKinds[static_cast<uint32_t>(finding.kind)];
    report.kernel = kernel;
    report.place = place_of(*finding.site, source);
    report.of_thread = finding.of_thread;
    report.position = finding.position;
    report.count = entry.count;
    report.object = finding.object ? finding.object->name : finding.site->what;
    if (finding.object) {
      report.index = floor_divide(finding.offset, finding.object->element_bytes);
      report.size = finding.size / finding.object->element_bytes;
      if (finding.kind != FindingKind::Numbers) report.message = access_text(finding);
    }
    report.message += finding.more;
    report.note = finding.note;
    if (finding.other_site) report.note_place = place_of(*finding.other_site, source);
    reports.push_back(std::move(report));
  }
  std::ranges::stable_sort(reports, {}, [](const CheckReport& report) {
    return std::tuple(report.kind, report.place.line, report.place.column);
  });
  return reports;
}

}  // namespace metal::cpu
