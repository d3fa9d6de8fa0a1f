#include "metal/compiler/internal_check.h"

#include <exception>
#include <string_view>

#include "metal/compiler/guarded_thread.h"

namespace metal {
namespace {

void erase_all(std::string& text, std::string_view part) {
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at))
    text.erase(at, part.size());
}

// Makes "metal::cpu::fold_pair" of "llvm::Value* metal::cpu::fold_pair(llvm::IRBuilder<>&, ...)".
std::string name_of(const Place& place) {
  std::string name = place.function_name();
  for (const char* unnamed : {"{anonymous}::", "(anonymous namespace)::"}) erase_all(name, unnamed);
  name.resize(std::min(name.find('('), name.size()));
  const size_t space = name.find_last_of(" *&");
  return space == std::string::npos ? name : name.substr(space + 1);
}

}  // namespace

void internal_error(const std::string& what, const Place& place) {
  compiler::abandon(
      std::make_exception_ptr(InternalError("[" + name_of(place) + "] internal error: " + what +
                                            " (a fault of mlx-anywhere, not of the kernel)")));
}

}  // namespace metal
