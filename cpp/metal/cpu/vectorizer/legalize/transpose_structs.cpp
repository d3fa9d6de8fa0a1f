#include "metal/cpu/vectorizer/legalize/transpose_structs.h"

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

// The reverse of `halves`: of two vectors of halves, the vectors of the structs.
std::pair<Value*, Value*> joined_halves(IRBuilder<>& b, Value* first, Value* second,
                                        unsigned unit) {
  const unsigned lanes = length_of(*first);
  llvm::SmallVector<int> low, high;
  for (unsigned i = 0; i < lanes; i += unit) {
    for (const unsigned vector : {0u, lanes}) {
      for (unsigned element = i; element < i + unit; ++element)
        (i < lanes / 2 ? low : high).push_back(static_cast<int>(vector + element));
    }
  }
  return {b.CreateShuffleVector(first, second, low), b.CreateShuffleVector(first, second, high)};
}

Vectors structs_in_rounds(IRBuilder<>& b, llvm::ArrayRef<Value*> members) {
  if (members.size() == 1) return {members[0]};
  const size_t half = members.size() / 2;
  const Vectors first = structs_in_rounds(b, members.take_front(half));
  const Vectors second = structs_in_rounds(b, members.drop_front(half));
  Vectors structs;
  for (const auto& [a, c] : llvm::zip_equal(first, second)) {
    const auto [low, high] = joined_halves(b, a, c, static_cast<unsigned>(half));
    structs.push_back(low);
    structs.push_back(high);
  }
  return structs;
}

// Where the members of structs start in the operands of a shuffle that makes structs of different
// vectors; none if it does not.
llvm::SmallVector<unsigned> starts_of_members(const ShuffleVectorInst& shuffle,
                                              unsigned in_struct) {
  const llvm::ArrayRef<int> mask = shuffle.getShuffleMask();
  llvm::SmallVector<unsigned> starts;
  if (mask.size() % in_struct != 0 || llvm::is_contained(mask, llvm::PoisonMaskElem) ||
      !ShuffleVectorInst::isInterleaveMask(mask, in_struct, 2 * length_of(*shuffle.getOperand(0)),
                                           starts))
    return {};
  llvm::SmallVector<unsigned> sorted(starts);
  llvm::sort(sorted);
  const auto width = static_cast<unsigned>(mask.size() / in_struct);
  for (const unsigned start : sorted)
    if (start % width != 0) return {};
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()
             ? starts
             : llvm::SmallVector<unsigned>();
}

class StructTransposition {
 public:
  StructTransposition(llvm::Function& function, llvm::TargetMachine& target)
      : function_(function),
        costs_(target.getTargetTransformInfo(function)),
        // AVX-512 has shuffles of any elements of two registers.
        moves_any_(target.getTargetFeatureString().contains("+avx512f")) {}

  void run() {
    for (ShuffleVectorInst* shuffle : all<ShuffleVectorInst>()) compute_with_member(*shuffle);
    for (LoadInst* load : all<LoadInst>()) {
      const Members members = members_of(*load);
      if (!members.taken.empty()) take_apart(*load, members);
    }
    for (ShuffleVectorInst* shuffle : all<ShuffleVectorInst>()) {
      if (!has_elements(*shuffle)) continue;
      for (const unsigned in_struct : kStructs) {
        const auto starts = starts_of_members(*shuffle, in_struct);
        if (!starts.empty() && put_together(*shuffle, starts)) break;
      }
    }
  }

 private:
  template <typename T>
  llvm::SmallVector<T*> all() const {
    llvm::SmallVector<T*> found;
    for (llvm::Instruction& instruction : llvm::instructions(function_))
      if (auto* one = llvm::dyn_cast<T>(&instruction)) found.push_back(one);
    return found;
  }

  // How many lanes' structs are moved at once; zero if a gang has fewer lanes.
  unsigned lanes_at_once(unsigned in_struct, unsigned width) const {
    // LLVM may hold its cost model, but not its code, to half of AVX-512's registers.
    const unsigned lanes =
        moves_any_ ? std::min(width, k512BitLanes)
                   : std::max(in_struct, lanes_in_register(costs_, kElementBytes, kInBlock, width));
    return width < lanes || lanes < kInBlock ? 0 : lanes;
  }

  BlockForm form(unsigned in_struct, unsigned lanes) const {
    return {.in_block = kInBlock, .blocks = in_struct / kInBlock, .lanes = lanes};
  }

  void take_apart(LoadInst& load, const Members& members) {
    const unsigned lanes = lanes_at_once(members.in_struct, length_of(load) / members.in_struct);
    if (!lanes) return;
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

  bool put_together(ShuffleVectorInst& shuffle, llvm::ArrayRef<unsigned> starts) {
    const auto in_struct = static_cast<unsigned>(starts.size());
    const unsigned width = length_of(shuffle) / in_struct;
    const unsigned lanes = lanes_at_once(in_struct, width);
    if (!lanes) return false;
    IRBuilder<> b(&shuffle);
    const unsigned in_operand = length_of(*shuffle.getOperand(0));
    Vectors structs;
    for (unsigned lane = 0; lane < width; lane += lanes) {
      Vectors members;
      for (const unsigned start : starts) {
        members.push_back(extract_subvector(b, shuffle.getOperand(start < in_operand ? 0 : 1),
                                            start % in_operand + lane, lanes));
      }
      llvm::append_range(structs, moves_any_ ? structs_in_rounds(b, members)
                                             : runs_of_columns(b, form(in_struct, lanes), members));
    }
    shuffle.replaceAllUsesWith(llvm::concatenateVectors(b, structs));
    shuffle.eraseFromParent();
    return true;
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

  Vectors load_blocks(IRBuilder<>& b, LoadInst& load, unsigned in_struct, unsigned lanes) const {
    llvm::Instruction* before = load.getPrevNode();
    Vectors structs;
    for (unsigned first = 0; first < length_of(load); first += in_struct)
      structs.push_back(b.CreateConstGEP1_64(b.getInt8Ty(), load.getPointerOperand(),
                                             uint64_t{first} * kElementBytes));
    Vectors members =
        load_columns(b, load.getType()->getScalarType(), form(in_struct, lanes), structs, 0,
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

void transpose_structs(llvm::Module& module, llvm::TargetMachine& target) {
  if (!target.getTargetTriple().isX86()) return;  // AArch64 has loads and stores that do this
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) StructTransposition(function, target).run();
}

}  // namespace metal::cpu
