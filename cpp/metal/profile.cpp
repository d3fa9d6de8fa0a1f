#include "metal/profile.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "metal/cpu/runtime/profiler.h"

namespace metal {
namespace {

constexpr size_t kMaxLines = 30;  // of a table

using Json = nlohmann::json;

std::string place_of(const ProfiledLine& line) {
  return line.line ? line.file + ":" + std::to_string(line.line) : "(no line)";
}

// A slice of a track.
Json slice(const std::string& name, uint32_t track, double start, double duration, Json arguments) {
  return {{"ph", "X"},
          {"pid", 1},
          {"tid", track},
          {"name", name},
          {"ts", start},
          {"dur", duration},
          {"args", std::move(arguments)}};
}

Json track_name(uint32_t track, const std::string& name) {
  return {
      {"ph", "M"}, {"pid", 1}, {"tid", track}, {"name", "thread_name"}, {"args", {{"name", name}}}};
}

Json arguments_of(const ProfiledLaunch& launch) {
  Json arguments{
      {"grid", launch.grid}, {"threadgroup", launch.threadgroup}, {"threads", launch.parts.size()}};
  if (launch.lines.empty()) return arguments;
  Json samples;
  for (const ProfiledLine& line : launch.lines) {
    const std::string text = line.text.empty() ? "" : "  " + line.text;
    samples[place_of(line) + text] = line.samples;
  }
  arguments["samples"] = std::move(samples);
  return arguments;
}

}  // namespace

void start_profile() { cpu::Profiler::instance().start(); }

Profile stop_profile() { return cpu::Profiler::instance().stop(); }

std::string trace_of(const Profile& profile) {
  constexpr uint32_t kLaunches = 0;  // this track; those of threads follow
  Json events = Json::array({track_name(kLaunches, "launches")});
  std::set<uint32_t> threads;
  for (const ProfiledLaunch& launch : profile.launches) {
    events.push_back(
        slice(launch.kernel, kLaunches, launch.start, launch.duration, arguments_of(launch)));
    for (const ProfiledLaunch::Part& part : launch.parts) {
      threads.insert(part.thread);
      events.push_back(slice(launch.kernel, part.thread, part.start, part.duration,
                             {{"threadgroups", part.threadgroups}}));
    }
  }
  for (const uint32_t thread : threads)
    events.push_back(track_name(thread, "thread " + std::to_string(thread)));
  const Json trace{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
  return trace.dump(-1, ' ', false, Json::error_handler_t::replace);  // names may be no UTF-8
}

std::string describe(const Profile& profile) {
  uint64_t all = 0;
  for (const ProfiledLine& line : profile.lines) all += line.samples;
  std::string text = "samples  share  kernel                place           source";
  size_t shown = 0;
  for (const ProfiledLine& line : profile.lines) {
    if (shown++ == kMaxLines) break;
    char row[128];
    std::snprintf(row, sizeof(row), "%7llu %5.1f%%  %-20s  %-15s ",
                  static_cast<unsigned long long>(line.samples),
                  100 * static_cast<double>(line.samples) / static_cast<double>(all),
                  line.kernel.c_str(), place_of(line).c_str());
    text += std::string("\n") + row + line.text;
  }
  return text;
}

}  // namespace metal
