#include "metal/cpu/vectorizer/memory/columns.h"

#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/memory/separate_memory.h"
#include "metal/cpu/vectorizer/widen/blocks.h"
#include "metal/cpu/vectorizer/widen/widen_memory.h"

namespace metal::cpu {
namespace {

using llvm::CallInst;
using llvm::Instruction;
using llvm::Value;

constexpr size_t kMostOpen = 16;  // groups with which a column is compared

int64_t distance_of(const CallInst& column) {
  return checked_cast<llvm::ConstantInt>(column.getArgOperand(1))->getSExtValue();
}

int64_t element_size(const CallInst& column) {
  return static_cast<int64_t>(
      column.getModule()->getDataLayout().getTypeStoreSize(column.getType()->getScalarType()));
}

// Columns of one form in a block of code, whose addresses differ by constants.
struct ColumnGroup {
  struct Member {
    CallInst* column;
    int64_t offset;  // bytes from the first member
  };
  llvm::SmallVector<Member> members;

  CallInst& first() const { return *members[0].column; }
};

// All members are read at the first one, so nothing in between may write to their memory.
class ColumnFinder {
 public:
  explicit ColumnFinder(llvm::ScalarEvolution& evolution) : evolution_(evolution) {}

  std::vector<ColumnGroup> run(llvm::Function& code) {
    for (llvm::BasicBlock& block : code) {
      for (Instruction& instruction : block) visit(instruction);
      llvm::move(open_, std::back_inserter(found_));
      open_.clear();
    }
    return std::move(found_);
  }

 private:
  void visit(Instruction& instruction) {
    if (is_column(instruction)) {
      add(*checked_cast<CallInst>(&instruction));
    } else if (instruction.mayWriteToMemory()) {
      close([&](const ColumnGroup& group) { return !are_separate(group.first(), instruction); });
    }
  }

  void add(CallInst& column) {
    for (ColumnGroup& group : open_) {
      const auto offset = offset_from(group.first(), column);
      if (offset) return group.members.push_back({&column, *offset});
    }
    if (open_.size() == kMostOpen) close([&](auto& group) { return &group == open_.data(); });
    open_.push_back({{{&column, 0}}});
  }

  void close(llvm::function_ref<bool(const ColumnGroup&)> ends) {
    llvm::erase_if(open_, [&](ColumnGroup& group) {
      const bool is_over = ends(group);
      if (is_over) found_.push_back(std::move(group));
      return is_over;
    });
  }

  // The call names the type of the elements and how many there are.
  std::optional<int64_t> offset_from(const CallInst& one, const CallInst& other) {
    if (one.getCalledFunction() != other.getCalledFunction() ||
        distance_of(one) != distance_of(other))
      return std::nullopt;
    const auto* distance = llvm::dyn_cast<llvm::SCEVConstant>(evolution_.getMinusSCEV(
        evolution_.getSCEV(first_of_column(other)), evolution_.getSCEV(first_of_column(one))));
    if (!distance) return std::nullopt;
    const int64_t offset = distance->getAPInt().getSExtValue();
    return offset % element_size(one) == 0 ? std::optional(offset) : std::nullopt;
  }

  llvm::ScalarEvolution& evolution_;
  llvm::SmallVector<ColumnGroup> open_;
  std::vector<ColumnGroup> found_;
};

// The marks of the memory that a column is in.
void copy_scopes(const CallInst& column, Instruction& access) {
  access.copyMetadata(column, {llvm::LLVMContext::MD_alias_scope, llvm::LLVMContext::MD_noalias});
}

// Each block that is read has the elements of several neighbouring columns.
void read_together(const ColumnGroup& group, const llvm::TargetTransformInfo& costs) {
  CallInst& first = group.first();
  llvm::IRBuilder<> b(&first);
  Instruction* before = first.getPrevNode();
  auto* vector = checked_cast<llvm::FixedVectorType>(first.getType());
  const int64_t size = element_size(first);
  const unsigned width = vector->getNumElements();
  const unsigned in_block = std::min(static_cast<unsigned>(kBlockBytes / size), width);
  const int64_t bytes = in_block * size;
  const auto [root, constant] =
      split_constant(first_of_column(first), first.getModule()->getDataLayout());
  llvm::SmallVector<int64_t> offsets;
  llvm::Align align(static_cast<uint64_t>(size));
  for (const auto& [column, offset] : group.members) {
    offsets.push_back(offset);
    align = std::min(align, column->getParamAlign(0).valueOrOne());
  }
  const auto starts = cover_with_fewest(offsets, size, bytes, constant % size ? 0 : constant);
  llvm::SmallVector<Value*> pointers;
  for (unsigned lane = 0; lane < width; ++lane)
    pointers.push_back(
        b.CreateConstGEP1_64(b.getInt8Ty(), root, constant + lane * distance_of(first)));
  const BlockForm form{in_block, 1, lanes_in_register(costs, size, in_block, width)};
  llvm::SmallVector<llvm::SmallVector<Value*>> blocks;
  for (int64_t start : starts)
    blocks.push_back(load_columns(b, vector->getElementType(), form, pointers, start, align));
  for (Instruction* made = before ? before->getNextNode() : &first.getParent()->front();
       made != &first; made = made->getNextNode()) {
    if (llvm::isa<llvm::LoadInst>(made)) copy_scopes(first, *made);
  }
  for (const auto& [column, offset] : group.members) {
    const auto block = std::prev(llvm::upper_bound(starts, offset)) - starts.begin();
    const int64_t place = (offset - starts[static_cast<size_t>(block)]) / size;
    column->replaceAllUsesWith(blocks[static_cast<size_t>(block)][static_cast<size_t>(place)]);
  }
  for (const auto& [column, offset] : group.members) column->eraseFromParent();
}

}  // namespace

CallInst* create_column(llvm::IRBuilder<>& b, llvm::Type* vector, Value* first, int64_t distance,
                        llvm::Align align) {
  std::string name = kColumn;
  llvm::raw_string_ostream text(name);
  text << "." << *vector << "." << *first->getType();
  llvm::Module& module = *b.GetInsertBlock()->getModule();
  auto* type = llvm::FunctionType::get(vector, {first->getType(), b.getInt64Ty()}, false);
  auto* function = checked_cast<llvm::Function>(module.getOrInsertFunction(name, type).getCallee());
  function->setMemoryEffects(llvm::MemoryEffects::argMemOnly(llvm::ModRefInfo::Ref));
  for (const auto attribute : {llvm::Attribute::NoUnwind, llvm::Attribute::WillReturn,
                               llvm::Attribute::NoSync, llvm::Attribute::NoFree})
    function->addFnAttr(attribute);
  function->addParamAttr(0, llvm::Attribute::NoCapture);
  CallInst* column = b.CreateCall(function, {first, b.getInt64(distance)});
  column->addParamAttr(0, llvm::Attribute::getWithAlignment(b.getContext(), align));
  return column;
}

bool is_column(const Instruction& instruction) {
  const auto* call = llvm::dyn_cast<CallInst>(&instruction);
  return call && call->getCalledFunction() &&
         call->getCalledFunction()->getName().starts_with(kColumn);
}

Value* first_of_column(const CallInst& column) { return column.getArgOperand(0); }

int64_t bytes_of_column(const CallInst& column) {
  const unsigned lanes = checked_cast<llvm::FixedVectorType>(column.getType())->getNumElements();
  return (lanes - 1) * distance_of(column) + element_size(column);
}

void join_columns(llvm::Function& wide, llvm::FunctionAnalysisManager& analyses,
                  const llvm::TargetTransformInfo& costs) {
  if (llvm::none_of(llvm::instructions(wide), is_column)) return;
  analyses.clear();
  const auto groups =
      ColumnFinder(analyses.getResult<llvm::ScalarEvolutionAnalysis>(wide)).run(wide);
  for (const ColumnGroup& group : groups) read_together(group, costs);
  analyses.clear();
}

}  // namespace metal::cpu
