#include "metal/cpu/vectorizer/widen/widen.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstVisitor.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/kernel_form.h"
#include "metal/cpu/codegen/lower.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/control/assume_coherent.h"
#include "metal/cpu/vectorizer/speculation.h"
#include "metal/cpu/vectorizer/widen/lane_bits.h"
#include "metal/cpu/vectorizer/widen/widen_conversion.h"
#include "metal/cpu/vectorizer/widen/widen_division.h"
#include "metal/cpu/vectorizer/widen/widen_lane_operations.h"
#include "metal/cpu/vectorizer/widen/widen_memory.h"
#include "metal/cpu/vectorizer/widen/widen_strided.h"
#include "metal/cpu/vectorizer/widen/widener.h"

namespace metal::cpu {
namespace {

using llvm::BasicBlock;
using llvm::Constant;
using llvm::ConstantInt;
using llvm::Instruction;
using llvm::Value;

// Widens one instruction after the other.
class Emitter : public llvm::InstVisitor<Emitter> {
 public:
  Emitter(llvm::Function& body, llvm::Function& wide, const ShapeAnalysis& shapes,
          const llvm::TargetTransformInfo& costs)
      : body_(body), w_(wide, shapes, costs), b_(w_.builder()), memory_(w_, body) {}

  bool run(std::string& reason) {
    for (unsigned i = 0; i < body_.arg_size(); ++i) {
      llvm::Argument* argument = body_.getArg(i);
      llvm::Argument* wide = w_.function().getArg(i);
      const Shape shape = w_.shape(argument);
      if (shape.is_varying()) {
        w_.set_vector(argument, wide);
      } else if (argument->getType()->isIntegerTy(32) && shape.zero_bits() >= 32) {
        w_.set_first(argument, b_.getInt32(0));
      } else if (argument->getType()->isIntegerTy(1)) {
        w_.set_first(argument, b_.getTrue());  // uniform: all lanes have a thread
      } else {
        w_.set_first(argument, wide);
      }
    }
    const unsigned commuting_kind = b_.getContext().getMDKindID(kCommuting);
    llvm::ReversePostOrderTraversal<llvm::Function*> order(&body_);
    for (BasicBlock* block : order)
      starts_[block] = BasicBlock::Create(body_.getContext(), block->getName(), &w_.function());
    for (BasicBlock* block : order) {
      b_.SetInsertPoint(starts_[block]);
      w_.set_mask(nullptr);
      memory_.enter(*block);
      for (Instruction& instruction : *block) {
        if (memory_.has_no_vector(instruction)) continue;
        b_.SetCurrentDebugLocation(instruction.getDebugLoc());
        if (commutes(instruction))
          instruction.setMetadata(kCommuting, llvm::MDNode::get(b_.getContext(), {}));
        // What is made of an access touches the same memory as it does: see separate_memory.h.
        b_.CollectMetadataToCopy(&instruction, {llvm::LLVMContext::MD_alias_scope,
                                                llvm::LLVMContext::MD_noalias, commuting_kind});
        visit(instruction);
        if (reason_.empty()) continue;
        reason = reason_;
        return false;
      }
      ends_[block] = b_.GetInsertBlock();
    }
    fill_phis();
    drop_scopes_of_values();
    return true;
  }

  void visitInstruction(Instruction& instruction) {
    reason_ = std::string("no vector form of '") + instruction.getOpcodeName() + "'";
  }

  void visitPHINode(llvm::PHINode& phi) {
    const bool varying = w_.shape(&phi) == Shape::varying();
    llvm::PHINode* stride = nullptr;
    if (w_.shape(&phi).is_strided()) {
      stride = b_.CreatePHI(phi.getType()->isPointerTy() ? b_.getInt64Ty() : phi.getType(),
                            phi.getNumIncomingValues(), phi.getName() + ".stride");
    }
    llvm::Type* type = varying ? w_.wide_type(phi.getType()) : phi.getType();
    llvm::PHINode* wide = b_.CreatePHI(type, phi.getNumIncomingValues(), phi.getName());
    if (varying) {
      w_.set_vector(&phi, wide);
    } else if (stride) {
      w_.set_strided(&phi, wide, stride);
    } else {
      w_.set_first(&phi, wide);
    }
    phis_.push_back({&phi, wide, stride});
  }

  void visitReturnInst(llvm::ReturnInst&) {
    if (w_.function().getReturnType()->isVoidTy()) {
      b_.CreateRetVoid();
    } else {
      b_.CreateRet(b_.getTrue());
    }
  }
  void visitUnreachableInst(llvm::UnreachableInst&) { b_.CreateUnreachable(); }

  void visitBranchInst(llvm::BranchInst& branch) {
    if (branch.isUnconditional()) {
      b_.CreateBr(starts_[branch.getSuccessor(0)]);
      return;
    }
    if (!w_.shape(branch.getCondition()).is_uniform()) {
      reason_ = "lanes diverge at a branch that was not linearised";
      return;
    }
    b_.CreateCondBr(w_.first(branch.getCondition()), starts_[branch.getSuccessor(0)],
                    starts_[branch.getSuccessor(1)],
                    branch.getMetadata(llvm::LLVMContext::MD_prof));
  }

  void visitBinaryOperator(llvm::BinaryOperator& operation) {
    if (scalar(operation)) return;
    if (operation.isIntDivRem()) return widen_division(w_, operation);
    Value* result = b_.CreateBinOp(operation.getOpcode(), w_.vector(operation.getOperand(0)),
                                   w_.vector(operation.getOperand(1)));
    keep_flags(operation, result);
    w_.set_vector(&operation, result);
    record_lane_bits(w_, operation, result);
  }

  void visitUnaryOperator(llvm::UnaryOperator& operation) {
    if (scalar(operation)) return;
    Value* result = b_.CreateUnOp(operation.getOpcode(), w_.vector(operation.getOperand(0)));
    keep_flags(operation, result);
    w_.set_vector(&operation, result);
  }

  void visitCastInst(llvm::CastInst& cast) {
    const bool done = scalar(cast);
    check_extension(cast);
    if (done) return;
    Value* result = b_.CreateCast(cast.getOpcode(), w_.vector(cast.getOperand(0)),
                                  w_.wide_type(cast.getDestTy()));
    w_.set_vector(&cast, result);
  }

  void visitCmpInst(llvm::CmpInst& compare) {
    if (scalar(compare)) return;
    Value* result = b_.CreateCmp(compare.getPredicate(), w_.vector(compare.getOperand(0)),
                                 w_.vector(compare.getOperand(1)));
    keep_flags(compare, result);
    w_.set_vector(&compare, result);
    record_lane_bits(w_, compare, result);
  }

  void visitSelectInst(llvm::SelectInst& select) {
    if (scalar(select)) return;
    Value* condition = w_.shape(select.getCondition()).is_uniform()
                           ? w_.first(select.getCondition())
                           : w_.vector(select.getCondition());
    Value* result = b_.CreateSelect(condition, w_.vector(select.getTrueValue()),
                                    w_.vector(select.getFalseValue()));
    keep_flags(select, result);
    w_.set_vector(&select, result);
    record_lane_bits(w_, select, result);
  }

  void visitFreezeInst(llvm::FreezeInst& freeze) {
    if (scalar(freeze)) return;
    w_.set_vector(&freeze, b_.CreateFreeze(w_.vector(freeze.getOperand(0))));
  }

  void visitGetElementPtrInst(llvm::GetElementPtrInst& address) {
    if (scalar(address)) return;
    llvm::SmallVector<Value*> indices;
    Value* only = nullptr;  // the only index that varies
    unsigned varying = 0;
    for (Value* index : address.indices()) {
      const bool uniform = w_.shape(index).is_uniform();
      indices.push_back(uniform ? w_.first(index) : w_.vector(index));
      varying += !uniform;
      if (!uniform) only = index;
    }
    const bool uniform_base = w_.shape(address.getPointerOperand()).is_uniform();
    if (uniform_base && varying > 1 && address.getPointerAddressSpace() == kThreadgroupMemory)
      return count_bytes(address);
    Value* base = uniform_base ? w_.first(address.getPointerOperand())
                               : w_.vector(address.getPointerOperand());
    w_.set_vector(&address, b_.CreateGEP(address.getSourceElementType(), base, indices));
    if (uniform_base && varying == 1) remember_index(address, only);
    if (!uniform_base && varying == 0) move_root(address, indices);
  }

  void visitExtractValueInst(llvm::ExtractValueInst& extract) {
    if (scalar(extract)) return;
    // Results of compare-exchange and of arithmetic with overflow are kept as two vectors.
    w_.set_vector(&extract, b_.CreateExtractValue(w_.vector(extract.getAggregateOperand()),
                                                  extract.getIndices()));
  }

  void visitAllocaInst(llvm::AllocaInst& variable) {
    llvm::AllocaInst* memory = w_.scratch(variable.getAllocatedType(), variable.getName());
    memory->setAlignment(variable.getAlign());
    w_.set_first(&variable, memory);
  }

  void visitLoadInst(llvm::LoadInst& load) { memory_.load(load); }
  void visitStoreInst(llvm::StoreInst& store) { memory_.store(store); }
  void visitAtomicRMWInst(llvm::AtomicRMWInst& operation) { memory_.read_modify_write(operation); }
  void visitAtomicCmpXchgInst(llvm::AtomicCmpXchgInst& operation) {
    memory_.compare_exchange(operation);
  }
  void visitFenceInst(llvm::FenceInst& fence) { b_.Insert(fence.clone()); }

  void visitCallInst(llvm::CallInst& call) {
    const llvm::Function* callee = call.getCalledFunction();
    if (!callee) return visitInstruction(call);
    const llvm::StringRef name = callee->getName();
    if (name == kBlockMask) {
      enter_mask(call.getArgOperand(0));
    } else if (name == kAnyLane) {
      Value* argument = call.getArgOperand(0);
      w_.set_first(&call, w_.shape(argument).is_uniform() ? w_.first(argument)
                                                          : w_.any(w_.vector(argument)));
    } else if (name == kAllLanes) {
      w_.set_first(&call, all_lanes(call.getArgOperand(0)));
    } else if (name == kAllRun) {
      Value* all = w_.all_run();
      w_.set_first(&call, all ? all : b_.getTrue());
    } else if (name == kCoherentZExt || name == kCoherentSExt) {
      widen_coherent_extension(w_, call, name == kCoherentSExt);
    } else if (const auto division = coherent_division(name)) {
      widen_coherent_division(w_, call, *division);
    } else if (name == kInside) {
      Value* argument = call.getArgOperand(0);
      Value* all =
          w_.shape(argument).is_uniform() ? w_.first(argument) : w_.all(w_.vector(argument));
      w_.assume(b_.CreateFreeze(all));
    } else if (name == kNever) {
      w_.set_first(&call, b_.getFalse());
    } else if (name.starts_with(compiler::kRuntimePrefix)) {
      if (!widen_lane_operation(w_, call)) reason_ = "no vector form of " + name.str();
    } else if (callee->getIntrinsicID() == llvm::Intrinsic::prefetch) {
      memory_.prefetch(checked_cast<llvm::IntrinsicInst>(call));
    } else if (auto* copy = llvm::dyn_cast<llvm::MemCpyInst>(&call)) {
      memory_.copy(*copy);
    } else if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&call)) {
      visit_intrinsic(*intrinsic);
    } else if (name.starts_with(kCheckPrefix) || name == kLogCall) {
      call_in_each_lane(call);
    } else {
      reason_ = "a call of " + llvm::demangle(name) + ", which calls itself";
    }
  }

 private:
  // Computes a value that is uniform or has offsets once, for lane 0. False if a vector is needed:
  // because the value varies, or because its offsets are only assumed.
  bool scalar(Instruction& instruction) {
    const Shape shape = w_.shape(&instruction);
    if (shape.is_strided()) {
      widen_strided(w_, instruction);
      return true;
    }
    if (shape.is_varying()) return false;
    if (shape.is_undefined()) {
      w_.set_first(&instruction, llvm::PoisonValue::get(instruction.getType()));
      return true;
    }
    if (auto* integer = llvm::dyn_cast<llvm::IntegerType>(instruction.getType());
        integer && shape.exact() && shape.zero_bits() >= integer->getBitWidth()) {
      w_.set_first(&instruction, llvm::ConstantInt::get(integer, 0));
      return true;
    }
    Instruction* copy = instruction.clone();
    copy->setName(instruction.getName());
    if (!shape.is_uniform() || w_.mask()) copy->dropPoisonGeneratingFlags();
    if (instruction.isIntDivRem()) copy->dropPoisonGeneratingFlags();
    Value* holds = nullptr;
    for (unsigned i = 0; i < copy->getNumOperands(); ++i) {
      Value* operand = instruction.getOperand(i);
      const LaneValue& lanes = w_.lanes(operand);
      copy->setOperand(i, lanes.first);
      if (lanes.holds) holds = holds ? b_.CreateAnd(holds, lanes.holds) : lanes.holds;
    }
    if (Constant* folded = llvm::ConstantFoldInstruction(copy, w_.layout())) {
      copy->deleteValue();
      w_.set_first(&instruction, folded);
    } else {
      b_.Insert(copy);
      if (instruction.isIntDivRem()) guard_scalar_division(*copy);
      w_.set_first(&instruction, copy);
    }
    if (holds && !shape.exact()) w_.set_holds(&instruction, holds);
    return shape.exact();
  }

  // If no lane is active, operands may have any value, so the division could trap.
  void guard_scalar_division(Instruction& division) {
    if (!w_.mask() || llvm::isa<Constant>(division.getOperand(1))) return;
    b_.SetInsertPoint(&division);
    Value* some = w_.any(w_.mask());
    llvm::Type* type = division.getType();
    for (unsigned i = 0; i < 2; ++i)
      division.setOperand(i,
                          b_.CreateSelect(some, division.getOperand(i), ConstantInt::get(type, 1)));
    b_.SetInsertPoint(division.getParent());
  }

  // Inactive lanes may have poison, unless the first or last lane tells of all: if that had, active
  // lanes would have it, too.
  Value* all_lanes(Value* bit) {
    if (w_.shape(bit).is_uniform()) return w_.first(bit);
    Value* bits = w_.vector(bit);
    return w_.all(w_.known_bits(bits).all ? bits : b_.CreateFreeze(bits));
  }

  // A value that grows from lane to lane may wrap around before it is extended.
  void check_extension(llvm::CastInst& cast) {
    if (!llvm::isa<llvm::ZExtInst, llvm::SExtInst>(cast) || w_.shape(&cast).exact()) return;
    const Shape shape = w_.shape(cast.getOperand(0));
    const bool is_signed = llvm::isa<llvm::SExtInst>(cast);
    const Shape::NoWrap no_wrap = shape.no_wrap();
    if (!shape.has_offsets() || (is_signed ? no_wrap.as_signed : no_wrap.as_unsigned)) return;
    int64_t lowest = 0, highest = 0;
    for (int64_t offset : shape.offsets()) {
      lowest = std::min(lowest, offset);
      highest = std::max(highest, offset);
    }
    Value* number = w_.first(cast.getOperand(0));
    llvm::Type* type = number->getType();
    const unsigned bits = type->getIntegerBitWidth();
    const llvm::APInt bottom =
        is_signed ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getMinValue(bits);
    const llvm::APInt top =
        is_signed ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits);
    auto compare = [&](llvm::CmpInst::Predicate predicate, const llvm::APInt& limit) {
      return b_.CreateICmp(is_signed ? llvm::ICmpInst::getSignedPredicate(predicate) : predicate,
                           number, ConstantInt::get(type, limit));
    };
    Value* holds = compare(llvm::CmpInst::ICMP_ULE, top - static_cast<uint64_t>(highest));
    if (lowest < 0) {
      holds = b_.CreateAnd(
          holds, compare(llvm::CmpInst::ICMP_UGE, bottom + static_cast<uint64_t>(-lowest)));
    }
    // The operand's own offsets may be assumed, too.
    if (Value* before = w_.lanes(&cast).holds) holds = b_.CreateAnd(before, holds);
    w_.set_holds(&cast, holds);
  }

  static void keep_flags(Instruction& from, Value* to) {
    auto* made = llvm::dyn_cast<Instruction>(to);
    if (made && made->getOpcode() == from.getOpcode()) made->copyIRFlags(&from);
  }

  void remember_index(llvm::GetElementPtrInst& address, Value* only) {
    llvm::SmallVector<Value*> zeroed;
    IndexedAddress indexed;
    for (auto item = llvm::gep_type_begin(address); item != llvm::gep_type_end(address); ++item) {
      Value* index = item.getOperand();
      if (index == only && !item.getStructTypeOrNull()) {
        zeroed.push_back(ConstantInt::get(index->getType(), 0));
        indexed.scale = item.getSequentialElementStride(w_.layout());
      } else {
        zeroed.push_back(w_.first(index));
      }
    }
    indexed.root =
        b_.CreateGEP(address.getSourceElementType(), w_.first(address.getPointerOperand()), zeroed);
    indexed.index = w_.vector(only);
    Value* sum = only;
    if (const auto* extension = llvm::dyn_cast<llvm::CastInst>(only);
        extension && extension->getSrcTy()->getIntegerBitWidth() <= 32 &&
        llvm::isa<llvm::SExtInst, llvm::ZExtInst>(extension)) {
      const bool is_signed = llvm::isa<llvm::SExtInst>(extension);
      sum = extension->getOperand(0);
      indexed.index = b_.CreateIntCast(w_.vector(extension->getOperand(0)),
                                       w_.wide_type(b_.getInt32Ty()), is_signed);
      indexed.is_signed = is_signed || extension->getSrcTy()->getIntegerBitWidth() < 32;
    }
    indexed.count = count_of_indices(*only, w_.layout());
    split_sum(*sum, indexed);
    const unsigned bits = indexed.index->getType()->getScalarSizeInBits();
    if (indexed.scale != 0 && (bits == 32 || bits == 64)) w_.set_address(&address, indexed);
  }

  void split_sum(Value& index, IndexedAddress& indexed) {
    const auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(&index);
    if (!sum || sum->getOpcode() != Instruction::Add ||
        sum->getType() != indexed.index->getType()->getScalarType())
      return;
    for (unsigned i = 0; i < 2; ++i) {
      if (!w_.shape(sum->getOperand(i)).is_uniform()) continue;
      indexed.shared = w_.first(sum->getOperand(i));
      indexed.own = w_.vector(sum->getOperand(1 - i));
    }
  }

  // Threadgroup memory is small: the bytes before an element are counted in 32 bits, in half as
  // many registers. If the number wraps around to another one, the element is not in that memory,
  // and no active lane accesses it.
  void count_bytes(llvm::GetElementPtrInst& address) {
    llvm::Type* type = w_.wide_type(b_.getInt32Ty());
    llvm::SmallVector<Value*> uniform;  // the indices, without those that vary
    Value* bytes = nullptr;
    IndexedAddress indexed;
    for (auto item = llvm::gep_type_begin(address); item != llvm::gep_type_end(address); ++item) {
      Value* index = item.getOperand();
      if (w_.shape(index).is_uniform()) {
        uniform.push_back(w_.first(index));
        continue;
      }
      uniform.push_back(ConstantInt::get(index->getType(), 0));
      const uint64_t size = item.getSequentialElementStride(w_.layout());
      Value* product =
          b_.CreateMul(b_.CreateSExtOrTrunc(w_.vector(index), type), ConstantInt::get(type, size));
      const uint64_t count = bytes ? 0 : count_of_indices(*index, w_.layout());
      indexed.count = count != 0 ? (count - 1) * size + 1 : 0;
      indexed.step = bytes ? 1 : size;
      bytes = bytes ? b_.CreateAdd(bytes, product) : product;
    }
    indexed.root = b_.CreateGEP(address.getSourceElementType(),
                                w_.first(address.getPointerOperand()), uniform);
    indexed.index = bytes;
    w_.set_address(&address, indexed);
    w_.set_vector(&address, b_.CreateGEP(b_.getInt8Ty(), indexed.root,
                                         b_.CreateSExt(bytes, w_.wide_type(b_.getInt64Ty()))));
  }

  // Adds an offset that all lanes share to an address that differs in one index.
  void move_root(llvm::GetElementPtrInst& address, llvm::ArrayRef<Value*> indices) {
    if (!w_.has_address(address.getPointerOperand())) return;
    IndexedAddress indexed = w_.address(address.getPointerOperand());
    indexed.root = b_.CreateGEP(address.getSourceElementType(), indexed.root, indices);
    w_.set_address(&address, indexed);
  }

  void enter_mask(Value* mask) {
    if (w_.shape(mask).is_uniform()) {
      // The mask is set whenever the block runs, as it would be skipped otherwise.
      w_.set_mask(nullptr);
    } else {
      w_.set_mask(w_.vector(mask));
    }
  }

  // Of the runtime: code that is run when something is wrong, and messages.
  void call_in_each_lane(llvm::CallInst& call) {
    for (Value* operand : call.args()) {
      if (!w_.shape(operand).is_uniform()) w_.vector(operand);
    }
    w_.for_each_lane([&](Value* lane) {
      auto* copy = checked_cast<llvm::CallInst>(call.clone());
      for (unsigned i = 0; i < call.arg_size(); ++i) {
        Value* operand = call.getArgOperand(i);
        copy->setArgOperand(i, w_.shape(operand).is_uniform()
                                   ? w_.first(operand)
                                   : b_.CreateExtractElement(w_.vector(operand), lane));
      }
      b_.Insert(copy);
    });
  }

  void visit_intrinsic(llvm::IntrinsicInst& call) {
    if (call.doesNotReturn()) {  // a trap, for the first active lane
      w_.for_each_lane([&](Value*) { b_.Insert(call.clone()); });
      return;
    }
    if (call.getType()->isVoidTy()) return;
    if (scalar(call)) return;
    if (is_conversion(call)) return widen_conversion(w_, call);
    const llvm::Intrinsic::ID id = call.getIntrinsicID();
    llvm::Type* result = call.getType();
    if (auto* pair = llvm::dyn_cast<llvm::StructType>(result)) result = pair->getElementType(0);
    llvm::SmallVector<llvm::Type*> types;
    if (llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, -1)) types.push_back(w_.wide_type(result));
    llvm::SmallVector<Value*> operands;
    for (unsigned i = 0; i < call.arg_size(); ++i) {
      Value* operand = call.getArgOperand(i);
      const bool stays = llvm::isVectorIntrinsicWithScalarOpAtArg(id, i) ||
                         call.paramHasAttr(i, llvm::Attribute::ImmArg);
      operands.push_back(stays ? w_.first(operand) : w_.vector(operand));
      if (llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, static_cast<int>(i)) ||
          (id == llvm::Intrinsic::ldexp && i == 1))
        types.push_back(operands.back()->getType());
    }
    llvm::CallInst* wide = b_.CreateIntrinsic(id, types, operands);
    if (llvm::isa<llvm::FPMathOperator>(call)) wide->copyFastMathFlags(&call);
    w_.set_vector(&call, wide);
  }

  // The builder gives the marks of an access to all that is made of it, also to what computes
  // addresses.
  void drop_scopes_of_values() {
    for (Instruction& instruction : llvm::instructions(w_.function())) {
      if (instruction.mayReadOrWriteMemory()) continue;
      instruction.setMetadata(llvm::LLVMContext::MD_alias_scope, nullptr);
      instruction.setMetadata(llvm::LLVMContext::MD_noalias, nullptr);
    }
  }

  void fill_phis() {
    for (auto& [phi, wide, stride] : phis_) {
      for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
        Value* value = phi->getIncomingValue(i);
        BasicBlock* from = ends_[phi->getIncomingBlock(i)];
        if (stride) stride->addIncoming(w_.stride(value), from);
        Value* incoming;
        if (llvm::isa<llvm::UndefValue>(value)) {
          incoming = llvm::isa<llvm::PoisonValue>(value) ? llvm::PoisonValue::get(wide->getType())
                                                         : llvm::UndefValue::get(wide->getType());
        } else {
          incoming = w_.shape(phi) == Shape::varying() ? w_.vector(value) : w_.first(value);
        }
        wide->addIncoming(incoming, from);
      }
    }
  }

  llvm::Function& body_;
  Widener w_;
  llvm::IRBuilder<>& b_;
  MemoryWidener memory_;
  llvm::DenseMap<BasicBlock*, BasicBlock*> starts_;
  llvm::DenseMap<BasicBlock*, BasicBlock*> ends_;
  struct Phi {
    llvm::PHINode* phi;
    llvm::PHINode* wide;
    llvm::PHINode* stride;  // null unless the shape is strided
  };
  std::vector<Phi> phis_;
  std::string reason_;
};

llvm::Function* declare_wide(llvm::Function& body, const BodyShapes& shapes, bool may_bail_out) {
  llvm::SmallVector<llvm::Type*> types;
  for (unsigned i = 0; i < body.arg_size(); ++i) {
    llvm::Type* type = body.getArg(i)->getType();
    types.push_back(
        shapes.arguments[i].is_varying() ? llvm::FixedVectorType::get(type, shapes.width) : type);
  }
  llvm::LLVMContext& context = body.getContext();
  llvm::Type* result =
      may_bail_out ? llvm::Type::getInt1Ty(context) : llvm::Type::getVoidTy(context);
  auto* type = llvm::FunctionType::get(result, types, false);
  auto* wide = llvm::Function::Create(type, llvm::Function::InternalLinkage,
                                      body.getName() + ".wide", body.getParent());
  wide->addFnAttrs(llvm::AttrBuilder(body.getContext(), body.getAttributes().getFnAttrs()));
  for (unsigned i = 0; i < body.arg_size(); ++i) {
    wide->getArg(i)->setName(body.getArg(i)->getName());
    llvm::AttrBuilder attributes(context, body.getAttributes().getParamAttrs(i));
    // What is known of all lanes is known of lane 0.
    if (!shapes.arguments[i].is_varying()) wide->getArg(i)->addAttrs(attributes);
  }
  return wide;
}

}  // namespace

llvm::Function* widen(llvm::Function& body, const BodyShapes& shapes, bool may_bail_out,
                      const llvm::TargetTransformInfo& costs, std::string& reason) {
  llvm::DominatorTree dominators(body);
  llvm::PostDominatorTree post_dominators(body);
  llvm::LoopInfo loops(dominators);
  const ShapeAnalysis analysis(body, shapes, post_dominators, loops);
  llvm::Function* wide = declare_wide(body, shapes, may_bail_out);
  if (Emitter(body, *wide, analysis, costs).run(reason)) return wide;
  wide->deleteBody();
  wide->eraseFromParent();
  return nullptr;
}

}  // namespace metal::cpu
