// Sets up Clang for MSL: language options, target, and the files that a source may include.
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
// Whether the source begins with MLX's helpers, as the kernels of metal_kernel do.
bool starts_with_utils(std::string_view source);
// The version of the language that is compiled: major << 16 | minor.
uint32_t language_version(const CompileOptions& options);

Invocation precompile_invocation(const std::string& header, const std::string& output);

// Lets address spaces qualify methods and pointers. Must be called after the preprocessor is
// created, or OpenCL's words become keywords.
void allow_address_spaces(clang::LangOptions& language);

// Sets the properties of the abstract machine and the numbers of Metal's address spaces in the IR,
// those of metal::AddressSpace. Must be called before the AST is created.
void describe_device(clang::TargetInfo& target);

}  // namespace metal::compiler
