// What machine code in memory contains of other addresses. See the supplements of the System V ABI
// for x86-64 ("Relocation") and "ELF for the Arm 64-bit Architecture".
#pragma once

#include <cstdint>

namespace metal::cpu {

// How a relocation names its symbol.
enum class Reference {
  Direct,  // by its own address
  Call,    // by an address near the call: the symbol's, or that of a stub that jumps to it
  Slot,    // by the address of a slot that has the symbol's
};

inline constexpr uint64_t kStubBytes = 16;

// Of each of these, reference_of() throws CompileError for types that code for this architecture
// does not have. relocate() writes what the relocation wants at `place`, where `value` is the
// address that it refers to, with the addend; it throws CompileError if that is too far away.
// write_stub() writes code that jumps to `target`, which may be anywhere.
namespace x86_64 {
Reference reference_of(uint32_t type);
void relocate(uint32_t type, char* place, uint64_t value);
void write_stub(char* place, uint64_t target);
}  // namespace x86_64

namespace aarch64 {
Reference reference_of(uint32_t type);
void relocate(uint32_t type, char* place, uint64_t value);
void write_stub(char* place, uint64_t target);
}  // namespace aarch64

#if defined(__aarch64__)
namespace host = aarch64;
#else
namespace host = x86_64;
#endif

}  // namespace metal::cpu
