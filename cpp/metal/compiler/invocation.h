// How Clang is set up for MSL: language options, target, and the files that a source may see.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "clang/Frontend/CompilerInvocation.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "metal/compiler/compiler.h"

namespace clang {
class LangOptions;
class TargetInfo;
}  // namespace clang

namespace metal::compiler {

struct Invocation {
  std::shared_ptr<clang::CompilerInvocation> options;
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files;
};

Invocation kernel_invocation(std::string_view source, const CompileOptions& options);
Invocation precompile_invocation(const std::string& header, const std::string& output);

// Lets address spaces qualify methods and pointers. Call after the preprocessor exists, or OpenCL's
// words are keywords.
void allow_address_spaces(clang::LangOptions& language);

// What the abstract machine can do, and the numbers of Metal's address spaces in the IR (those of
// metal::AddressSpace). Call before the AST exists.
void describe_device(clang::TargetInfo& target);

}  // namespace metal::compiler
