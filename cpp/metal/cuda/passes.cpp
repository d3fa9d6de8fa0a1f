#include "metal/cuda/passes.h"

#include "llvm/IR/CallingConv.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/element_alignment.h"
#include "metal/compiler/internal_check.h"
#include "metal/compiler/kernel_form.h"
#include "metal/compiler/matrix_calls.h"
#include "metal/compiler/verify.h"
#include "metal/cuda/early_reads.h"
#include "metal/cuda/lane_order.h"
#include "metal/cuda/lower.h"

namespace metal::cuda {
namespace {

llvm::Function* find_entry(llvm::Module& code) {
  const auto entry = llvm::find_if(code, [](const llvm::Function& function) {
    return function.getCallingConv() == llvm::CallingConv::PTX_Kernel;
  });
  internal_check(entry != code.end(), "a module without an entry");
  return &*entry;
}

}  // namespace

void run_passes(llvm::Module& code, PassContext& c) {
#define NVPTX_PASS(name, action) \
  action;                        \
  compiler::verify(code, name);
#include "metal/cuda/passes.def"
}

bool run_pass(llvm::StringRef wanted, llvm::Module& code, PassContext& c) {
#define NVPTX_PASS(name, action) \
  if (wanted == (name)) return action, true;
#include "metal/cuda/passes.def"
  return false;
}

}  // namespace metal::cuda
