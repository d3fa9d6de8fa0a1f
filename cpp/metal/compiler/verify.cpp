#include "metal/compiler/verify.h"

#include <string>

#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "metal/compiler/guarded_thread.h"
#include "metal/compiler/internal_check.h"

namespace metal::compiler {
namespace {

template <typename Code, typename Check>
void verify_code(const Code& code, const char* step, const Place& place, Check is_broken) {
  note_step(step);
  if (!verifies_ir()) return;
  std::string report;
  llvm::raw_string_ostream stream(report);
  if (!is_broken(code, &stream)) return;
  internal_error(
      "broken code of '" + code.getName().str() + "' after the step '" + step + "':\n" + report,
      place);
}

}  // namespace

void verify(const llvm::Function& function, const char* step, const Place& place) {
  verify_code(function, step, place, [](const llvm::Function& code, llvm::raw_ostream* report) {
    return llvm::verifyFunction(code, report);
  });
}

void verify(const llvm::Module& module, const char* step, const Place& place) {
  verify_code(module, step, place, [](const llvm::Module& code, llvm::raw_ostream* report) {
    return llvm::verifyModule(code, report);
  });
}

}  // namespace metal::compiler
