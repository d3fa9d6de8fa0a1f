#include "metal/cpu/vectorizer/widen/widener.h"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"

namespace metal::cpu {

using llvm::BasicBlock;
using llvm::Constant;
using llvm::ConstantInt;
using llvm::Type;
using llvm::Value;

Widener::Widener(llvm::Function& wide, const ShapeAnalysis& shapes,
                 const llvm::TargetTransformInfo& costs)
    : wide_(wide), shapes_(shapes), costs_(costs), builder_(wide.getContext()) {}

const LaneValue& Widener::lanes(Value* value) {
  LaneValue& found = values_[value];
  if (!found.first && !found.vector) {
    found.shape = shapes_.shape(value);
    found.first = checked_cast<Constant>(value);
  }
  return found;
}

Value* Widener::first(Value* value) { return lanes(value).first; }

Value* Widener::vector(Value* value) {
  lanes(value);
  LaneValue& found = values_[value];
  if (!found.vector) found.vector = make_vector(found);
  return found.vector;
}

Value* Widener::stride(Value* value) {
  if (Value* known = lanes(value).stride) return known;
  const Shape& shape = lanes(value).shape;
  Type* type = value->getType()->isPointerTy() ? builder_.getInt64Ty() : value->getType();
  return ConstantInt::get(type, static_cast<uint64_t>(shape.is_uniform() ? 0 : shape.offset(1)),
                          true);
}

void Widener::set_strided(Value* value, Value* first, Value* stride) {
  set_first(value, first);
  values_[value].stride = stride;
}

Value* Widener::lane_strides(Value* stride) {
  return builder_.CreateMul(splat(stride), sequence(stride->getType()));
}

Value* Widener::strided_addresses(Value* first, Value* stride) {
  return builder_.CreateGEP(builder_.getInt8Ty(), first, lane_strides(stride));
}

// Sets the builder to the first place where the value can be used.
void Widener::move_after(Value* definition) {
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(definition);
  BasicBlock* block = instruction ? instruction->getParent() : &wide_.getEntryBlock();
  if (instruction && !llvm::isa<llvm::PHINode>(instruction)) {
    builder_.SetInsertPoint(block, std::next(instruction->getIterator()));
  } else {
    builder_.SetInsertPoint(block, block->getFirstInsertionPt());
  }
}

// The vector is made next to lane 0's value, so that it can be used wherever that can.
Value* Widener::make_vector(LaneValue& value) {
  llvm::IRBuilder<>::InsertPointGuard guard(builder_);
  if (auto* constant = llvm::dyn_cast<Constant>(value.first); constant && value.shape.is_uniform())
    return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(width()), constant);
  move_after(value.stride && llvm::isa<Constant>(value.first) ? value.stride : value.first);
  Type* type = value.first->getType();
  if (value.shape.is_uniform()) return splat(value.first);
  if (value.stride) {
    return type->isPointerTy() ? strided_addresses(value.first, value.stride)
                               : builder_.CreateAdd(splat(value.first), lane_strides(value.stride));
  }
  if (type->isPointerTy()) {
    return builder_.CreateGEP(builder_.getInt8Ty(), value.first,
                              offsets(value.shape, builder_.getInt64Ty()));
  }
  return builder_.CreateAdd(splat(value.first), offsets(value.shape, type));
}

void Widener::set_first(Value* value, Value* first) {
  LaneValue& entry = values_[value];
  entry.shape = shapes_.shape(value);
  entry.first = first;
}

void Widener::set_vector(Value* value, Value* vector) {
  LaneValue& entry = values_[value];
  entry.shape = shapes_.shape(value);
  entry.vector = vector;
}

IndexedAddress Widener::address(Value* pointer) {
  const auto found = addresses_.find(pointer);
  if (found != addresses_.end()) return found->second;
  const LaneValue& known = lanes(pointer);
  if (!known.vector) {
    return {known.first, known.stride ? lane_strides(known.stride)
                                      : offsets(known.shape, builder_.getInt64Ty())};
  }
  // The index is counted from null: the pointers themselves are the index.
  return {llvm::ConstantPointerNull::get(checked_cast<llvm::PointerType>(pointer->getType())),
          builder_.CreatePtrToInt(known.vector, wide_type(builder_.getInt64Ty()))};
}

Value* Widener::mask_or_all() {
  return mask_ ? mask_ : Constant::getAllOnesValue(wide_type(builder_.getInt1Ty()));
}

Value* Widener::mask_bits() { return bits_of(mask_or_all()); }

Value* Widener::where_active(Value* vector, Constant* other) {
  if (!mask_) return vector;
  return builder_.CreateSelect(
      mask_, vector, llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(width()), other));
}

Value* Widener::frozen(Value* vector) {
  return mask_ && !llvm::isa<Constant>(vector) ? builder_.CreateFreeze(vector) : vector;
}

Type* Widener::wide_type(Type* scalar) const { return llvm::FixedVectorType::get(scalar, width()); }

Value* Widener::splat(Value* scalar) { return builder_.CreateVectorSplat(width(), scalar); }

Constant* Widener::offsets(const Shape& shape, Type* integer) const {
  llvm::SmallVector<Constant*> lanes;
  for (unsigned lane = 0; lane < width(); ++lane)
    lanes.push_back(ConstantInt::get(integer, static_cast<uint64_t>(shape.offset(lane)), true));
  return llvm::ConstantVector::get(lanes);
}

Constant* Widener::sequence(Type* integer, uint64_t stride) const {
  llvm::SmallVector<Constant*> lanes;
  for (unsigned lane = 0; lane < width(); ++lane)
    lanes.push_back(ConstantInt::get(integer, lane * stride));
  return llvm::ConstantVector::get(lanes);
}

Value* Widener::bits_of(Value* vector_of_bits) {
  return builder_.CreateBitCast(vector_of_bits, builder_.getIntNTy(width()));
}

Value* Widener::all(Value* vector_of_bits) {
  if (Value* known = known_bits(vector_of_bits).all) return known;
  return builder_.CreateICmpEQ(bits_of(vector_of_bits),
                               Constant::getAllOnesValue(builder_.getIntNTy(width())));
}

Value* Widener::any(Value* vector_of_bits) {
  if (Value* known = known_bits(vector_of_bits).any) return known;
  return builder_.CreateICmpNE(bits_of(vector_of_bits),
                               Constant::getNullValue(builder_.getIntNTy(width())));
}

Value* Widener::last_active(Value* vector) {
  if (!mask_) return builder_.CreateExtractElement(vector, width() - 1);
  Value* bits = builder_.CreateZExt(mask_bits(), builder_.getInt64Ty());
  Value* zeros = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, bits, builder_.getFalse());
  // If no lane is active, any lane will do.
  Value* lane = builder_.CreateAnd(builder_.CreateSub(builder_.getInt64(63), zeros), width() - 1);
  return builder_.CreateExtractElement(vector, lane);
}

llvm::AllocaInst* Widener::scratch(Type* type, const llvm::Twine& name) {
  BasicBlock& entry = wide_.getEntryBlock();
  llvm::IRBuilder<> builder(&entry, entry.getFirstInsertionPt());
  llvm::AllocaInst* memory = builder.CreateAlloca(type, nullptr, name);
  memory->setAlignment(llvm::Align(64));
  return memory;
}

llvm::AllocaInst* Widener::in_memory(Value* value) {
  if (llvm::AllocaInst* known = in_memory_.lookup(value)) return known;
  Value* computed = vector(value);
  llvm::AllocaInst* memory = scratch(computed->getType(), "lanes");
  const llvm::IRBuilderBase::InsertPointGuard guard(builder_);
  auto* definition = llvm::dyn_cast<llvm::Instruction>(computed);
  if (definition) {
    move_after(definition);
  } else {
    builder_.SetInsertPoint(memory->getNextNode());
  }
  builder_.CreateAlignedStore(computed, memory, memory->getAlign());
  return in_memory_[value] = memory;
}

llvm::Function* Widener::helper(llvm::StringRef name, llvm::FunctionType* type,
                                llvm::function_ref<void(llvm::Function&)> write) {
  if (llvm::Function* known = wide_.getParent()->getFunction(name)) return known;
  auto* helper =
      llvm::Function::Create(type, llvm::Function::InternalLinkage, name, wide_.getParent());
  helper->addFnAttrs(llvm::AttrBuilder(wide_.getContext(), wide_.getAttributes().getFnAttrs()));
  helper->removeFnAttr(llvm::Attribute::AlwaysInline);
  helper->removeFnAttr(llvm::Attribute::Convergent);
  helper->addFnAttr(llvm::Attribute::NoInline);
  write(*helper);
  return helper;
}

void Widener::assume(Value* condition) {
  if (!bail_out_) {
    bail_out_ = BasicBlock::Create(wide_.getContext(), "bail.out", &wide_);
    llvm::IRBuilder<>(bail_out_).CreateRet(builder_.getFalse());
  }
  BasicBlock* next = BasicBlock::Create(wide_.getContext(), "holds", &wide_);
  next->moveAfter(builder_.GetInsertBlock());
  builder_.CreateCondBr(condition, next, bail_out_,
                        llvm::MDBuilder(wide_.getContext()).createLikelyBranchWeights());
  builder_.SetInsertPoint(next);
}

void Widener::branch(Value* condition, llvm::function_ref<void()> then,
                     llvm::function_ref<void()> otherwise) {
  if (!condition) return then();
  if (tests_ == kMostTests) return otherwise();
  ++tests_;
  BasicBlock* before = builder_.GetInsertBlock();
  BasicBlock* rest = BasicBlock::Create(wide_.getContext(), "either.end", &wide_);
  BasicBlock* yes = BasicBlock::Create(wide_.getContext(), "either.yes", &wide_);
  BasicBlock* no = BasicBlock::Create(wide_.getContext(), "either.no", &wide_);
  yes->moveAfter(before);
  no->moveAfter(yes);
  builder_.CreateCondBr(condition, yes, no,
                        llvm::MDBuilder(wide_.getContext()).createLikelyBranchWeights());
  builder_.SetInsertPoint(yes);
  then();
  builder_.CreateBr(rest);
  builder_.SetInsertPoint(no);
  otherwise();
  rest->moveAfter(builder_.GetInsertBlock());
  builder_.CreateBr(rest);
  builder_.SetInsertPoint(rest);
}

Value* Widener::either(Value* condition, llvm::function_ref<Value*()> then,
                       llvm::function_ref<Value*()> otherwise) {
  std::pair<Value*, BasicBlock*> ends[2];  // null where nothing was built
  branch(
      condition, [&] { ends[0] = {then(), builder_.GetInsertBlock()}; },
      [&] { ends[1] = {otherwise(), builder_.GetInsertBlock()}; });
  if (!ends[1].first) return ends[0].first;
  if (!ends[0].first) return ends[1].first;
  llvm::PHINode* result = builder_.CreatePHI(ends[0].first->getType(), 2);
  for (const auto& [value, block] : ends) result->addIncoming(value, block);
  return result;
}

void Widener::for_each_lane(llvm::function_ref<void(Value*)> inside) {
  for_each_bit(builder_, mask_bits(), inside);
}

void for_each_bit(llvm::IRBuilder<>& b, Value* bits, llvm::function_ref<void(Value*)> inside) {
  Type* type = bits->getType();
  BasicBlock* before = b.GetInsertBlock();
  llvm::Function* function = before->getParent();
  BasicBlock* header = BasicBlock::Create(b.getContext(), "lane", function);
  BasicBlock* body = BasicBlock::Create(b.getContext(), "lane.body", function);
  BasicBlock* after = BasicBlock::Create(b.getContext(), "lane.end", function);
  header->moveAfter(before);
  body->moveAfter(header);
  b.CreateBr(header);
  b.SetInsertPoint(header);
  llvm::PHINode* rest = b.CreatePHI(type, 2, "lanes");
  rest->addIncoming(bits, before);
  b.CreateCondBr(b.CreateICmpEQ(rest, Constant::getNullValue(type)), after, body);
  b.SetInsertPoint(body);
  Value* lane = b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, rest, b.getTrue());
  inside(b.CreateZExtOrTrunc(lane, b.getInt32Ty()));
  Value* next = b.CreateAnd(rest, b.CreateSub(rest, ConstantInt::get(type, 1)));
  rest->addIncoming(next, b.GetInsertBlock());
  b.CreateBr(header);
  after->moveAfter(b.GetInsertBlock());
  b.SetInsertPoint(after);
}

}  // namespace metal::cpu
