// Gathers what Apple's compiler refuses in the user's own files.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "clang/Basic/SourceLocation.h"
#include "metal/checks.h"

namespace clang {
class DiagnosticsEngine;
class SourceManager;
}  // namespace clang

namespace metal::compiler::apple {

inline constexpr uint32_t version(uint32_t major, uint32_t minor) { return major << 16 | minor; }

// What the rules depend on besides the source.
struct Dialect {
  uint32_t language = 0;    // version(major, minor)
  bool with_utils = false;  // MLX's header of overloads for bfloat comes before the source
};

class Reporter {
 public:
  Reporter(const Dialect& dialect, const clang::SourceManager& sources)
      : dialect_(dialect), sources_(sources) {}

  const Dialect& dialect() const { return dialect_; }
  // Whether something is written in the user's files, not in headers of the library or in macros of
  // those.
  bool is_users(clang::SourceLocation location) const;
  // Once for each place and message, and only in the user's files.
  void report(clang::SourceLocation location, const std::string& message);
  // Prints the reports as warnings, in the order of the source.
  void print(clang::DiagnosticsEngine& diagnostics) const;
  std::vector<CheckReport> reports() const;

 private:
  bool is_users_file(clang::SourceLocation location) const;
  CheckPlace place_of(clang::SourceLocation location) const;

  Dialect dialect_;
  const clang::SourceManager& sources_;
  std::set<std::pair<clang::SourceLocation, std::string>> found_;
  mutable std::map<clang::FileID, bool> users_files_;
};

}  // namespace metal::compiler::apple
