// Loads the compiler's shared library, which is in the same folder as this one.
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "metal/compiler_library.h"
#include "metal/process_end.h"

namespace metal {
namespace {

constexpr const char* kName = "libmlx_metal_compiler.so";

std::filesystem::path folder_of_this_library() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void*>(&folder_of_this_library), &info) || !info.dli_fname)
    return {};
  return std::filesystem::path(info.dli_fname).parent_path();
}

CompilerLibrary& load() {
  const std::string path = folder_of_this_library() / kName;
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
