// Limits of a compilation: its time and the amount of code that a source may become.
#pragma once

#include <cstddef>

#include "clang/Basic/SourceLocation.h"

namespace clang {
class Preprocessor;
}

namespace metal::compiler {

// Counts what a source unfolds into. Past a limit the compilation is abandoned with an error where
// it stands: after an error of its own Clang would go on including files.
class Limits {
 public:
  // How much a source may take: files of kernels are larger than the kernels of one call, and
  // whoever compiles a file can stop the command.
  enum class Allowance { Kernel, File };

  // The end of the time that a compilation which starts now has, on the clock of this thread.
  static double deadline(Allowance allowance);

  Limits(Allowance allowance, double deadline) : allowance_(allowance), deadline_(deadline) {}
  void watch(clang::Preprocessor& preprocessor);  // before all others

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
