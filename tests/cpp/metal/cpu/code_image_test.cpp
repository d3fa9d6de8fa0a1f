// Object files in memory.
#include "metal/cpu/runtime/code_image.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "metal/compiler_library.h"
#include "metal/cpu/codegen/code_generator.h"
#include "metal/cpu/runtime/relocations.h"

namespace metal::cpu {
namespace {

// Threads that call the runtime, and read a table of constants.
std::string make_object() {
  const auto program = compile(R"(
    constant float table[37] = {1, 2, 3, 5};
    kernel void k(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
      threadgroup_barrier(metal::mem_flags::mem_device);
      x[i] = table[uint(x[i]) % 37] + metal::simd_sum(x[i]);
    })");
  return compiler_library().generate_code(program->functions.at(0), {}, {}).bytes;
}

const void* nothing(std::string_view) { return nullptr; }

std::string message_of(const std::string& object, const CodeImage::FindSymbol& find,
                       std::string_view entry = kEntrySymbol) {
  try {
    const CodeImage image(object, entry, find);
  } catch (const CompileError& error) {
    return error.what();
  }
  return {};
}

TEST(CodeImage, NamesWhatIsMissing) {
  const std::string object = make_object();
  static const int any = 0;
  EXPECT_EQ(message_of(object, [](std::string_view) { return &any; }), "");
  EXPECT_NE(message_of(object, nothing).find("unknown symbol metal_cpu_"), std::string::npos);
  EXPECT_EQ(message_of(
                object, [](std::string_view) { return &any; }, "other"),
            "cannot load code: it does not define other");
}

TEST(CodeImage, RefusesWhatIsNoObjectFile) {
  EXPECT_NE(message_of("", nothing), "");
  EXPECT_NE(message_of(std::string(1000, 'x'), nothing), "");
}

TEST(CodeImage, RefusesFilesThatAreCutShort) {
  const std::string object = make_object();
  static const int any = 0;
  for (size_t size = 0; size < object.size(); size += 61) {
    EXPECT_NE(message_of(object.substr(0, size), [](std::string_view) { return &any; }), "")
        << size;
  }
}

// The bytes at `place` once a relocation has been made there.
template <typename T, typename Relocate>
T relocated(Relocate relocate, uint32_t type, T before, int64_t distance, char* place) {
  std::memcpy(place, &before, sizeof(T));
  relocate(type, place, reinterpret_cast<uint64_t>(place) + static_cast<uint64_t>(distance));
  T after;
  std::memcpy(&after, place, sizeof(T));
  return after;
}

TEST(Relocations, OfX86) {
  alignas(8) char place[8] = {};
  const auto address = reinterpret_cast<uint64_t>(place);
  auto made = [&]<typename T>(uint32_t type, T before, int64_t distance) {
    return relocated(x86_64::relocate, type, before, distance, place);
  };
  EXPECT_EQ(made(R_X86_64_64, uint64_t{0}, 40), address + 40);
  EXPECT_EQ(made(R_X86_64_PC64, int64_t{0}, -(int64_t{1} << 40)), -(int64_t{1} << 40));
  for (uint32_t type : {R_X86_64_PC32, R_X86_64_PLT32, R_X86_64_REX_GOTPCRELX}) {
    EXPECT_EQ(made(type, int32_t{0}, -12345), -12345);
    EXPECT_THROW(made(type, int32_t{0}, int64_t{1} << 31), CompileError);
  }
  EXPECT_EQ(x86_64::reference_of(R_X86_64_PC32), Reference::Direct);
  EXPECT_EQ(x86_64::reference_of(R_X86_64_PLT32), Reference::Call);
  EXPECT_EQ(x86_64::reference_of(R_X86_64_GOTPCRELX), Reference::Slot);
  EXPECT_THROW(x86_64::reference_of(R_X86_64_TPOFF32), CompileError);
}

// The expected words are what an assembler makes of instructions with these distances.
TEST(Relocations, OfAArch64) {
  alignas(4096) static char page[8192];
  char* const place = page + 0x10;
  auto made = [&](uint32_t type, uint32_t before, int64_t distance) {
    return relocated(aarch64::relocate, type, before, distance, place);
  };
  EXPECT_EQ(made(R_AARCH64_CALL26, 0x94000000, 0x1000), 0x94000400u);  // bl .+0x1000
  EXPECT_EQ(made(R_AARCH64_JUMP26, 0x14000000, -4), 0x17ffffffu);      // b .-4
  EXPECT_THROW(made(R_AARCH64_CALL26, 0x94000000, int64_t{1} << 27), CompileError);
  // adrp x0, the page after the next; adrp x0, the page before
  EXPECT_EQ(made(R_AARCH64_ADR_PREL_PG_HI21, 0x90000000, 0x2000), 0xd0000000u);
  EXPECT_EQ(made(R_AARCH64_ADR_GOT_PAGE, 0x90000000, -0x1000), 0xf0ffffe0u);
  EXPECT_THROW(made(R_AARCH64_ADR_GOT_PAGE, 0x90000000, int64_t{1} << 33), CompileError);
  // add x0, x0, #0x28; ldrb, ldrh, ldr w, ldr x, ldr q from [x0, #0x30]
  EXPECT_EQ(made(R_AARCH64_ADD_ABS_LO12_NC, 0x91000000, 0x18), 0x9100a000u);
  EXPECT_EQ(made(R_AARCH64_LDST8_ABS_LO12_NC, 0x39400000, 0x20), 0x3940c000u);
  EXPECT_EQ(made(R_AARCH64_LDST16_ABS_LO12_NC, 0x79400000, 0x20), 0x79406000u);
  EXPECT_EQ(made(R_AARCH64_LDST32_ABS_LO12_NC, 0xb9400000, 0x20), 0xb9403000u);
  EXPECT_EQ(made(R_AARCH64_LD64_GOT_LO12_NC, 0xf9400000, 0x20), 0xf9401800u);
  EXPECT_EQ(made(R_AARCH64_LDST128_ABS_LO12_NC, 0x3dc00000, 0x20), 0x3dc00c00u);
  EXPECT_EQ(made(R_AARCH64_PREL32, 0, -8), uint32_t(-8));
  EXPECT_EQ(aarch64::reference_of(R_AARCH64_CALL26), Reference::Call);
  EXPECT_EQ(aarch64::reference_of(R_AARCH64_LD64_GOT_LO12_NC), Reference::Slot);
  EXPECT_THROW(aarch64::reference_of(R_AARCH64_TLSDESC_CALL), CompileError);
}

}  // namespace
}  // namespace metal::cpu
