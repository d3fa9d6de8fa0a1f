// Loads the compiler's shared library, which is in the same folder as this one.
#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "metal/compiler_library.h"
#include "metal/process_end.h"
#include "metal/programs/resources.h"

namespace metal {
namespace {

constexpr const char* kName = "libmlx_metal_compiler.so";

CompilerLibrary& load() {
  const std::string path = compiler::code_folder() / kName;
  // LLVM's symbols stay local, as another package may bring its own LLVM into the same process.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* symbol = library ? dlsym(library, "metal_compiler_library") : nullptr;
  if (!symbol) throw CompileError(std::string("cannot load the compiler: ") + dlerror());
  // Handlers run in reverse order: LLVM's variables are destroyed after this one has waited.
  std::atexit(end_use);
  return *reinterpret_cast<decltype(&metal_compiler_library)>(symbol)();
}

}  // namespace

CompilerLibrary& compiler_library() {
  static CompilerLibrary& library = load();
  return library;
}

}  // namespace metal
