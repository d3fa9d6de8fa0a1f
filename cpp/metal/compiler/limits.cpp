#include "metal/compiler/limits.h"

#include <ctime>
#include <memory>
#include <string>

#include "clang/Basic/SourceManager.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"
#include "metal/compiler/compiler.h"
#include "metal/compiler/guarded_thread.h"

namespace metal::compiler {
namespace {

// These limits are far above what kernels need. A source reaches each of them within
// thread_seconds.
constexpr size_t kMaxFiles = 10000;
constexpr size_t kMaxTokens = 2000000;
constexpr size_t kMaxInstantiations = 100000;
constexpr double kMaxSeconds = 30;
constexpr size_t kFactorForFiles = 20;  // for instantiations and seconds
constexpr size_t kTokensBetweenChecks = 4096;

// The time that this thread has run: on a busy machine the limit stays the same.
double thread_seconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

class FileCounter : public clang::PPCallbacks {
 public:
  explicit FileCounter(Limits& limits) : limits_(limits) {}

  void FileChanged(clang::SourceLocation location, FileChangeReason reason,
                   clang::SrcMgr::CharacteristicKind, clang::FileID) override {
    if (reason == EnterFile) limits_.enter_file(location);
  }

 private:
  Limits& limits_;
};

}  // namespace

double Limits::deadline(Allowance allowance) {
  return thread_seconds() + kMaxSeconds * (allowance == Allowance::File ? kFactorForFiles : 1);
}

void Limits::watch(clang::Preprocessor& preprocessor) {
  preprocessor_ = &preprocessor;
  preprocessor.addPPCallbacks(std::make_unique<FileCounter>(*this));
}

void Limits::enter_file(clang::SourceLocation location) {
  if (++files_ > kMaxFiles) report(location, "it includes files more than 10000 times");
}

void Limits::instantiate(clang::SourceLocation location) {
  const size_t most = kMaxInstantiations * (allowance_ == Allowance::File ? kFactorForFiles : 1);
  if (++instantiations_ > most) report(location, "too many instantiations of templates");
  check_time(location);
}

void Limits::lex(clang::SourceLocation location) {
  if (++tokens_ > kMaxTokens) report(location, "more than 2 million tokens after preprocessing");
  if (tokens_ % kTokensBetweenChecks == 0) check_time(location);
}

void Limits::check_time(clang::SourceLocation location) {
  if (thread_seconds() > deadline_) report(location, "it takes too long");
}

void Limits::report(clang::SourceLocation location, const char* text) {
  const clang::PresumedLoc place = preprocessor_->getSourceManager().getPresumedLoc(location);
  std::string message = "fatal error: this source is too much for the compiler: ";
  message = message + text + "\n";
  if (place.isValid()) {
    message = std::string(place.getFilename()) + ":" + std::to_string(place.getLine()) + ":" +
              std::to_string(place.getColumn()) + ": " + message;
  }
  abandon(std::make_exception_ptr(CompileError(message)));
}

}  // namespace metal::compiler
