#include "metal/checks.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace metal {
namespace {

constexpr std::pair<std::string_view, Checks> kNames[] = {
    {"bounds", kCheckBounds},     {"bounds=strict", kCheckBounds | kCheckStrict},
    {"barriers", kCheckBarriers}, {"races", kCheckRaces},
    {"apple", kCheckApple},       {"uninitialised", kCheckUninitialised},
    {"numbers", kCheckNumbers},   {"numbers=float64", kCheckNumbers | kCheckRounding},
    {"order", kCheckOrder},       {"all", kAllChecks}};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

Checks named(std::string_view word, const std::string& where) {
  for (const auto& [name, checks] : kNames) {
    if (word == name) return checks;
  }
  std::string known;
  for (const auto& [name, checks] : kNames) known.append(known.empty() ? "" : ", ").append(name);
  throw std::invalid_argument(where + " Unknown check \"" + std::string(word) + "\"; known are " +
                              known + ".");
}

// The caret's line: what stands before it keeps its tabs, so that both lines are aligned.
std::string caret_below(const std::string& text, uint32_t column) {
  std::string line;
  for (uint32_t i = 0; i + 1 < column; ++i) line += i < text.size() && text[i] == '\t' ? '\t' : ' ';
  return line + "^";
}

std::string coordinates(const uint32_t (&value)[3]) {
  return "(" + std::to_string(value[0]) + ", " + std::to_string(value[1]) + ", " +
         std::to_string(value[2]) + ")";
}

std::string diagnostic(const CheckPlace& place, const std::string& kernel,
                       const std::string& message) {
  std::string text = place.file.empty() ? kernel : place.file;
  if (place.line) text += ":" + std::to_string(place.line);
  if (place.line && place.column) text += ":" + std::to_string(place.column);
  text += ": " + message + "\n";
  if (place.text.empty()) return text;
  text += "  " + place.text + "\n";
  if (place.column) text += "  " + caret_below(place.text, place.column) + "\n";
  return text;
}

}  // namespace

std::string describe(const ThreadPosition& position) {
  return coordinates(position.thread) + " of threadgroup " + coordinates(position.threadgroup);
}

Checks parse_checks(std::string_view text, const std::string& where) {
  text = trimmed(text);
  if (text.empty() || text == "0") return kNoChecks;
  Checks checks = kNoChecks;
  for (bool more = true; more;) {
    const size_t comma = text.find(',');
    more = comma != std::string_view::npos;
    checks |= named(trimmed(text.substr(0, comma)), where);
    text.remove_prefix(more ? comma + 1 : 0);
  }
  return checks;
}

Schedules parse_schedules(std::string_view text, const std::string& where) {
  const std::string_view given = text = trimmed(text);
  if (text.empty()) return {};
  const bool one = text.starts_with('s');
  text.remove_prefix(one);
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0) {
    throw std::invalid_argument(where + " Expected a number of orders, or the token of one such " +
                                "as \"s3\", but got \"" + std::string(given) + "\".");
  }
  return one ? Schedules{number, 1} : Schedules{1, number};
}

Schedules chosen_schedules() {
  const char* text = std::getenv("MLX_CHECK_ORDER");
  return parse_schedules(text ? text : "", "[MLX_CHECK_ORDER]");
}

std::string describe(const CheckReport& report) {
  std::string text = diagnostic(report.place, report.kernel, report.kind + ": " + report.message);
  if (report.of_thread) {
    text += "  in thread " + describe(report.position);
    if (report.count > 1) {
      text += ", and " + std::to_string(report.count - 1) +
              (report.count == 2 ? " time more" : " times more");
    }
    text += "\n";
  }
  if (!report.note.empty())
    text += diagnostic(report.note_place, report.kernel, "note: " + report.note);
  return text;
}

std::string describe(const std::vector<CheckReport>& reports) {
  std::string text = "[" + reports.front().kernel + "] The kernel failed its checks (" +
                     std::to_string(reports.size()) +
                     (reports.size() == 1 ? " report):\n" : " reports):\n");
  for (const CheckReport& report : reports) text += describe(report);
  text.pop_back();
  return text;
}

}  // namespace metal
