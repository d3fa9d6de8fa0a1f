#include "metal/cpu/runtime/coverage_total.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>

#include "metal/cpu/runtime/source_lines.h"

namespace metal::cpu {
namespace {

std::string text_of(const std::string& source, const std::string& file) {
  std::string text;
  uint32_t last = 0;
  for (const auto& [number, line] : lines_of(source, file)) {
    if (number > last) text.append(number - last - 1, '\n');
    text += line + "\n";
    last = number;
  }
  return text;
}

// A file of the user's; empty if it is gone.
std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string summary(std::optional<int64_t> distance, bool fills) {
  if (!distance) return "gathered";
  if (*distance == 0) return "uniform";
  return fills ? "coalesced" : "strided by " + std::to_string(*distance) + " bytes";
}

// Those that differ. Accesses that together leave no gap, as the numbers of a vector, are one.
void add_summaries(std::string& text, const char* verb, const std::vector<AccessPattern>& all) {
  std::map<int64_t, uint64_t> touched;  // bytes, by the distance of lanes
  for (const AccessPattern& pattern : all) {
    if (const auto distance = pattern.distance()) touched[*distance] += pattern.bytes();
  }
  std::set<std::string> seen;
  for (const AccessPattern& pattern : all) {
    if (!pattern.any()) continue;
    const auto distance = pattern.distance();
    const bool fills =
        distance && *distance > 0 && touched[*distance] >= static_cast<uint64_t>(*distance);
    const std::string found = summary(distance, fills);
    if (seen.insert(found).second) text += (text.empty() ? "" : ", ") + (verb + found);
  }
}

LineCoverage line_coverage(uint32_t number, const CoverageTotal::Line& line) {
  LineCoverage result{.line = number, .count = line.count, .read = line.read};
  result.written = line.written;
  add_summaries(result.access, "read ", line.reads);
  add_summaries(result.access, "write ", line.writes);
  if (line.issues)
    result.lanes = static_cast<double>(line.count) / static_cast<double>(line.issues);
  return result;
}

}  // namespace

CoverageTotal& CoverageTotal::instance() {
  static auto& total = *new CoverageTotal;  // kernels may run until the process ends
  return total;
}

std::vector<FileCoverage> CoverageTotal::files() {
  const std::lock_guard lock(mutex_);
  std::vector<FileCoverage> found;
  for (const auto& [key, file] : files_) {
    FileCoverage result{.file = key.first, .text = key.second, .kernels = file.kernels};
    if (result.text.empty()) result.text = read(key.first);
    for (const auto& [number, line] : file.lines)
      result.lines.push_back(line_coverage(number, line));
    for (const auto& [place, taken] : file.branches)
      result.branches.push_back({place.first, place.second, taken});
    found.push_back(std::move(result));
  }
  return found;
}

void CoverageTotal::reset() {
  const std::lock_guard lock(mutex_);
  files_.clear();
}

CoverageTotal::Addition::Addition(const std::string& kernel, const std::string& source)
    : kernel_(kernel), source_(source), lock_(instance().mutex_) {}

CoverageTotal::File& CoverageTotal::Addition::file(const CheckSite& site) {
  File*& known = files_[site.file];
  if (!known) {
    known = &instance().files_[{site.file, text_of(source_, site.file)}];
    ++known->kernels[kernel_];
  }
  return *known;
}

void CoverageTotal::Addition::line(const CheckSite& site, uint64_t count, uint64_t issues) {
  Line& line = file(site).lines[site.line];
  line.count += count;
  line.issues += issues;
}

void CoverageTotal::Addition::edge(const CheckSite& site, uint32_t successor, uint64_t count) {
  std::vector<uint64_t>& taken = file(site).branches[{site.line, site.column}];
  taken.resize(std::max<size_t>(taken.size(), successor + 1));
  taken[successor] += count;
}

void CoverageTotal::Addition::access(const CheckSite& site, bool writes, uint64_t bytes,
                                     const AccessPattern& pattern) {
  Line& line = file(site).lines[site.line];
  (writes ? line.written : line.read) += bytes;
  std::vector<AccessPattern>& patterns = writes ? line.writes : line.reads;
  const size_t place = places_[{&line, writes}]++;
  patterns.resize(std::max(patterns.size(), place + 1));
  patterns[place].add(pattern);
}

}  // namespace metal::cpu
