// What can be checked of a kernel while it runs, and the findings.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "metal/api.h"

namespace metal {

// A set of them, as bits. A kernel's code for a set is code of its own.
using Checks = uint32_t;
inline constexpr Checks kNoChecks = 0;
inline constexpr Checks kCheckBounds = 1;          // accesses outside of the object that is meant
inline constexpr Checks kCheckStrict = 2;          // bounds: reads whose value is discarded, too
inline constexpr Checks kCheckBarriers = 4;        // barriers that not all threads reach
inline constexpr Checks kCheckRaces = 8;           // unordered accesses of two threads to one place
inline constexpr Checks kCheckApple = 16;          // what Apple's compiler or hardware refuses
inline constexpr Checks kCheckUninitialised = 32;  // uses of memory that nobody has written
inline constexpr Checks kCheckNumbers = 64;        // NaNs and infinities, indices that wrap around
inline constexpr Checks kCheckOrder = 128;         // results that depend on which threads run first
inline constexpr Checks kCoverage = 256;  // no check: counts what threads run, see coverage.h
inline constexpr Checks kProfile = 512;   // no check either: launches are timed, see profile.h
inline constexpr Checks kDebug = 1024;    // nor this: threads stop for a debugger, see debugger.h
inline constexpr Checks kCheckRounding = 2048;  // numbers: results of 16 bits beside float64, too
inline constexpr Checks kAllChecks =
    kCheckBounds | kCheckBarriers | kCheckRaces | kCheckApple | kCheckUninitialised | kCheckNumbers;
// Those of the source: nothing is checked while the kernel runs.
inline constexpr Checks kSourceChecks = kCheckApple;

// From a list such as "bounds,races"; "all", and "" or "0" for none. Throws std::invalid_argument,
// with `where` in front, for words that name no check.
METAL_API Checks parse_checks(std::string_view text, const std::string& where);

// In which orders kCheckOrder runs threads, by the numbers of schedule.h.
struct Schedules {
  uint32_t first = 1;
  uint32_t count = 4;
};
// From a number of them, or the token of one, "s3"; the default where it is empty. Throws
// std::invalid_argument with `where` in front.
METAL_API Schedules parse_schedules(std::string_view text, const std::string& where);
// Those that MLX_CHECK_ORDER names.
METAL_API Schedules chosen_schedules();

struct ThreadPosition {
  uint32_t thread[3] = {};  // in its threadgroup
  uint32_t threadgroup[3] = {};
};

// A place in a source.
struct CheckPlace {
  std::string file;   // as the compiler names it in its diagnostics; empty where unknown
  uint32_t line = 0;  // 0 where the code came without lines
  uint32_t column = 0;
  std::string text;  // of that line
};

}  // namespace metal

// As Metal/Command.hpp declares it.
namespace MTL {

// One thing that is wrong with a kernel, however many threads did it: the first is named.
struct CheckReport {
  std::string kind;    // name of the check
  std::string kernel;  // its own name
  metal::CheckPlace place;
  std::string object;     // name of the buffer or variable, or of the function that is a barrier
  int64_t index = 0;      // in elements of the object
  uint64_t size = 0;      // likewise; 0 where it is not known
  bool of_thread = true;  // false: of the launch or the source
  metal::ThreadPosition position;
  uint64_t count = 1;  // how often it happened
  std::string message;
  std::string note;  // what happened at another place, or nothing
  metal::CheckPlace note_place;
};

}  // namespace MTL

namespace metal {

using MTL::CheckReport;
using CheckHandler = std::function<void(const std::vector<CheckReport>&)>;

std::string describe(const ThreadPosition& position);
// As a compiler prints its diagnostics: place, message, line and caret.
METAL_API std::string describe(const CheckReport& report);
METAL_API std::string describe(const std::vector<CheckReport>& reports);

// What a checked launch knows besides its parameters.
struct CheckedLaunch {
  Checks checks = kNoChecks;
  CheckHandler handler;  // gets the reports, if there are any; it may throw
  // What counts as the buffer bound at an index; by default it is the buffer from its start.
  struct Extent {
    const char* begin = nullptr;
    uint64_t bytes = 0;
    bool unwritten = false;  // what it has before the launch is not defined
  };
  std::vector<Extent> buffers;
  Schedules schedules;
};

}  // namespace metal
