#include "metal/programs/resources.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "llvm/Config/llvm-config.h"

namespace metal::compiler {
namespace {

namespace fs = std::filesystem;

// The directory is beside the library with this code (in an installed package), in the build tree,
// or given by the environment.
std::string find_resources() {
  if (const char* given = std::getenv("MLX_METAL_RESOURCES")) return given;
  if (const fs::path folder = code_folder(); !folder.empty()) {
    for (const fs::path& candidate : {folder / "metal", folder / ".." / "lib" / "metal"}) {
      if (fs::exists(candidate / "stdlib" / "metal_stdlib"))
        return fs::weakly_canonical(candidate).string();
    }
  }
  return METAL_RESOURCE_DIRECTORY;
}

}  // namespace

fs::path code_folder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void*>(&code_folder), &info) || !info.dli_fname) return {};
  return fs::weakly_canonical(info.dli_fname).parent_path();
}

std::string resource_directory() {
  static const auto& directory = *new std::string(find_resources());  // never destroyed
  return directory;
}

std::string stdlib_directory() { return resource_directory() + "/stdlib"; }

std::string preferred_directory() { return stdlib_directory() + "/preferred"; }

std::string precompiled_header(bool with_mlx_utils) {
  return resource_directory() + (with_mlx_utils ? "/mlx_utils.pch" : "/metal_stdlib.pch");
}

std::string stdlib_fingerprint() {
  static const auto& fingerprint = *[] {  // never destroyed
    std::string text = LLVM_VERSION_STRING;
    std::error_code error;
    for (const bool with_utils : {false, true}) {
      const fs::path file = precompiled_header(with_utils);
      text += ";" + std::to_string(fs::file_size(file, error)) + ";" +
              std::to_string(fs::last_write_time(file, error).time_since_epoch().count());
    }
    return new std::string(text + ";" + resource_directory());
  }();
  return fingerprint;
}

}  // namespace metal::compiler
