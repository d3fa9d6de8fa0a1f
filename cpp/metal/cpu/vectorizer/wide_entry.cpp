#include "metal/cpu/vectorizer/wide_entry.h"

#include "llvm/IR/IRBuilder.h"
#include "metal/cpu/build_loop.h"
#include "metal/cpu/group_access.h"
#include "metal/cpu/lower.h"

namespace metal::cpu {
namespace {

using llvm::Value;

struct Threads {
  Value* x;
  Value* y;
  Value* z;
  Value* index;
  Value* active;
};

Value* lane_numbers(llvm::IRBuilder<>& b, uint32_t width) {
  llvm::SmallVector<llvm::Constant*> lanes;
  for (uint32_t i = 0; i < width; ++i) lanes.push_back(b.getInt32(i));
  return llvm::ConstantVector::get(lanes);
}

// Numbers below 2^10 divide exactly in single precision when they are moved away from the edge.
Value* quotient(llvm::IRBuilder<>& b, Value* numbers, Value* divisor, uint32_t width) {
  llvm::Type* floats = llvm::FixedVectorType::get(b.getFloatTy(), width);
  Value* middle = b.CreateFAdd(b.CreateUIToFP(numbers, floats), llvm::ConstantFP::get(floats, 0.5));
  Value* inverse = b.CreateFDiv(llvm::ConstantFP::get(b.getFloatTy(), 1.0),
                                b.CreateUIToFP(divisor, b.getFloatTy()));
  return b.CreateFPToSI(b.CreateFMul(middle, b.CreateVectorSplat(width, inverse)),
                        numbers->getType());
}

Value* thread_count(llvm::IRBuilder<>& b, Value* group_pointer) {
  GroupAccess group(b, group_pointer);
  return b.CreateNUWMul(b.CreateNUWMul(group.size(0), group.size(1)), group.size(2));
}

Threads threads_of_unit(llvm::IRBuilder<>& b, Value* group_pointer, Value* unit,
                        const Variant& variant) {
  GroupAccess group(b, group_pointer);
  const uint32_t width = variant.width;
  Value* first = b.CreateNUWMul(unit, b.getInt32(width));
  Value* size_x = group.size(0);
  Value* size_y = group.size(1);
  if (variant.layout == ThreadLayout::Full) {
    Value* row = b.CreateUDiv(first, size_x);
    return {b.CreateURem(first, size_x), b.CreateURem(row, size_y), b.CreateUDiv(row, size_y),
            first, b.getTrue()};
  }
  Value* count = thread_count(b, group_pointer);
  Value* index = b.CreateNUWAdd(b.CreateVectorSplat(width, first), lane_numbers(b, width));
  Value* row = quotient(b, index, size_x, width);
  Value* layer = quotient(b, row, size_y, width);
  Value* x = b.CreateSub(index, b.CreateMul(row, b.CreateVectorSplat(width, size_x)));
  Value* y = b.CreateSub(row, b.CreateMul(layer, b.CreateVectorSplat(width, size_y)));
  return {x, y, layer, first, b.CreateICmpULT(index, b.CreateVectorSplat(width, count))};
}

llvm::SmallVector<Value*> arguments_of(llvm::IRBuilder<>& b, Value* group, const Threads& threads) {
  return {group, threads.x, threads.y, threads.z, threads.index, b.getInt32(0), threads.active};
}

void run_unit(llvm::IRBuilder<>& b, const UnitCode& code, llvm::ArrayRef<Value*> arguments) {
  if (!code.hopeful) {
    b.CreateCall(code.wide, arguments);
    return;
  }
  code.hopeful->addFnAttr(llvm::Attribute::AlwaysInline);
  code.wide->removeFnAttr(llvm::Attribute::AlwaysInline);
  Value* done = b.CreateCall(code.hopeful, arguments);
  llvm::Function* entry = b.GetInsertBlock()->getParent();
  auto* again = llvm::BasicBlock::Create(entry->getContext(), "again", entry);
  auto* next = llvm::BasicBlock::Create(entry->getContext(), "next", entry);
  b.CreateCondBr(done, next, again);
  b.SetInsertPoint(again);
  b.CreateCall(code.wide, arguments);
  b.CreateBr(next);
  b.SetInsertPoint(next);
}

}  // namespace

Value* unit_count(llvm::IRBuilder<>& b, Value* group, const Variant& variant) {
  return b.CreateUDiv(b.CreateAdd(thread_count(b, group), b.getInt32(variant.width - 1)),
                      b.getInt32(variant.width));
}

llvm::SmallVector<Value*> unit_arguments(llvm::IRBuilder<>& b, Value* group, Value* unit,
                                         const Variant& variant) {
  return arguments_of(b, group, threads_of_unit(b, group, unit, variant));
}

BodyShapes shapes_of(const Variant& variant) {
  Shape::Offsets lanes(variant.width);
  for (uint32_t i = 0; i < variant.width; ++i) lanes[i] = i;
  const auto unit_zeros = static_cast<unsigned>(std::countr_zero(variant.width));
  auto consecutive = [&](unsigned zeros) { return Shape::pattern(lanes, zeros, true, true); };
  const Shape uniform = Shape::uniform();
  const Shape varying = Shape::varying();
  BodyShapes shapes{.width = variant.width, .arguments = {}};
  switch (variant.layout) {
    case ThreadLayout::Rows:
      shapes.arguments = {uniform,        consecutive(unit_zeros), uniform, uniform,
                          consecutive(0), consecutive(32),         uniform};
      break;
    case ThreadLayout::Full:
      shapes.arguments = {uniform, consecutive(unit_zeros), uniform,
                          uniform, consecutive(unit_zeros), consecutive(32),
                          uniform};
      break;
    default:
      shapes.arguments = {uniform,         varying, varying, varying, consecutive(unit_zeros),
                          consecutive(32), varying};
      break;
  }
  return shapes;
}

llvm::Function* make_rows_entry(const UnitCode& code, llvm::Function& body, uint32_t width) {
  llvm::Function* entry = create_entry(*code.wide);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(entry->getContext(), "entry", entry));
  Value* group_pointer = entry->getArg(0);
  GroupAccess group(b, group_pointer);
  Value* size[] = {group.size(0), group.size(1), group.size(2)};
  Value* whole = b.CreateAnd(size[0], b.getInt32(~(width - 1)));
  build_loop(b, b.getInt32(0), size[2], 1, "z", [&](Value* z) {
    build_loop(b, b.getInt32(0), size[1], 1, "y", [&](Value* y) {
      Value* row = b.CreateMul(b.CreateAdd(b.CreateMul(z, size[1]), y), size[0]);
      build_loop(b, b.getInt32(0), whole, width, "x", [&](Value* x) {
        run_unit(b, code,
                 arguments_of(b, group_pointer, {x, y, z, b.CreateNUWAdd(row, x), b.getTrue()}));
      });
      build_loop(b, whole, size[0], 1, "rest", [&](Value* x) {
        b.CreateCall(&body,
                     {group_pointer, x, y, z, b.CreateNUWAdd(row, x), b.getInt32(0), b.getTrue()});
      });
    });
  });
  b.CreateRetVoid();
  return entry;
}

llvm::Function* make_all_units_entry(const UnitCode& code, const Variant& variant) {
  llvm::Function* entry = create_entry(*code.wide);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(entry->getContext(), "entry", entry));
  Value* group_pointer = entry->getArg(0);
  Value* units = unit_count(b, group_pointer, variant);
  build_loop(b, b.getInt32(0), units, 1, "unit", [&](Value* unit) {
    run_unit(b, code, unit_arguments(b, group_pointer, unit, variant));
  });
  b.CreateRetVoid();
  return entry;
}

}  // namespace metal::cpu
