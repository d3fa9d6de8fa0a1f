#include "metal/cuda/lane_functions.h"

#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/internal_check.h"

namespace metal::cuda {
namespace {

using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

constexpr uint32_t kLanes = 32, kAll = 0xffffffff;

// Makes a shuffle of this kind.
Value* shuffle(llvm::IRBuilder<>& b, Intrinsic::ID id, Value* mask, Value* value, Value* lane) {
  llvm::Type* type = value->getType();
  Value* bits = b.CreateBitCast(value, b.getIntNTy(type->getPrimitiveSizeInBits()));
  Value* last = b.getInt32(kLanes - 1);
  if (type->getPrimitiveSizeInBits() == 32) {
    return b.CreateBitCast(b.CreateIntrinsic(id, {}, {mask, bits, lane, last}), type);
  }
  Value* low = b.CreateIntrinsic(id, {}, {mask, b.CreateTrunc(bits, b.getInt32Ty()), lane, last});
  Value* high = b.CreateTrunc(b.CreateLShr(bits, 32), b.getInt32Ty());
  high = b.CreateIntrinsic(id, {}, {mask, high, lane, last});
  high = b.CreateShl(b.CreateZExt(high, b.getInt64Ty()), 32);
  return b.CreateBitCast(b.CreateOr(high, b.CreateZExt(low, b.getInt64Ty())), type);
}

enum class Operation { Sum, Product, Min, Max, And, Or, Xor };

constexpr std::pair<std::string_view, Operation> kOperations[] = {
    {"sum_", Operation::Sum}, {"product_", Operation::Product}, {"min_", Operation::Min},
    {"max_", Operation::Max}, {"and_", Operation::And},         {"or_", Operation::Or},
    {"xor_", Operation::Xor}};

// Emits the functions for one type.
class LaneFunction {
 public:
  LaneFunction(llvm::Function& function, Operation operation, bool is_signed, LaneOrder order)
      : b_(llvm::BasicBlock::Create(function.getContext(), "entry", &function)),
        function_(function),
        value_(function.getArg(0)),
        mask_(function.getArg(1)),
        operation_(operation),
        signed_(is_signed),
        order_(order) {}

  void reduction() {
    if (const Intrinsic::ID id = warp_reduction(); id != Intrinsic::not_intrinsic) {
      b_.CreateRet(b_.CreateIntrinsic(id, {}, {value_, mask_}));
      return;
    }
    start_whole_warp();
    Value* result = value_;
    for (uint32_t distance = 1; distance < kLanes; distance *= 2) {
      result = combine(result, shuffle(b_, Intrinsic::nvvm_shfl_sync_bfly_i32, b_.getInt32(kAll),
                                       result, order_.lane_of(b_, b_.getInt32(distance))));
    }
    b_.CreateRet(result);
    start_some_lanes();
    Value* threads = order_.threads_of(b_, mask_);
    Value* start = value_of(mask_, value_, lowest(threads));
    b_.CreateRet(
        over_threads(without_lowest(threads), start,
                     [&](Value* sum, Value*, Value* other) { return combine(sum, other); }));
  }

  void prefix(bool inclusive) {
    Value* thread = order_.thread(b_);
    Value* none = operation_ == Operation::Product ? number(1) : number(0);
    start_whole_warp();
    Value* all = b_.getInt32(kAll);
    Value* result = value_;
    for (uint32_t distance = 1; distance < kLanes; distance *= 2) {
      Value* before = value_before(all, result, thread, distance);
      result = b_.CreateSelect(b_.CreateICmpUGE(thread, b_.getInt32(distance)),
                               combine(before, result), result);
    }
    if (!inclusive) {
      Value* before = value_before(all, result, thread, 1);
      result = b_.CreateSelect(b_.CreateICmpEQ(thread, b_.getInt32(0)), none, before);
    }
    b_.CreateRet(result);
    start_some_lanes();
    Value* threads = order_.threads_of(b_, mask_);
    b_.CreateRet(over_threads(threads, none, [&](Value* sum, Value* other_thread, Value* other) {
      Value* counts = inclusive ? b_.CreateICmpULE(other_thread, thread)
                                : b_.CreateICmpULT(other_thread, thread);
      return b_.CreateSelect(counts, combine(sum, other), sum);
    }));
  }

 private:
  // The single instruction that reduces 32-bit integers.
  Intrinsic::ID warp_reduction() const {
    if (!value_->getType()->isIntegerTy(32)) return Intrinsic::not_intrinsic;
    switch (operation_) {
      case Operation::Sum:
        return Intrinsic::nvvm_redux_sync_add;
      case Operation::Product:
        return Intrinsic::not_intrinsic;
      case Operation::Min:
        return signed_ ? Intrinsic::nvvm_redux_sync_min : Intrinsic::nvvm_redux_sync_umin;
      case Operation::Max:
        return signed_ ? Intrinsic::nvvm_redux_sync_max : Intrinsic::nvvm_redux_sync_umax;
      case Operation::And:
        return Intrinsic::nvvm_redux_sync_and;
      case Operation::Or:
        return Intrinsic::nvvm_redux_sync_or;
      case Operation::Xor:
        return Intrinsic::nvvm_redux_sync_xor;
    }
    internal_error("unknown operation");
  }

  Value* combine(Value* a, Value* c) {
    const bool real = a->getType()->isFloatTy();
    switch (operation_) {
      case Operation::Sum:
        return real ? b_.CreateFAdd(a, c) : b_.CreateAdd(a, c);
      case Operation::Product:
        return real ? b_.CreateFMul(a, c) : b_.CreateMul(a, c);
      case Operation::Min:
        if (real) return b_.CreateMinNum(a, c);
        return b_.CreateBinaryIntrinsic(signed_ ? Intrinsic::smin : Intrinsic::umin, a, c);
      case Operation::Max:
        if (real) return b_.CreateMaxNum(a, c);
        return b_.CreateBinaryIntrinsic(signed_ ? Intrinsic::smax : Intrinsic::umax, a, c);
      case Operation::And:
        return b_.CreateAnd(a, c);
      case Operation::Or:
        return b_.CreateOr(a, c);
      case Operation::Xor:
        return b_.CreateXor(a, c);
    }
    internal_error("unknown operation");
  }

  Value* number(uint64_t n) {
    llvm::Type* type = value_->getType();
    return type->isFloatTy() ? llvm::ConstantFP::get(type, static_cast<double>(n))
                             : llvm::ConstantInt::get(type, n);
  }

  Value* value_of(Value* mask, Value* value, Value* thread) {
    return create_shuffle(b_, mask, value, order_.lane_of(b_, thread));
  }
  // Undefined in threads that have none before them.
  Value* value_before(Value* mask, Value* value, Value* thread, uint32_t distance) {
    return value_of(mask, value, b_.CreateAnd(b_.CreateSub(thread, b_.getInt32(distance)), 31));
  }

  // If all lanes are active, combines them in a tree, otherwise one after the other.
  void start_whole_warp() {
    auto* whole = llvm::BasicBlock::Create(b_.getContext(), "whole", &function_);
    some_ = llvm::BasicBlock::Create(b_.getContext(), "some", &function_);
    b_.CreateCondBr(b_.CreateICmpEQ(mask_, b_.getInt32(kAll)), whole, some_);
    b_.SetInsertPoint(whole);
  }
  void start_some_lanes() { b_.SetInsertPoint(some_); }

  Value* lowest(Value* threads) {
    return b_.CreateBinaryIntrinsic(Intrinsic::cttz, threads, b_.getFalse());
  }
  Value* without_lowest(Value* threads) {
    return b_.CreateAnd(threads, b_.CreateSub(threads, b_.getInt32(1)));
  }

  // Builds result = step(result, thread, its value) for all threads of a set, in ascending order.
  template <typename Step>
  Value* over_threads(Value* threads, Value* start, Step step) {
    llvm::BasicBlock* before = b_.GetInsertBlock();
    auto* head = llvm::BasicBlock::Create(b_.getContext(), "threads", &function_);
    auto* body = llvm::BasicBlock::Create(b_.getContext(), "thread", &function_);
    auto* after = llvm::BasicBlock::Create(b_.getContext(), "done", &function_);
    b_.CreateBr(head);
    b_.SetInsertPoint(head);
    llvm::PHINode* rest = b_.CreatePHI(b_.getInt32Ty(), 2);
    llvm::PHINode* result = b_.CreatePHI(start->getType(), 2);
    b_.CreateCondBr(b_.CreateICmpEQ(rest, b_.getInt32(0)), after, body);
    b_.SetInsertPoint(body);
    Value* thread = lowest(rest);
    Value* next = step(result, thread, value_of(mask_, value_, thread));
    rest->addIncoming(threads, before);
    rest->addIncoming(without_lowest(rest), body);
    result->addIncoming(start, before);
    result->addIncoming(next, body);
    b_.CreateBr(head);
    b_.SetInsertPoint(after);
    return result;
  }

  llvm::IRBuilder<> b_;
  llvm::Function& function_;
  Value* value_;
  Value* mask_;
  Operation operation_;
  bool signed_;
  LaneOrder order_;
  llvm::BasicBlock* some_ = nullptr;
};

}  // namespace

Value* create_shuffle(llvm::IRBuilder<>& builder, Value* mask, Value* value, Value* lane) {
  return shuffle(builder, Intrinsic::nvvm_shfl_sync_idx_i32, mask, value, lane);
}

llvm::Function* lane_function(llvm::Module& module, llvm::StringRef name, llvm::Type* type,
                              LaneOrder order) {
  const std::string symbol = ("metal." + name).str();
  if (llvm::Function* known = module.getFunction(symbol)) return known;
  llvm::StringRef rest = name;
  if (!rest.consume_front("simd_")) return nullptr;
  const bool prefix = rest.consume_front("prefix_");
  const bool inclusive = prefix && rest.consume_front("inclusive_");
  if (prefix && !inclusive && !rest.consume_front("exclusive_")) return nullptr;
  for (const auto& [word, operation] : kOperations) {
    if (!rest.consume_front(word)) continue;
    llvm::IRBuilder<> builder(module.getContext());
    auto* function =
        llvm::Function::Create(llvm::FunctionType::get(type, {type, builder.getInt32Ty()}, false),
                               llvm::Function::InternalLinkage, symbol, module);
    function->setConvergent();
    function->setDoesNotThrow();
    function->addFnAttr(llvm::Attribute::AlwaysInline);
    LaneFunction code(*function, operation, rest.starts_with("i"), order);
    prefix ? code.prefix(inclusive) : code.reduction();
    return function;
  }
  return nullptr;
}

}  // namespace metal::cuda
