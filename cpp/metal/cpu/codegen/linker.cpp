#include "metal/cpu/codegen/linker.h"

#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>

#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "metal/compiler/compiler.h"
#include "metal/compiler/guarded_thread.h"
#include "metal/cpu/codegen/code_generator.h"
#include "metal/cpu/codegen/line_map.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/runtime/additions.h"
#include "metal/cpu/runtime/atomic_float.h"
#include "metal/cpu/runtime/check_calls.h"
#include "metal/cpu/runtime/general_code.h"
#include "metal/cpu/runtime/messages.h"
#include "metal/cpu/runtime/runtime_calls.h"

namespace metal::cpu {
namespace {

namespace orc = llvm::orc;

orc::LLJIT& jit() {
  static orc::LLJIT& instance = *[] {
    compiler::prepare_llvm();
    auto created = orc::LLJITBuilder()
                       .setLinkProcessSymbolsByDefault(false)
                       .setPlatformSetUp(orc::setUpInactivePlatform)
                       .create();
    if (!created) throw CompileError("cannot load code: " + llvm::toString(created.takeError()));
    return created->release();  // kernels may outlive every static object
  }();
  return instance;
}

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

const orc::SymbolMap& visible_symbols() {
  static const orc::SymbolMap& symbols = *[] {  // never destroyed
    auto& map = *new orc::SymbolMap;
    auto add = [&](const char* name, void* address) {
      map[jit().mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(address),
                                          llvm::JITSymbolFlags::Exported};
    };
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

void check(llvm::Error error) {
  if (error) throw CompileError("cannot load code: " + llvm::toString(std::move(error)));
}

class JitCode : public LoadedCode {
 public:
  JitCode(orc::JITDylib& library, std::function<std::string()> compile_general, bool remembered)
      : library_(library), compile_general_(std::move(compile_general)), remembered_(remembered) {}
  ~JitCode() override { llvm::consumeError(jit().getExecutionSession().removeJITDylib(library_)); }

  void load(std::string_view object) {
    check(library_.define(orc::absoluteSymbols(visible_symbols())));
    check(library_.define(orc::absoluteSymbols(
        {{jit().mangleAndIntern(kGeneralSlot),
          {orc::ExecutorAddr::fromPtr(&general_), llvm::JITSymbolFlags::Exported}}})));
    entry = add(object, kEntrySymbol).toPtr<EntryPoint>();
  }

 private:
  orc::ExecutorAddr add(std::string_view object, const char* symbol) {
    check(jit().addObjectFile(library_,
                              llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(object))));
    auto address = jit().lookup(library_, symbol);
    check(address.takeError());
    if (remembered_) remember_code(object, symbol, address->toPtr<void*>());
    return *address;
  }

  orc::JITDylib& library_;
  std::function<std::string()> compile_general_;
  bool remembered_;
  GeneralCode general_{[this] { return add(compile_general_(), kGeneralSymbol).toPtr<void*>(); }};
};

}  // namespace

std::unique_ptr<LoadedCode> load_object(std::string_view object,
                                        std::function<std::string()> compile_general,
                                        bool remembered) {
  static std::atomic<uint64_t> count{0};
  auto& library =
      jit().getExecutionSession().createBareJITDylib("kernel" + std::to_string(++count));
  auto code = std::make_unique<JitCode>(library, std::move(compile_general), remembered);
  code->load(object);
  return code;
}

}  // namespace metal::cpu
