#include "metal/cpu/vectorizer/prefetch/prefetch_ahead.h"

#include <cstdlib>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"
#include "metal/compiler/barriers.h"
#include "metal/compiler/checked_cast.h"
#include "metal/cpu/cache_line.h"
#include "metal/cpu/codegen/group_access.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/control/gang_dependence.h"
#include "metal/cpu/vectorizer/memory/buffers.h"
#include "metal/cpu/vectorizer/memory/nontemporal_stores.h"
#include "metal/cpu/vectorizer/prefetch/prefetch.h"
#include "metal/cpu/vectorizer/prefetch/stride_in_loop.h"
#include "metal/cpu/vectorizer/prefetch/stride_of_gangs.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::LoadInst;
using llvm::Value;

constexpr uint64_t kIterations = 8;  // distance of the prefetch
constexpr uint64_t kTiles = 2;       // the same if iterations are long, as between barriers
constexpr uint64_t kNear = 256;      // bytes between iterations that processors follow
constexpr unsigned kMaxReads = 4;    // in a loop
constexpr uint64_t kPage = 4096;     // bytes

// Whether it reads device memory that may change.
bool reads_device_memory(const Instruction& instruction) {
  const auto* load = llvm::dyn_cast<LoadInst>(&instruction);
  return load && !reads_constants(*load) && is_device_memory(load->getPointerOperand());
}

// Whether the next gang of a row reads on where a gang ends. Then it also prefetches on, and jammed
// gangs need no branch for the line in which a gang's access ends.
class NextGang {
 public:
  NextGang(llvm::Function& body, const BodyShapes& shapes, llvm::ScalarEvolution& evolution)
      : shapes_(shapes),
        dependence_(body, {kXArgument, kIndexArgument}, shapes.width),
        stride_(dependence_, shapes.width, evolution) {}

  bool reads_on(LoadInst& read) {
    if (!shapes_.row_has_gangs) return false;
    const auto* bytes =
        llvm::dyn_cast_or_null<llvm::SCEVConstant>(stride_.of(read.getPointerOperand()));
    const llvm::DataLayout& layout = read.getModule()->getDataLayout();
    return bytes && bytes->getAPInt() == shapes_.width * layout.getTypeStoreSize(read.getType());
  }

 private:
  const BodyShapes& shapes_;
  GangDependence dependence_;
  StrideOfGangs stride_;
};

void mark_stream(llvm::CallInst& prefetch) {
  prefetch.setMetadata(kStream, llvm::MDNode::get(prefetch.getContext(), {}));
}

// Inserts a prefetch at so many bytes after the address of a read.
void prefetch_behind(LoadInst& read, Value* bytes, Cache cache, NextGang& next) {
  llvm::IRBuilder<> b(&read);
  Value* address = b.CreateGEP(b.getInt8Ty(), read.getPointerOperand(), bytes);
  llvm::CallInst* prefetch = create_prefetch(b, address, cache);
  if (next.reads_on(read)) mark_stream(*prefetch);
}

// ---- Iterations of a loop ----

bool is_far(const llvm::SCEV* stride) {
  const auto* known = llvm::dyn_cast<llvm::SCEVConstant>(stride);
  return !known || known->getAPInt().abs().uge(kNear);
}

// The bytes from lane 0's element to that of a lane that would follow the last one, if lanes read a
// region without leaving out a cache line. Otherwise 0.
uint64_t region_of_lanes(const LoadInst& load, const ShapeAnalysis& analysis) {
  const Shape shape = analysis.shape(load.getPointerOperand());
  if (!shape.has_offsets() || shape.is_uniform()) return 0;
  const int64_t apart = shape.offset(1);
  for (unsigned lane = 2; lane < analysis.width(); ++lane) {
    if (shape.offset(lane) - shape.offset(lane - 1) != apart) return 0;
  }
  const auto distance = static_cast<uint64_t>(std::abs(apart));
  return distance <= kCacheLine ? distance * analysis.width() : 0;
}

bool has_barrier(const llvm::Loop& loop) {
  return llvm::any_of(loop.blocks(), [](const llvm::BasicBlock* block) {
    return llvm::any_of(*block, compiler::is_threadgroup_barrier);
  });
}

class LoopPrefetch {
 public:
  LoopPrefetch(llvm::Loop& loop, const llvm::LoopInfo& loops, llvm::ScalarEvolution& evolution,
               const ShapeAnalysis& analysis, NextGang& next)
      : loop_(loop),
        loops_(loops),
        evolution_(evolution),
        analysis_(analysis),
        next_(next),
        strides_(loop, evolution),
        fills_tiles_(has_barrier(loop)) {}

  bool run() {
    if (loop_.isInnermost()) mark_what_reads_on();
    if (!fills_tiles_ && !loop_.isInnermost()) return false;
    const uint64_t distance = fills_tiles_ ? kTiles : kIterations;
    const unsigned count = evolution_.getSmallConstantTripCount(&loop_);
    if ((count != 0 && count <= distance) || !find_reads()) return false;
    const llvm::DataLayout& layout = loop_.getHeader()->getModule()->getDataLayout();
    llvm::SCEVExpander expander(evolution_, layout, "ahead");
    Reads fetched;
    for (const Read& read : reads_) {
      const auto [load, stride] = read;
      const llvm::SCEV* bytes =
          evolution_.getMulExpr(stride, evolution_.getConstant(stride->getType(), distance));
      if (brings(fetched, read) || !expander.isSafeToExpandAt(bytes, load)) continue;
      prefetch_behind(*load, expander.expandCodeFor(bytes, bytes->getType(), load), Cache::Second,
                      next_);
      fetched.push_back(read);
    }
    return !fetched.empty();
  }

 private:
  using Read = std::pair<LoadInst*, const llvm::SCEV*>;  // with its stride
  using Reads = llvm::SmallVector<Read>;

  // False if the loop is of another kind. A loop that fills tiles may also read what is near.
  bool find_reads() {
    for (llvm::BasicBlock* block : loop_.blocks()) {
      if (loops_.getLoopFor(block) != &loop_) continue;
      for (Instruction& instruction : *block) {
        if (!reads_device_memory(instruction)) continue;
        auto* load = checked_cast<LoadInst>(&instruction);
        const llvm::SCEV* stride = strides_.of(load->getPointerOperand());
        const bool far = stride && is_far(stride) && !continues(*load, stride);
        if (fills_tiles_ && stride && !far) continue;
        if (!far || reads_.size() == kMaxReads) return false;
        reads_.emplace_back(load, stride);
      }
    }
    return true;
  }

  void mark_what_reads_on() {
    for (llvm::BasicBlock* block : loop_.blocks()) {
      for (Instruction& instruction : *block) {
        auto* load = llvm::dyn_cast<LoadInst>(&instruction);
        const llvm::SCEV* stride = load ? strides_.of(load->getPointerOperand()) : nullptr;
        if (stride && !stride->isZero() && continues(*load, stride))
          load->setMetadata(kReadsOn, llvm::MDNode::get(load->getContext(), {}));
      }
    }
  }

  // Whether iterations read on where the lanes of the one before ended. Processors follow that.
  bool continues(const LoadInst& load, const llvm::SCEV* stride) const {
    const auto* known = llvm::dyn_cast<llvm::SCEVConstant>(stride);
    return known && known->getAPInt().abs().ule(region_of_lanes(load, analysis_));
  }

  // Whether the prefetch of an earlier read also brings what this one reads, such as the y of a
  // point whose x was read: few lanes' elements are in another cache line than their neighbours.
  bool brings(const Reads& fetched, const Read& read) {
    return llvm::any_of(fetched, [&](const Read& before) {
      if (before.second != read.second || before.first->getParent() != read.first->getParent())
        return false;
      const auto* apart = llvm::dyn_cast<llvm::SCEVConstant>(
          evolution_.getMinusSCEV(evolution_.getSCEV(read.first->getPointerOperand()),
                                  evolution_.getSCEV(before.first->getPointerOperand())));
      return apart && apart->getAPInt().abs().ult(kCacheLine);
    });
  }

  llvm::Loop& loop_;
  const llvm::LoopInfo& loops_;
  llvm::ScalarEvolution& evolution_;
  const ShapeAnalysis& analysis_;
  NextGang& next_;
  StrideInLoop strides_;
  const bool fills_tiles_;
  Reads reads_;
};

bool prefetch_iterations(llvm::Function& body, const BodyShapes& shapes,
                         llvm::FunctionAnalysisManager& analyses) {
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(body);
  const auto& loops = analyses.getResult<llvm::LoopAnalysis>(body);
  if (loops.empty()) return false;
  const llvm::PostDominatorTree post_dominators(body);
  const ShapeAnalysis analysis(body, shapes, post_dominators, loops);
  NextGang next(body, shapes, evolution);
  bool changed = false;
  for (llvm::Loop* loop : loops.getLoopsInPreorder())
    changed |= LoopPrefetch(*loop, loops, evolution, analysis, next).run();
  return changed;
}

// ---- Streams ----

bool has_nontemporal_stores(const llvm::Function& body) {
  return llvm::any_of(llvm::instructions(body), [](const Instruction& instruction) {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    return store && is_nontemporal(*store);
  });
}

// Whether an address depends on a value in memory, or on the quotients of an index. Then the next
// address cannot be predicted.
bool is_unpredictable(const Value* address) {
  llvm::SmallPtrSet<const Value*, 16> found;
  llvm::SmallVector<const Value*> work{address};
  while (!work.empty()) {
    const auto* instruction = llvm::dyn_cast<Instruction>(work.pop_back_val());
    if (!instruction || !found.insert(instruction).second) continue;
    if (llvm::isa<LoadInst>(instruction) && !reads_constants(*instruction)) return true;
    if (instruction->isIntDivRem()) return true;
    work.append(instruction->value_op_begin(), instruction->value_op_end());
  }
  return false;
}

// The distance of the prefetch: a page, or the distance to the address that the same thread of the
// threadgroup that runs next will read.
Value* bytes_to_next(LoadInst& read) {
  llvm::Function& body = *read.getFunction();
  llvm::IRBuilder<> b(&read);
  Value* threads = GroupAccess(b, body.getArg(kGroupArgument)).order_stride();
  const uint64_t size = body.getParent()->getDataLayout().getTypeStoreSize(read.getType());
  Value* next = b.CreateMul(threads, b.getInt64(size));
  return b.CreateSelect(b.CreateIsNull(threads), b.getInt64(kPage), next);
}

// Prefetches in the iteration of an interchanged loop: for a thread a page further in the row, or,
// beyond its end, for one near its start in the next iteration. If a row is shorter than a page,
// for the same thread in a later iteration.
class IterationPrefetch {
 public:
  explicit IterationPrefetch(llvm::Function& body) : body_(body) {}

  static bool is_iteration(const llvm::Function& body) {
    return body.arg_size() > kIterationArgument;
  }

  // The address to prefetch for a read.
  Value* address_ahead(LoadInst& read) {
    llvm::IRBuilder<> b(&read);
    const uint64_t size = body_.getParent()->getDataLayout().getTypeStoreSize(read.getType());
    Value* ahead = b.getInt32(static_cast<uint32_t>(kPage / std::min(size, kPage)));  // threads
    Value* row = GroupAccess(b, body_.getArg(kGroupArgument)).size(0);
    llvm::Argument *x = body_.getArg(kXArgument), *iteration = body_.getArg(kIterationArgument);
    // The lanes of a gang go to the next iteration together.
    Value* gang = b.CreateAnd(x, b.getInt32(~(kSimdWidth - 1)));
    Value* is_short = b.CreateICmpULT(row, ahead);
    Value* is_in_row = b.CreateICmpULT(b.CreateAdd(gang, ahead), row);
    Value* threads = b.CreateSelect(is_in_row, ahead, b.CreateSub(ahead, row));
    // Rounded to a power of two, which takes no division.
    const auto zeros = [&b](Value* number) {
      return b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, number, b.getFalse());
    };
    Value* rows = b.CreateShl(b.getInt32(1), b.CreateSub(zeros(row), zeros(ahead)));
    copies_.clear();
    copies_[x] = b.CreateAdd(x, b.CreateSelect(is_short, b.getInt32(0), threads));
    copies_[iteration] = b.CreateAdd(
        iteration,
        b.CreateSelect(is_short, rows, b.CreateSelect(is_in_row, b.getInt32(0), b.getInt32(1))));
    return copy(b, read.getPointerOperand());
  }

 private:
  // Computes a value for the other thread and iteration. What comes out of a block's way there or
  // of memory stays as it is: a prefetch may be in vain.
  Value* copy(llvm::IRBuilder<>& b, Value* value) {
    if (Value* known = copies_.lookup(value)) return known;
    auto* instruction = llvm::dyn_cast<Instruction>(value);
    if (!instruction || llvm::isa<llvm::PHINode>(instruction) ||
        instruction->mayReadOrWriteMemory())
      return value;
    Instruction* clone = instruction->clone();
    for (llvm::Use& operand : clone->operands()) operand = copy(b, operand);
    if (clone->isIdenticalTo(instruction)) {
      clone->deleteValue();
      return copies_[value] = value;
    }
    clone->dropPoisonGeneratingFlags();
    return copies_[value] = b.Insert(clone);
  }

  llvm::Function& body_;
  llvm::DenseMap<Value*, Value*> copies_;
};

bool prefetch_streams(llvm::Function& body, const llvm::LoopInfo& loops) {
  if (!has_nontemporal_stores(body)) return false;
  llvm::SmallVector<LoadInst*> reads;
  llvm::SmallPtrSet<const Value*, 8> buffers;  // whose first read has been seen
  for (Instruction& instruction : llvm::instructions(body)) {
    if (!reads_device_memory(instruction) || loops.getLoopFor(instruction.getParent())) continue;
    auto* load = checked_cast<LoadInst>(&instruction);
    const Value* address = load->getPointerOperand();
    if (load->isSimple() && !is_unpredictable(address) &&
        buffers.insert(llvm::getUnderlyingObject(address)).second)
      reads.push_back(load);
  }
  for (LoadInst* read : reads) {
    llvm::IRBuilder<> b(read);
    Value* address =
        IterationPrefetch::is_iteration(body)
            ? IterationPrefetch(body).address_ahead(*read)
            : b.CreateGEP(b.getInt8Ty(), read->getPointerOperand(), bytes_to_next(*read));
    mark_stream(*create_prefetch(b, address, Cache::First));
  }
  return !reads.empty();
}

// ---- The next threadgroup ----

bool waits(llvm::Function& body) {
  return llvm::any_of(llvm::instructions(body), compiler::is_threadgroup_barrier);
}

// Prefetches for the next threadgroup where each thread reads a few elements that are far apart:
// gangs run one after the other, so processors do not follow what the threadgroup reads.
class ThreadgroupPrefetch {
 public:
  ThreadgroupPrefetch(llvm::Function& body, const BodyShapes& shapes,
                      llvm::ScalarEvolution& evolution, const llvm::LoopInfo& loops)
      : body_(body), evolution_(evolution), loops_(loops), next_gang_(body, shapes, evolution) {}

  bool run() {
    find_reads();
    llvm::erase_if(reads_, [this](const Read& read) { return !has_far_neighbor(read); });
    if (reads_.empty()) return false;
    find_positions();
    const llvm::DataLayout& layout = body_.getParent()->getDataLayout();
    llvm::SCEVExpander expander(evolution_, layout, "next");
    bool changed = false;
    for (const auto& [load, address] : reads_) {
      const llvm::SCEV* bytes = distance(address);
      // All that it depends on is before the load, which depends on it, too.
      if (!is_far(bytes) || !expander.isSafeToExpand(bytes)) continue;
      prefetch_behind(*load, expander.expandCodeFor(bytes, bytes->getType(), load), Cache::Second,
                      next_gang_);
      changed = true;
    }
    return changed;
  }

 private:
  using Read = std::pair<LoadInst*, const llvm::SCEV*>;  // with its address

  // Reads outside of loops, the first one of each cache line.
  void find_reads() {
    for (Instruction& instruction : llvm::instructions(body_)) {
      if (!reads_device_memory(instruction) || loops_.getLoopFor(instruction.getParent())) continue;
      auto* load = checked_cast<LoadInst>(&instruction);
      if (!load->isSimple() || is_unpredictable(load->getPointerOperand())) continue;
      const Read read{load, evolution_.getSCEV(load->getPointerOperand())};
      const auto is_near = [&](const Read& other) {
        const std::optional<uint64_t> apart = bytes_between(read, other);
        return apart && *apart < kCacheLine;
      };
      if (llvm::none_of(reads_, is_near)) reads_.push_back(read);
    }
  }

  // Whether another read is at least so far away that processors do not follow both.
  bool has_far_neighbor(const Read& read) const {
    return llvm::any_of(reads_, [&](const Read& other) {
      const std::optional<uint64_t> apart = bytes_between(read, other);
      return apart && *apart >= kNear;
    });
  }

  std::optional<uint64_t> bytes_between(const Read& one, const Read& other) const {
    const auto* apart =
        llvm::dyn_cast<llvm::SCEVConstant>(evolution_.getMinusSCEV(one.second, other.second));
    return apart ? std::optional(apart->getAPInt().abs().getLimitedValue()) : std::nullopt;
  }

  // The next threadgroup is the neighbour in x, or in y if there is none in x.
  void find_positions() {
    llvm::IRBuilder<> b(&body_.getEntryBlock(), body_.getEntryBlock().getFirstInsertionPt());
    GroupAccess access(b, body_.getArg(kGroupArgument));
    Value* one_column = b.CreateICmpEQ(access.threadgroups_per_grid(0), b.getInt32(1));
    Value* in_y = b.CreateZExt(one_column, b.getInt32Ty());
    const llvm::SCEV* steps[] = {evolution_.getSCEV(b.CreateSub(b.getInt32(1), in_y)),
                                 evolution_.getSCEV(in_y)};
    for (Instruction& instruction : llvm::instructions(body_)) {
      for (unsigned i = 0; i < 2; ++i) {
        if (!is_position(instruction, i)) continue;
        next_[&instruction] = evolution_.getAddExpr(evolution_.getSCEV(&instruction), steps[i]);
      }
    }
    for (unsigned i : {kXArgument, kYArgument, kZArgument, kIndexArgument, kLaneArgument}) {
      llvm::Argument* argument = body_.getArg(i);
      first_[argument] = evolution_.getZero(argument->getType());
    }
  }

  static bool is_position(const Instruction& instruction, unsigned i) {
    return group_member(&instruction) == int64_t{offsetof(Group, position)} + int64_t{4} * i;
  }

  // From an address of the first thread to that of the next threadgroup's. It is a guess for the
  // other threads, whose index may have wrapped around.
  const llvm::SCEV* distance(const llvm::SCEV* address) {
    address = llvm::SCEVParameterRewriter::rewrite(address, evolution_, first_);
    const llvm::SCEV* next = llvm::SCEVParameterRewriter::rewrite(address, evolution_, next_);
    return evolution_.getMinusSCEV(next, address);
  }

  llvm::Function& body_;
  llvm::ScalarEvolution& evolution_;
  const llvm::LoopInfo& loops_;
  NextGang next_gang_;
  llvm::SmallVector<Read> reads_;
  llvm::ValueToSCEVMapTy next_, first_;
};

}  // namespace

llvm::PreservedAnalyses PrefetchAheadPass::run(llvm::Function& body,
                                               llvm::FunctionAnalysisManager& analyses) {
  bool changed = prefetch_iterations(body, shapes_, analyses);
  const auto& loops = analyses.getResult<llvm::LoopAnalysis>(body);
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(body);
  if (waits(body) && ThreadgroupPrefetch(body, shapes_, evolution, loops).run()) {
    changed = true;
  } else {
    changed |= prefetch_streams(body, loops);
  }
  if (!changed) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

bool is_of_stream(const llvm::IntrinsicInst& prefetch) { return prefetch.hasMetadata(kStream); }

}  // namespace metal::cpu
