// Turns kernel form into an object file for the CPU at hand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "metal/compiler/compiler.h"
#include "metal/cpu/codegen/element_access.h"
#include "metal/cpu/variant.h"

namespace metal::cpu {

struct ObjectCode {
  // An ELF object that defines kEntrySymbol; empty if there is no code for joined threadgroups.
  std::string bytes;
  std::string general;  // bitcode of what kGeneralSlot calls; may be empty
  Granularity granularity = Granularity::Group;
  bool has_barriers = false;
  bool prefetches = false;
  bool interchanges = false;
  bool records_thread = false;
  std::string why_scalar;  // why there is no vector code, if it was asked for
};

// What is known of a kernel before code is generated for it.
struct KernelTraits {
  GangTraits gangs;
  uint32_t static_threadgroup_memory = 0;  // bytes
  bool repeats = true;                     // see may_repeat
  bool jumps_along_rows = true;            // see row_access.h
  bool depends_on_overlap = true;          // see separate_memory.h
  // Whether gangs may run at once, and share what they read, or may be left out of phases in which
  // they have nothing to do. Both takes code for one size of the threadgroup. Atomic operations on
  // threadgroup memory are loads and stores (widen_atomics.cpp), between which no other gang may
  // run.
  bool may_jam = false;
  // Whether SIMD-groups that do not wait for each other may run at once, beside each other. Without
  // loops, they would share little.
  bool may_jam_beside = false;
  uint32_t column_dimension = 0;  // see row_access.h
  // Whether the kernel has an argument that depends on the threadgroup.
  bool depends_on_threadgroup = false;
  std::vector<ElementAccess> element_accesses;  // see element_access.h
};

inline constexpr const char* kEntrySymbol = "kernel_entry";
inline constexpr const char* kGeneralSlot = "kernel_general_slot";  // of type GeneralCode
inline constexpr const char* kGeneralSymbol = "kernel_general";     // the function that it loads

KernelTraits find_traits(const FunctionInfo& function, const ConstantValues& constants);

ObjectCode generate_code(const FunctionInfo& function, const ConstantValues& constants,
                         const Variant& variant);

// Compiles ObjectCode::general to an ELF object that defines kGeneralSymbol.
std::string generate_general_code(std::string_view general);

// The code at a stage, as text: "llvm-opt" (after the optimiser) or "asm".
std::string print_code(const FunctionInfo& function, std::string_view form,
                       const uint32_t (&threadgroup)[3]);

}  // namespace metal::cpu
