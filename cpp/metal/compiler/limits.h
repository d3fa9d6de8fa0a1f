// Limits for a compilation: its time, and the amount of code that a source expands to.
#pragma once

#include <cstddef>

#include "clang/Basic/SourceLocation.h"

namespace clang {
class Preprocessor;
}

namespace metal::compiler {

// Counts what a source expands to. At a limit the compilation is abandoned with an error at the
// current position, as Clang would continue to include files after an error of its own.
class Limits {
 public:
  // Files of kernels may take more than the kernels of one call: they are larger, and users of the
  // command line can stop it.
  enum class Allowance { Kernel, File };

  // When a compilation that starts now must end, on the clock of this thread.
  static double deadline(Allowance allowance);

  Limits(Allowance allowance, double deadline) : allowance_(allowance), deadline_(deadline) {}
  void watch(clang::Preprocessor& preprocessor);  // must be called before the other functions

  void enter_file(clang::SourceLocation location);
  void instantiate(clang::SourceLocation location);
  void lex(clang::SourceLocation location);
  void check_time(clang::SourceLocation location);

 private:
  [[noreturn]] void report(clang::SourceLocation location, const char* text);

  clang::Preprocessor* preprocessor_ = nullptr;
  size_t files_ = 0, instantiations_ = 0, tokens_ = 0;
  Allowance allowance_;
  double deadline_;
};

}  // namespace metal::compiler
