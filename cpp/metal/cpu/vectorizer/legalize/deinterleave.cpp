#include "metal/cpu/vectorizer/legalize/deinterleave.h"

#include <algorithm>

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/vectorizer/widen/blocks.h"

namespace metal::cpu {
namespace {

using llvm::IRBuilder;
using llvm::LoadInst;
using llvm::ShuffleVectorInst;
using llvm::Value;

using Vectors = llvm::SmallVector<Value*>;

constexpr unsigned kElementBytes = 4;    // processors have the most shuffles of these
constexpr unsigned kStructs[] = {8, 4};  // elements
constexpr unsigned kInBlock = kBlockBytes / kElementBytes;
constexpr unsigned k512BitLanes = 64 / kElementBytes;

unsigned length_of(const Value& vector) {
  return checked_cast<llvm::FixedVectorType>(vector.getType())->getNumElements();
}

bool has_elements(const Value& vector) {
  return vector.getType()->getScalarSizeInBits() == 8 * kElementBytes;
}

// Whether the shuffle takes a member of all structs.
bool takes_member(const ShuffleVectorInst& shuffle, unsigned in_struct, unsigned& member) {
  return length_of(shuffle) * in_struct == length_of(*shuffle.getOperand(0)) &&
         ShuffleVectorInst::isDeInterleaveMaskOfFactor(shuffle.getShuffleMask(), in_struct, member);
}

// Whether the structs' members are taken apart.
bool is_taken_apart(const Value& structs, unsigned in_struct) {
  return llvm::isa<LoadInst>(structs) && llvm::any_of(structs.users(), [&](const llvm::User* user) {
           const auto* shuffle = llvm::dyn_cast<ShuffleVectorInst>(user);
           unsigned member = 0;
           return shuffle && takes_member(*shuffle, in_struct, member);
         });
}

// LLVM computes with whole structs where one member of a result is used: that saves a shuffle only
// if the structs are not taken apart anyway.
void compute_with_member(ShuffleVectorInst& shuffle) {
  auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(shuffle.getOperand(0));
  if (!operation || !operation->hasOneUse() || !has_elements(*operation)) return;
  const unsigned in_struct = length_of(*operation) / length_of(shuffle);
  unsigned member = 0;
  if (!llvm::is_contained(kStructs, in_struct) || !takes_member(shuffle, in_struct, member) ||
      !is_taken_apart(*operation->getOperand(0), in_struct) ||
      !is_taken_apart(*operation->getOperand(1), in_struct))
    return;
  IRBuilder<> b(&shuffle);
  const auto taken = [&](unsigned i) {
    return b.CreateShuffleVector(operation->getOperand(i), shuffle.getShuffleMask());
  };
  auto* computed = llvm::BinaryOperator::Create(operation->getOpcode(), taken(0), taken(1));
  computed->copyIRFlags(operation);
  shuffle.replaceAllUsesWith(b.Insert(computed));
  shuffle.eraseFromParent();
  operation->eraseFromParent();
}

// The vectors that a load of structs is used for: which member of the structs each has.
struct Members {
  unsigned in_struct = 0;
  llvm::SmallVector<std::pair<ShuffleVectorInst*, unsigned>> taken;
};

// No members, if the load is used for anything else.
Members members_of(LoadInst& load, unsigned in_struct) {
  Members members{in_struct, {}};
  for (llvm::User* user : load.users()) {
    auto* shuffle = llvm::dyn_cast<ShuffleVectorInst>(user);
    unsigned member = 0;
    if (!shuffle || shuffle->getOperand(0) != &load || !takes_member(*shuffle, in_struct, member))
      return {};
    members.taken.push_back({shuffle, member});
  }
  const bool are_several = llvm::any_of(
      members.taken, [&](const auto& taken) { return taken.second != members.taken[0].second; });
  return are_several ? members : Members{};
}

Members members_of(LoadInst& load) {
  if (!llvm::isa<llvm::FixedVectorType>(load.getType()) || !load.isSimple() || !has_elements(load))
    return {};
  for (const unsigned in_struct : kStructs) {
    Members members = members_of(load, in_struct);
    if (!members.taken.empty()) return members;
  }
  return {};
}

// Of structs of `2 * unit` elements, which follow each other in the vectors, the first halves and
// the second ones.
std::pair<Vectors, Vectors> halves(IRBuilder<>& b, llvm::ArrayRef<Value*> vectors, unsigned unit) {
  llvm::SmallVector<int> first, second;
  for (unsigned i = 0; i < 2 * length_of(*vectors[0]); ++i)
    (i / unit % 2 ? second : first).push_back(static_cast<int>(i));
  std::pair<Vectors, Vectors> result;
  for (size_t i = 0; i < vectors.size(); i += 2) {
    result.first.push_back(b.CreateShuffleVector(vectors[i], vectors[i + 1], first));
    result.second.push_back(b.CreateShuffleVector(vectors[i], vectors[i + 1], second));
  }
  return result;
}

Vectors members_in_rounds(IRBuilder<>& b, llvm::ArrayRef<Value*> vectors) {
  if (vectors.size() == 1) return {vectors[0]};
  const auto [first, second] = halves(b, vectors, static_cast<unsigned>(vectors.size() / 2));
  Vectors members = members_in_rounds(b, first);
  llvm::append_range(members, members_in_rounds(b, second));
  return members;
}

class Deinterleave {
 public:
  Deinterleave(llvm::Function& function, llvm::TargetMachine& target)
      : function_(function),
        costs_(target.getTargetTransformInfo(function)),
        // AVX-512 has shuffles of any elements of two registers.
        moves_any_(target.getTargetFeatureString().contains("+avx512f")) {}

  void run() {
    llvm::SmallVector<ShuffleVectorInst*> shuffles;
    for (llvm::Instruction& instruction : llvm::instructions(function_))
      if (auto* shuffle = llvm::dyn_cast<ShuffleVectorInst>(&instruction))
        shuffles.push_back(shuffle);
    for (ShuffleVectorInst* shuffle : shuffles) compute_with_member(*shuffle);
    llvm::SmallVector<LoadInst*> loads;
    for (llvm::Instruction& instruction : llvm::instructions(function_))
      if (auto* load = llvm::dyn_cast<LoadInst>(&instruction)) loads.push_back(load);
    for (LoadInst* load : loads) {
      const Members members = members_of(*load);
      if (!members.taken.empty()) replace(*load, members);
    }
  }

 private:
  void replace(LoadInst& load, const Members& members) {
    const unsigned width = length_of(load) / members.in_struct;
    // LLVM may hold its cost model, but not its code, to half of AVX-512's registers.
    const unsigned lanes =
        moves_any_ ? std::min(width, k512BitLanes)
                   : std::max(members.in_struct,
                              lanes_in_register(costs_, kElementBytes, kInBlock, width));
    if (width < lanes || lanes < kInBlock) return;
    IRBuilder<> b(&load);
    Vectors made = moves_any_ ? load_registers(b, load, members.in_struct, lanes)
                              : load_blocks(b, load, members.in_struct, lanes);
    for (const auto& [shuffle, member] : members.taken) {
      made[member]->takeName(shuffle);
      shuffle->replaceAllUsesWith(made[member]);
      shuffle->eraseFromParent();
    }
    load.eraseFromParent();
  }

  static Vectors load_registers(IRBuilder<>& b, LoadInst& load, unsigned in_struct,
                                unsigned lanes) {
    auto* type = llvm::FixedVectorType::get(load.getType()->getScalarType(), lanes);
    llvm::SmallVector<Vectors> parts(in_struct);
    for (unsigned first = 0; first < length_of(load); first += in_struct * lanes) {
      Vectors registers;
      for (unsigned i = 0; i < in_struct; ++i) {
        const unsigned offset = (first + i * lanes) * kElementBytes;
        auto* part = b.CreateAlignedLoad(
            type, b.CreateConstGEP1_64(b.getInt8Ty(), load.getPointerOperand(), offset),
            llvm::commonAlignment(load.getAlign(), offset));
        part->copyMetadata(load);
        registers.push_back(part);
      }
      for (const auto& [member, part] : llvm::enumerate(members_in_rounds(b, registers)))
        parts[member].push_back(part);
    }
    Vectors members;
    for (const Vectors& lanes_of_member : parts)
      members.push_back(llvm::concatenateVectors(b, lanes_of_member));
    return members;
  }

  static Vectors load_blocks(IRBuilder<>& b, LoadInst& load, unsigned in_struct, unsigned lanes) {
    const BlockForm form{.in_block = kInBlock, .blocks = in_struct / kInBlock, .lanes = lanes};
    llvm::Instruction* before = load.getPrevNode();
    Vectors structs;
    for (unsigned first = 0; first < length_of(load); first += in_struct)
      structs.push_back(b.CreateConstGEP1_64(b.getInt8Ty(), load.getPointerOperand(),
                                             uint64_t{first} * kElementBytes));
    Vectors members =
        load_columns(b, load.getType()->getScalarType(), form, structs, 0,
                     llvm::commonAlignment(load.getAlign(), uint64_t{in_struct} * kElementBytes));
    const auto start = before ? std::next(before->getIterator()) : load.getParent()->begin();
    for (llvm::Instruction& made : llvm::make_range(start, load.getIterator()))
      if (auto* part = llvm::dyn_cast<LoadInst>(&made)) part->copyMetadata(load);
    return members;
  }

  llvm::Function& function_;
  llvm::TargetTransformInfo costs_;
  bool moves_any_;
};

}  // namespace

void deinterleave(llvm::Module& module, llvm::TargetMachine& target) {
  if (!target.getTargetTriple().isX86()) return;  // AArch64 has loads that do this
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) Deinterleave(function, target).run();
}

}  // namespace metal::cpu
