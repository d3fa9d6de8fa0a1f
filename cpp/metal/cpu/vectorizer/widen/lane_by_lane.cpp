#include "metal/cpu/vectorizer/widen/lane_by_lane.h"

#include "llvm/IR/Module.h"

namespace metal::cpu {
namespace {

using llvm::Value;

enum class Direction { Load, Store };

// Writes void (void* root, const Index* indices, uint64_t active, T* values). It is a function
// because its code is long and rarely runs.
void write_transfer(llvm::Function& code, Direction direction, LaneAddresses addresses,
                    llvm::Type* element, unsigned width) {
  llvm::LLVMContext& context = code.getContext();
  addresses.root = code.getArg(0);
  addresses.indices = code.getArg(1);
  auto move = [&](llvm::IRBuilder<>& b, Value* lane) {
    Value* there = addresses.at(b, lane);
    Value* here = b.CreateGEP(element, code.getArg(3), lane);
    const bool loads = direction == Direction::Load;
    Value* value = b.CreateAlignedLoad(element, loads ? there : here, llvm::Align(1));
    b.CreateAlignedStore(value, loads ? here : there, llvm::Align(1));
  };
  auto* all = llvm::BasicBlock::Create(context, "all", &code);
  auto* some = llvm::BasicBlock::Create(context, "some", &code);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "entry", &code, all));
  Value* every = llvm::ConstantInt::get(b.getInt64Ty(), llvm::APInt::getLowBitsSet(64, width));
  b.CreateCondBr(b.CreateICmpEQ(code.getArg(2), every), all, some);
  b.SetInsertPoint(all);
  for (unsigned lane = 0; lane < width; ++lane) move(b, b.getInt32(lane));
  b.CreateRetVoid();
  b.SetInsertPoint(some);
  for_each_bit(b, code.getArg(2), [&](Value* lane) { move(b, lane); });
  b.CreateRetVoid();
}

// Copies between `values` in memory and the lanes' addresses.
void call_transfer(Widener& w, Direction direction, const IndexedAddress& address,
                   llvm::AllocaInst* values) {
  llvm::IRBuilder<>& b = w.builder();
  const LaneAddresses addresses = lane_addresses(w, address);
  const uint64_t size = w.layout().getTypeStoreSize(values->getAllocatedType()) / w.width();
  std::string name;
  llvm::raw_string_ostream(name) << (direction == Direction::Load ? "simd.load" : "simd.store")
                                 << ".lanes." << w.width() << "x" << size << "."
                                 << (address.is_signed ? "s" : "u")
                                 << addresses.index_type->getIntegerBitWidth() << "."
                                 << address.scale;
  llvm::Type* pointer = b.getPtrTy();
  auto* type =
      llvm::FunctionType::get(b.getVoidTy(), {pointer, pointer, b.getInt64Ty(), pointer}, false);
  llvm::Function* callee = w.helper(name, type, [&](llvm::Function& code) {
    write_transfer(code, direction, addresses, b.getIntNTy(static_cast<unsigned>(size * 8)),
                   w.width());
  });
  b.CreateCall(callee, {b.CreateAddrSpaceCast(address.root, pointer), addresses.indices,
                        b.CreateZExtOrTrunc(w.mask_bits(), b.getInt64Ty()), values});
}

}  // namespace

Value* load_element(llvm::IRBuilder<>& b, llvm::AllocaInst* vector, unsigned lane) {
  llvm::Type* type = vector->getAllocatedType()->getScalarType();
  constexpr bool kVolatile = true;
  return b.CreateLoad(type, b.CreateConstGEP1_32(type, vector, lane), kVolatile);
}

Value* LaneAddresses::at(llvm::IRBuilder<>& b, Value* lane) const {
  Value* index = b.CreateLoad(index_type, b.CreateGEP(index_type, indices, lane));
  llvm::Type* wide = b.getInt64Ty();
  index = is_signed ? b.CreateSExt(index, wide) : b.CreateZExt(index, wide);
  return b.CreateGEP(llvm::ArrayType::get(b.getInt8Ty(), scale), root, index);
}

LaneAddresses lane_addresses(Widener& w, const IndexedAddress& address) {
  llvm::AllocaInst* indices = w.scratch(address.index->getType(), "indices");
  w.builder().CreateStore(address.index, indices);
  return {address.root, indices, address.index->getType()->getScalarType(), address.is_signed,
          address.scale};
}

Value* load_lanes(Widener& w, const IndexedAddress& address, llvm::Type* type) {
  llvm::AllocaInst* values = w.scratch(w.wide_type(type), "loaded");
  call_transfer(w, Direction::Load, address, values);
  return w.builder().CreateLoad(w.wide_type(type), values);
}

void store_lanes(Widener& w, const IndexedAddress& address, Value* values) {
  llvm::AllocaInst* memory = w.scratch(values->getType(), "stored");
  w.builder().CreateStore(values, memory);
  call_transfer(w, Direction::Store, address, memory);
}

}  // namespace metal::cpu
