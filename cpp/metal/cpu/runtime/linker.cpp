#include "metal/cpu/runtime/linker.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "metal/compiler_library.h"
#include "metal/cpu/codegen/code_generator.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/runtime/additions.h"
#include "metal/cpu/runtime/atomic_float.h"
#include "metal/cpu/runtime/check_calls.h"
#include "metal/cpu/runtime/code_image.h"
#include "metal/cpu/runtime/general_code.h"
#include "metal/cpu/runtime/messages.h"
#include "metal/cpu/runtime/runtime_calls.h"

namespace metal::cpu {
namespace {

// Rounds to nearest, ties to even. LLVM calls this for a bfloat that it has kept as a float. The
// result is in the low bits of the register in which a float is returned.
float truncate_to_bfloat(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const bool nan = (bits & 0x7fffffff) > 0x7f800000;
  const uint32_t rounded = nan ? bits | 0x400000 : bits + 0x7fff + ((bits >> 16) & 1);
  return std::bit_cast<float>(rounded >> 16);
}

// Conversions of half for processors that have none. A half is in the low bits of a float's
// register.
float half_to_float(float half) {
  const auto bits = std::bit_cast<uint32_t>(half);
  const uint32_t magnitude = bits & 0x7fff, sign = (bits & 0x8000) << 16;
  uint32_t result = (magnitude << 13) + (112u << 23);
  if (magnitude >= 0x7c00) result += 112u << 23;  // infinities and NaNs
  if (magnitude < 0x400) result = std::bit_cast<uint32_t>(static_cast<float>(magnitude) * 0x1p-24f);
  return std::bit_cast<float>(result | sign);
}

float truncate_to_half(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7fffffff, sign = (bits >> 16) & 0x8000;
  uint32_t result = 0x7c00;
  if (magnitude > 0x7f800000) {
    result = 0x7e00 | ((magnitude >> 13) & 0x3ff);
  } else if (magnitude < 0x38800000) {  // subnormal: the addition rounds to multiples of 2^-24
    result = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000;
  } else if (magnitude < 0x47800000) {
    result = (magnitude + 0xfff + ((magnitude >> 13) & 1) - (112u << 23)) >> 13;
  }
  return std::bit_cast<float>(result | sign);
}

using Symbols = std::unordered_map<std::string_view, const void*>;

const Symbols& visible_symbols() {
  static const Symbols& symbols = *[] {  // never destroyed
    auto& map = *new Symbols;
    auto add = [&](const char* name, void* address) { map[name] = address; };
    for (const RuntimeCall& call : runtime_calls()) add(call.name, call.address);
    for (const RuntimeCall& call : check_calls()) add(call.name, call.address);
    add("metal_cpu_atomic_add_f32", reinterpret_cast<void*>(&metal_cpu_atomic_add_f32));
    add("metal_cpu_atomic_add_row_f32", reinterpret_cast<void*>(&metal_cpu_atomic_add_row_f32));
    add("metal_cpu_general_code", reinterpret_cast<void*>(&metal_cpu_general_code));
    add(kLogCall, reinterpret_cast<void*>(&metal_cpu_log));
    add("metal_cpu_make_additions", reinterpret_cast<void*>(&metal_cpu_make_additions));
    add("memcpy", reinterpret_cast<void*>(&std::memcpy));
    add("memmove", reinterpret_cast<void*>(&std::memmove));
    add("memset", reinterpret_cast<void*>(&std::memset));
    add("__truncsfbf2", reinterpret_cast<void*>(&truncate_to_bfloat));
    add("__extendhfsf2", reinterpret_cast<void*>(&half_to_float));
    add("__truncsfhf2", reinterpret_cast<void*>(&truncate_to_half));
    add("fmodf", reinterpret_cast<void*>(static_cast<float (*)(float, float)>(&std::fmod)));
    add("fminf", reinterpret_cast<void*>(static_cast<float (*)(float, float)>(&std::fmin)));
    add("fmaxf", reinterpret_cast<void*>(static_cast<float (*)(float, float)>(&std::fmax)));
    add("fmaf", reinterpret_cast<void*>(static_cast<float (*)(float, float, float)>(&std::fma)));
    // On most processors each of these is one instruction.
    add("floorf", reinterpret_cast<void*>(&::floorf));
    add("ceilf", reinterpret_cast<void*>(&::ceilf));
    add("truncf", reinterpret_cast<void*>(&::truncf));
    add("rintf", reinterpret_cast<void*>(&::rintf));
    add("roundevenf", reinterpret_cast<void*>(&::nearbyintf));  // the rounding mode is to nearest
    return &map;
  }();
  return symbols;
}

class LoadedObjects : public LoadedCode {
 public:
  LoadedObjects(std::string_view object, std::function<std::string()> compile_general,
                bool remembered)
      : compile_general_(std::move(compile_general)), remembered_(remembered) {
    entry = reinterpret_cast<EntryPoint>(load(object, kEntrySymbol, object_));
  }

 private:
  void* load(std::string_view object, const char* symbol, std::optional<CodeImage>& image) {
    image.emplace(object, symbol, [this](std::string_view name) { return find(name); });
    if (remembered_) compiler_library().remember_code(object, symbol, image->entry());
    return image->entry();
  }

  const void* find(std::string_view name) const {
    if (name == kGeneralSlot) return &general_;
    const auto found = visible_symbols().find(name);
    return found == visible_symbols().end() ? nullptr : found->second;
  }

  std::function<std::string()> compile_general_;
  bool remembered_;
  std::optional<CodeImage> object_;
  std::optional<CodeImage> general_object_;  // loaded by the first gang that needs it
  GeneralCode general_{
      [this] { return load(compile_general_(), kGeneralSymbol, general_object_); }};
};

}  // namespace

std::unique_ptr<LoadedCode> load_object(std::string_view object,
                                        std::function<std::string()> compile_general,
                                        bool remembered) {
  return std::make_unique<LoadedObjects>(object, std::move(compile_general), remembered);
}

}  // namespace metal::cpu
