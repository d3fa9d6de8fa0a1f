#include "metal/cpu/checks/coverage.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/line_tables.h"
#include "metal/compiler/mark_lines.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::Constant;

// The code of one line as inlined through one call, which counts for itself.
using LineCopy = std::pair<Constant*, const llvm::Metadata*>;

class CoverageBuilder {
 public:
  CoverageBuilder(CheckBuilder& builder, const std::vector<Access>& accesses)
      : builder_(builder), b_(builder.kernel().getContext()) {
    for (BasicBlock& block : builder.kernel()) blocks_.push_back(&block);
    table_ = new llvm::GlobalVariable(*builder.kernel().getParent(), b_.getInt8Ty(),
                                      /*isConstant=*/true, llvm::GlobalValue::ExternalLinkage,
                                      nullptr, "coverage", nullptr,
                                      llvm::GlobalValue::NotThreadLocal, /*AddressSpace=*/0);
    // What is added must not be seen by the steps before.
    for (uint32_t i = 0; i < blocks_.size(); ++i) note_lines(*blocks_[i], i);
    for (const Access& access : accesses) add_access(access);
    for (BasicBlock* block : blocks_) add_branch(*block);
    for (uint32_t i = 0; i < blocks_.size(); ++i) add_block(*blocks_[i], i);
    finish();
  }

 private:
  void note_lines(BasicBlock& block, uint32_t number) {
    for (llvm::Instruction& mark : llvm::make_early_inc_range(block)) {
      if (!compiler::is_line_mark(mark)) continue;
      const llvm::DILocation& place = *mark.getDebugLoc();
      const LineCopy copy = {builder_.line(place), place.getInlinedAt()};
      const uint32_t index = copies_.insert({copy, copies_.size()}).first->second;
      lines_.push_back(structure({copy.first, b_.getInt32(number), b_.getInt32(index)}));
      mark.eraseFromParent();
    }
  }

  void add_access(const Access& access) {
    const llvm::DILocation* place =
        compiler::user_location(access.instruction->getDebugLoc().get());
    if (!place || !is_shared(*access.written)) return;
    llvm::IRBuilder<> b(access.instruction);
    const bool writes = access.kind == AccessKind::Write || access.kind == AccessKind::Atomic;
    call(b, "metal_cpu_check_touch",
         {b.getInt32(accesses_.size()), address_of(b, access), bytes_of(b, access)});
    accesses_.push_back(structure({builder_.line(*place), b.getInt32(writes ? 1 : 0),
                                   b.getInt32(is_device(*access.written) ? 1 : 0)}));
  }

  // Only those of the user's own code.
  void add_branch(BasicBlock& block) {
    llvm::Instruction& terminator = *block.getTerminator();
    const llvm::DebugLoc location = terminator.getDebugLoc();
    if (terminator.getNumSuccessors() < 2 || !location ||
        compiler::user_location(location.get()) != location.get())
      return;
    Constant* site = builder_.site(location);
    for (unsigned successor = 0; successor < terminator.getNumSuccessors(); ++successor) {
      BasicBlock* next = terminator.getSuccessor(successor);
      BasicBlock* edge = BasicBlock::Create(b_.getContext(), "edge", &builder_.kernel(), next);
      llvm::IRBuilder<> b(edge);
      call(b, "metal_cpu_check_edge", {b.getInt32(edges_.size())});
      b.CreateBr(next);
      terminator.setSuccessor(successor, edge);
      // Several successors may be to one block, each with an entry of its own.
      for (llvm::PHINode& phi : next->phis())
        phi.setIncomingBlock(static_cast<unsigned>(phi.getBasicBlockIndex(&block)), edge);
      edges_.push_back(structure({site, b_.getInt32(successor)}));
    }
  }

  void add_block(BasicBlock& block, uint32_t number) {
    llvm::Instruction* first = &*block.getFirstInsertionPt();
    // After the instruction that gives the group, as the call needs it.
    if (&block == &builder_.kernel().getEntryBlock() || &block == builder_.start()->getParent())
      first = builder_.start();
    llvm::IRBuilder<> b(first);
    call(b, "metal_cpu_check_block", {b.getInt32(number)});
  }

  void finish() {
    Constant* table = structure({b_.getInt32(blocks_.size()), b_.getInt32(lines_.size()),
                                 b_.getInt32(edges_.size()), b_.getInt32(accesses_.size()),
                                 array(lines_), array(edges_), array(accesses_)});
    Constant* complete = builder_.variable({table});
    table_->replaceAllUsesWith(complete);
    table_->eraseFromParent();
  }

  void call(llvm::IRBuilder<>& b, const char* name, llvm::ArrayRef<llvm::Value*> arguments) {
    llvm::SmallVector<llvm::Value*> all = {table_};
    all.append(arguments.begin(), arguments.end());
    builder_.call(b, name, b.getVoidTy(), all);
  }

  Constant* structure(llvm::ArrayRef<Constant*> members) {
    return llvm::ConstantStruct::getAnon(b_.getContext(), members);
  }
  Constant* array(llvm::ArrayRef<Constant*> entries) {
    if (entries.empty()) return llvm::ConstantPointerNull::get(b_.getPtrTy());
    return builder_.variable({llvm::ConstantArray::get(
        llvm::ArrayType::get(entries.front()->getType(), entries.size()), entries)});
  }

  CheckBuilder& builder_;
  llvm::IRBuilder<> b_;
  std::vector<BasicBlock*> blocks_;
  llvm::GlobalVariable* table_;
  llvm::MapVector<LineCopy, uint32_t> copies_;
  std::vector<Constant*> lines_, edges_, accesses_;
};

}  // namespace

void count_coverage(CheckBuilder& builder, const std::vector<Access>& accesses) {
  CoverageBuilder(builder, accesses);
}

}  // namespace metal::cpu
