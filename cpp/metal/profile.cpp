#include "metal/profile.h"

#include <cstdio>
#include <set>

#include "metal/cpu/runtime/profiler.h"

namespace metal {
namespace {

constexpr size_t kMaxLines = 30;  // of a table

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) >= ' ') {
      result += c;
    } else {
      char code[8];
      std::snprintf(code, sizeof(code), "\\u%04x", static_cast<unsigned>(c));
      result += code;
    }
  }
  return result + "\"";
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3f", value);
  return text;
}

std::string sizes(const uint32_t (&of)[3]) {
  return "[" + std::to_string(of[0]) + ", " + std::to_string(of[1]) + ", " + std::to_string(of[2]) +
         "]";
}

std::string place_of(const ProfiledLine& line) {
  return line.line ? line.file + ":" + std::to_string(line.line) : "(no line)";
}

// A slice of a track.
std::string slice(const std::string& name, uint32_t track, double start, double duration,
                  const std::string& arguments) {
  return R"({"ph": "X", "pid": 1, "tid": )" + std::to_string(track) + R"(, "name": )" +
         quoted(name) + R"(, "ts": )" + number(start) + R"(, "dur": )" + number(duration) +
         R"(, "args": {)" + arguments + "}}";
}

std::string track_name(uint32_t track, const std::string& name) {
  return R"({"ph": "M", "pid": 1, "tid": )" + std::to_string(track) +
         R"(, "name": "thread_name", "args": {"name": )" + quoted(name) + "}}";
}

std::string arguments_of(const ProfiledLaunch& launch) {
  std::string text = R"("grid": )" + sizes(launch.grid) + R"(, "threadgroup": )" +
                     sizes(launch.threadgroup) + R"(, "threads": )" +
                     std::to_string(launch.parts.size());
  if (launch.lines.empty()) return text;
  text += R"(, "samples": {)";
  for (const ProfiledLine& line : launch.lines) {
    text += (&line == &launch.lines.front() ? "" : ", ") +
            quoted(place_of(line) + (line.text.empty() ? "" : "  " + line.text)) + ": " +
            std::to_string(line.samples);
  }
  return text + "}";
}

}  // namespace

void start_profile() { cpu::Profiler::instance().start(); }

Profile stop_profile() { return cpu::Profiler::instance().stop(); }

std::string trace_of(const Profile& profile) {
  constexpr uint32_t kLaunches = 0;  // this track; those of threads follow
  std::string text = R"({"displayTimeUnit": "ms", "traceEvents": [)";
  text += "\n" + track_name(kLaunches, "launches");
  std::set<uint32_t> threads;
  for (const ProfiledLaunch& launch : profile.launches) {
    text += ",\n" +
            slice(launch.kernel, kLaunches, launch.start, launch.duration, arguments_of(launch));
    for (const ProfiledLaunch::Part& part : launch.parts) {
      threads.insert(part.thread);
      text += ",\n" + slice(launch.kernel, part.thread, part.start, part.duration,
                            R"("threadgroups": )" + std::to_string(part.threadgroups));
    }
  }
  for (const uint32_t thread : threads)
    text += ",\n" + track_name(thread, "thread " + std::to_string(thread));
  return text + "\n]}\n";
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
