#include "metal/cuda/driver/library_search.h"

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string_view>

#include "metal/driver.h"

namespace metal {
namespace {

struct PackageFolders {
  std::mutex mutex;
  std::vector<std::string> folders;
};

PackageFolders& package_folders() {
  static PackageFolders& folders = *new PackageFolders;
  return folders;
}

}  // namespace

void set_package_folders(std::vector<std::string> folders) {
  PackageFolders& known = package_folders();
  const std::lock_guard lock(known.mutex);
  known.folders = std::move(folders);
}

namespace cuda {
namespace {

bool libraries_wanted() {
  const char* given = std::getenv("MLX_CUDA_LIBRARIES");
  return !given || std::string_view(given) != "0";
}

// The files of this name in NVIDIA's packages: FOLDER/nvidia/PACKAGE/lib/NAME.
std::vector<std::string> files_of_packages(const std::string& name) {
  PackageFolders& known = package_folders();
  const std::lock_guard lock(known.mutex);
  std::vector<std::string> files;
  for (const std::string& folder : known.folders) {
    std::error_code ignored;
    for (const auto& package : std::filesystem::directory_iterator(folder + "/nvidia", ignored)) {
      const std::filesystem::path file = package.path() / "lib" / name;
      if (std::filesystem::exists(file, ignored)) files.push_back(file.string());
    }
  }
  return files;
}

}  // namespace

std::vector<void*> open_libraries(const std::string& name) {
  std::vector<void*> libraries;
  if (!libraries_wanted()) return libraries;
  std::vector<std::string> files = files_of_packages(name);
  files.insert(files.begin(), name);
  for (const std::string& file : files) {
    if (void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) libraries.push_back(library);
  }
  return libraries;
}

void* aligned_workspace(void* memory) {
  const auto address = std::bit_cast<uintptr_t>(memory) + kWorkspaceAlignment - 1;
  return std::bit_cast<void*>(address / kWorkspaceAlignment * kWorkspaceAlignment);
}

}  // namespace cuda
}  // namespace metal
