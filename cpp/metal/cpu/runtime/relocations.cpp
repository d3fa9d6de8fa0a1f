#include "metal/cpu/runtime/relocations.h"

#include <elf.h>

#include <cstring>
#include <string>

#include "metal/cpu/runtime/load_error.h"

namespace metal::cpu {
namespace {

[[noreturn]] void refuse_type(uint32_t type) {
  refuse_code("it has a relocation of the unknown type " + std::to_string(type));
}

template <typename T>
void store(char* place, T value) {
  std::memcpy(place, &value, sizeof(value));
}

uint64_t address_of(const char* place) { return reinterpret_cast<uint64_t>(place); }

// `distance` as a signed number of so many bits.
int64_t within(int64_t distance, unsigned bits) {
  const int64_t limit = int64_t{1} << (bits - 1);
  if (distance < -limit || distance >= limit) refuse_code("a part of it is too far from another");
  return distance;
}

int64_t distance(const char* place, uint64_t value) {
  return static_cast<int64_t>(value - address_of(place));
}

}  // namespace

namespace x86_64 {

Reference reference_of(uint32_t type) {
  switch (type) {
    case R_X86_64_64:
    case R_X86_64_PC32:
    case R_X86_64_PC64:
      return Reference::Direct;
    case R_X86_64_PLT32:
      return Reference::Call;
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
      return Reference::Slot;
    default:
      refuse_type(type);
  }
}

void relocate(uint32_t type, char* place, uint64_t value) {
  if (type == R_X86_64_64) return store(place, value);
  if (type == R_X86_64_PC64) return store(place, distance(place, value));
  store(place, static_cast<int32_t>(within(distance(place, value), 32)));
}

void write_stub(char* place, uint64_t target) {
  constexpr unsigned char kJump[] = {0xff, 0x25, 0, 0, 0, 0};  // jmp *0(%rip)
  std::memcpy(place, kJump, sizeof(kJump));
  store(place + sizeof(kJump), target);
}

}  // namespace x86_64

namespace aarch64 {
namespace {

void add_bits(char* place, uint32_t bits) {
  uint32_t instruction;
  std::memcpy(&instruction, place, sizeof(instruction));
  store(place, instruction | bits);
}

// The distance in pages, in two parts of an ADRP.
uint32_t page_bits(const char* place, uint64_t value) {
  const auto pages = static_cast<int64_t>((value >> 12) - (address_of(place) >> 12));
  const auto number = static_cast<uint32_t>(within(pages, 21));
  return (number & 3) << 29 | (number >> 2 & 0x7ffff) << 5;
}

// The position in a page, in units of so many bytes, as an immediate operand.
uint32_t position_bits(uint64_t value, unsigned log2_unit) {
  return static_cast<uint32_t>((value & 0xfff) >> log2_unit) << 10;
}

}  // namespace

Reference reference_of(uint32_t type) {
  switch (type) {
    case R_AARCH64_ABS64:
    case R_AARCH64_PREL64:
    case R_AARCH64_PREL32:
    case R_AARCH64_ADR_PREL_PG_HI21:
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
    case R_AARCH64_LDST16_ABS_LO12_NC:
    case R_AARCH64_LDST32_ABS_LO12_NC:
    case R_AARCH64_LDST64_ABS_LO12_NC:
    case R_AARCH64_LDST128_ABS_LO12_NC:
      return Reference::Direct;
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26:
      return Reference::Call;
    case R_AARCH64_ADR_GOT_PAGE:
    case R_AARCH64_LD64_GOT_LO12_NC:
      return Reference::Slot;
    default:
      refuse_type(type);
  }
}

void relocate(uint32_t type, char* place, uint64_t value) {
  switch (type) {
    case R_AARCH64_ABS64:
      return store(place, value);
    case R_AARCH64_PREL64:
      return store(place, distance(place, value));
    case R_AARCH64_PREL32:
      return store(place, static_cast<int32_t>(within(distance(place, value), 32)));
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26:
      return add_bits(place, within(distance(place, value), 28) >> 2 & 0x3ffffff);
    case R_AARCH64_ADR_PREL_PG_HI21:
    case R_AARCH64_ADR_GOT_PAGE:
      return add_bits(place, page_bits(place, value));
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
      return add_bits(place, position_bits(value, 0));
    case R_AARCH64_LDST16_ABS_LO12_NC:
      return add_bits(place, position_bits(value, 1));
    case R_AARCH64_LDST32_ABS_LO12_NC:
      return add_bits(place, position_bits(value, 2));
    case R_AARCH64_LDST64_ABS_LO12_NC:
    case R_AARCH64_LD64_GOT_LO12_NC:
      return add_bits(place, position_bits(value, 3));
    case R_AARCH64_LDST128_ABS_LO12_NC:
      return add_bits(place, position_bits(value, 4));
    default:
      refuse_type(type);
  }
}

void write_stub(char* place, uint64_t target) {
  store(place, uint32_t{0x58000050});      // ldr x16, the eight bytes below
  store(place + 4, uint32_t{0xd61f0200});  // br x16
  store(place + 8, target);
}

}  // namespace aarch64

}  // namespace metal::cpu
