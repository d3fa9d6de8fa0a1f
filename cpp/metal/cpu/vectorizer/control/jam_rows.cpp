#include "metal/cpu/vectorizer/control/jam_rows.h"

#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/verify.h"
#include "metal/cpu/codegen/group_access.h"
#include "metal/cpu/codegen/optimizer.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/variant.h"
#include "metal/cpu/vectorizer/control/assume_inside.h"
#include "metal/cpu/vectorizer/memory/buffers.h"
#include "metal/cpu/vectorizer/prepare.h"
#include "metal/cpu/vectorizer/shapes/shape_analysis.h"
#include "metal/cpu/vectorizer/speculation.h"
#include "metal/cpu/vectorizer/widen/blocks.h"
#include "metal/cpu/vectorizer/widen/widen_memory.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

constexpr int64_t kRunBytes = 64;      // a line of memory, which a lane should access as a whole
constexpr uint64_t kMaxJammed = 1024;  // instructions
// Vectors that are loaded before one of them is stored: about as many as there are registers.
constexpr uint64_t kMaxLoads = 32;

// The shapes of arguments in a column of threads along this dimension.
BodyShapes column_shapes(unsigned dimension, uint32_t threads) {
  Shape::Offsets places(threads);
  for (uint32_t i = 0; i < threads; ++i) places[i] = i;
  BodyShapes shapes{.width = threads, .arguments = {}};
  shapes.arguments.assign(kActiveArgument + 1, Shape::uniform());
  shapes.arguments[kXArgument + dimension] = Shape::with_offsets(places, 0, true, {true, true});
  shapes.arguments[kIndexArgument] = Shape::varying();
  return shapes;
}

struct Analysis {
  Analysis(llvm::Function& body, const BodyShapes& threads)
      : dominators(body),
        post_dominators(body),
        loops(dominators),
        shapes(body, threads, post_dominators, loops) {}

  llvm::DominatorTree dominators;
  llvm::PostDominatorTree post_dominators;
  llvm::LoopInfo loops;
  ShapeAnalysis shapes;
};

// Finds what lanes access apart from each other in device memory, and the threads of a column
// beside each other.
class RunFinder {
 public:
  RunFinder(llvm::Function& body, const ShapeAnalysis& row, const ShapeAnalysis& column)
      : body_(body), row_(row), column_(column) {}

  // The bytes that a thread accesses of a run; the most if there are several, 0 if there is none.
  int64_t bytes_of_thread() {
    for (Instruction& instruction : llvm::instructions(body_)) add(instruction);
    int64_t most = 0;
    for (const auto& [run, count] : accesses_) {
      const auto& [opcode, start, size, step] = run;
      if (step <= size * count) most = std::max(most, step);
    }
    return most;
  }

 private:
  void add(Instruction& instruction) {
    Value* address = const_cast<Value*>(llvm::getLoadStorePointerOperand(&instruction));
    if (!address || !is_device_memory(address)) return;
    const llvm::DataLayout& layout = body_.getParent()->getDataLayout();
    const auto size =
        static_cast<int64_t>(layout.getTypeStoreSize(llvm::getLoadStoreType(&instruction)));
    const Shape places = column_.shape(address);
    if (!places.has_offsets()) return;
    const int64_t step = places.offset(1);
    if (step < size || step > kRunBytes / kFewestAtOnce) return;
    if (!row_.shape(address).may_be_apart(kWidestStride * size)) return;
    ++accesses_[{instruction.getOpcode(), split_constant(address, layout).first, size, step}];
  }

  using Run = std::tuple<unsigned, const Value*, int64_t, int64_t>;

  llvm::Function& body_;
  const ShapeAnalysis& row_;
  const ShapeAnalysis& column_;
  std::map<Run, int64_t> accesses_;
};

// The blocks that a thread runs if it does not end before it has effects. There are no loops.
class Path {
 public:
  explicit Path(llvm::Function& body) {
    bool has_effect = false;
    for (BasicBlock* block = &body.getEntryBlock(); block && !has_effect; block = next(*block)) {
      blocks_.push_back(block);
      size_ += block->size();
      for (const Instruction& instruction : *block) {
        valid_ &=
            can_take_turns(instruction) && !llvm::isa<llvm::PHINode, llvm::AllocaInst>(instruction);
        has_effect |= has_effects(instruction);
        loads_ += llvm::isa<llvm::LoadInst>(instruction) &&
                  is_device_memory(llvm::getLoadStorePointerOperand(&instruction));
      }
    }
    valid_ &= has_effect && ends(*blocks_.back());
  }

  bool valid() const { return valid_; }
  uint64_t size() const { return size_; }
  uint64_t loads() const { return loads_; }  // of device memory
  llvm::ArrayRef<BasicBlock*> blocks() const { return blocks_; }

 private:
  static bool only_returns(const BasicBlock& block) {
    return block.sizeWithoutDebug() == 1 && llvm::isa<llvm::ReturnInst>(block.getTerminator());
  }

  // Whether the thread ends behind the block.
  static bool ends(const BasicBlock& block) {
    const BasicBlock* successor = block.getUniqueSuccessor();
    return successor ? only_returns(*successor)
                     : llvm::isa<llvm::ReturnInst>(block.getTerminator());
  }

  static BasicBlock* next(BasicBlock& block) {
    for (BasicBlock* successor : llvm::successors(&block)) {
      if (successor->getSinglePredecessor() == &block && !only_returns(*successor))
        return successor;
    }
    return nullptr;
  }

  llvm::SmallVector<BasicBlock*> blocks_;
  bool valid_ = true;
  uint64_t size_ = 0;
  uint64_t loads_ = 0;
};

// Writes the instructions of a path for each thread of a column, in turns, to a block of their own.
class Jam {
 public:
  Jam(llvm::Function& body, const ShapeAnalysis& column, const JammedRows& jammed)
      : body_(body),
        column_(column),
        b_(BasicBlock::Create(body.getContext(), "column", &body, &body.getEntryBlock())),
        others_(jammed.threads - 1) {
    GroupAccess group(b_, body.getArg(kGroupArgument));
    Value* step = group.size(0);
    if (jammed.dimension == 2) step = b_.CreateNUWMul(step, group.size(1));
    Value* place = body.getArg(kXArgument + jammed.dimension);
    Value* index = body.getArg(kIndexArgument);
    for (uint32_t i = 1; i < jammed.threads; ++i) {
      llvm::ValueToValueMapTy& values = values_of(i);
      values[place] = b_.CreateAdd(place, b_.getInt32(i), "", true, true);
      values[index] = b_.CreateAdd(index, b_.CreateMul(step, b_.getInt32(i)));
    }
  }

  void write(const Path& path) {
    const BasicBlock* before = nullptr;
    for (BasicBlock* block : path.blocks()) {
      if (before) assume_way(*before, *block);
      before = block;
      for (Instruction& instruction : llvm::make_early_inc_range(*block)) {
        if (!instruction.isTerminator()) write(instruction);
      }
    }
    b_.CreateRetVoid();
    llvm::EliminateUnreachableBlocks(body_);
  }

 private:
  llvm::ValueToValueMapTy& values_of(uint32_t thread) {
    auto& values = others_[thread - 1];
    if (!values) values = std::make_unique<llvm::ValueToValueMapTy>();
    return *values;
  }

  Value* value_of(uint32_t thread, Value* value) {
    Value* known = values_of(thread).lookup(value);
    return known ? known : value;
  }

  void write(Instruction& instruction) {
    const Shape shape = column_.shape(&instruction);
    instruction.moveBefore(*b_.GetInsertBlock(), b_.GetInsertPoint());
    const bool has_value = !instruction.getType()->isVoidTy();
    if (has_value && shape.is_uniform()) return;
    for (uint32_t thread = 1; thread <= others_.size(); ++thread) {
      Value* made = has_value ? next_to(instruction, shape, thread) : nullptr;
      values_of(thread)[&instruction] = made ? made : copy(instruction, thread);
    }
  }

  // What is a known distance from the first thread's value. Null if nothing is known.
  Value* next_to(Instruction& first, const Shape& shape, uint32_t thread) {
    if (!shape.has_offsets() || !shape.exact()) return nullptr;
    const int64_t distance = shape.offset(thread);
    if (first.getType()->isPointerTy())
      return b_.CreateGEP(b_.getInt8Ty(), &first, b_.getInt64(static_cast<uint64_t>(distance)));
    if (!first.getType()->isIntegerTy()) return nullptr;
    // As an unsigned number, a negative distance is a large one, with which the sum wraps around.
    const Shape::NoWrap no_wrap = shape.no_wrap();
    return b_.CreateAdd(&first, llvm::ConstantInt::getSigned(first.getType(), distance), "",
                        no_wrap.as_unsigned && distance >= 0, no_wrap.as_signed);
  }

  Value* copy(Instruction& first, uint32_t thread) {
    Instruction* copy = first.clone();
    llvm::RemapInstruction(copy, values_of(thread),
                           llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals);
    return b_.Insert(copy);
  }

  // All threads go on with `next`.
  void assume_way(const BasicBlock& block, const BasicBlock& next) {
    const auto* branch = checked_cast<llvm::BranchInst>(block.getTerminator());
    if (branch->isUnconditional()) return;
    Value* condition = branch->getCondition();
    llvm::SmallVector<Value*> conditions{condition};
    for (uint32_t thread = 1; thread <= others_.size(); ++thread) {
      Value* its = value_of(thread, condition);
      if (its != condition) conditions.push_back(its);
    }
    const bool taken = branch->getSuccessor(0) == &next;
    Value* agreed = taken ? b_.CreateAnd(conditions) : b_.CreateNot(b_.CreateOr(conditions));
    bail_out_unless(b_, agreed);
  }

  llvm::Function& body_;
  const ShapeAnalysis& column_;
  llvm::IRBuilder<> b_;
  // The values of the threads behind the first one, by its values.
  std::vector<std::unique_ptr<llvm::ValueToValueMapTy>> others_;
};

// Jams threads along a dimension, `most` at most. False if that does not pay.
bool jam_along(JammedRows& jammed, uint32_t most, const BodyShapes& row_shapes) {
  if (most < kFewestAtOnce) return false;
  llvm::Function& body = *jammed.body;
  const Path path(body);
  const BodyShapes threads = column_shapes(jammed.dimension, most);
  const Analysis row(body, row_shapes), column(body, threads);
  const int64_t bytes = RunFinder(body, row.shapes, column.shapes).bytes_of_thread();
  if (bytes == 0 || !path.valid()) return false;
  const uint64_t count =
      std::min({uint64_t{most}, static_cast<uint64_t>(kRunBytes / bytes), kMaxJammed / path.size(),
                kMaxLoads / std::max<uint64_t>(path.loads(), 1)});
  if (count < kFewestAtOnce) return false;
  jammed.threads = static_cast<uint32_t>(llvm::bit_floor(count));
  Jam(body, column.shapes, jammed).write(path);
  return true;
}

}  // namespace

JammedRows clone_jamming_rows(llvm::Function& body, const Variant& variant,
                              const BodyShapes& shapes, Optimizer& optimizer) {
  if (!Path(body).valid()) return {};
  llvm::ValueToValueMapTy values;
  JammedRows jammed{.body = llvm::CloneFunction(&body, values)};
  PreparePass().run(*jammed.body, optimizer.functions());
  if (!jam_along(jammed, variant.rows_at_once, shapes)) {
    jammed.dimension = 2;
    if (!jam_along(jammed, variant.layers_at_once, shapes)) {
      jammed.body->eraseFromParent();
      return {};
    }
  }
  optimizer.simplify_body(*jammed.body);
  undo_guarded_forms(*jammed.body);
  compiler::verify(*jammed.body, "jam-rows");
  return jammed;
}

}  // namespace metal::cpu
