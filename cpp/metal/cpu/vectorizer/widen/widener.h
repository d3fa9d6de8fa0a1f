// The state of widening shared by its parts: what every value of the body has become.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "metal/cpu/vectorizer/shapes/shape_analysis.h"

namespace llvm {
class TargetTransformInfo;
}

namespace metal::cpu {

// A value in all lanes. Uniform values and those with offsets are held as lane 0's value; the
// vector is made when something needs it.
struct LaneValue {
  Shape shape = Shape::undefined();
  llvm::Value* first = nullptr;   // lane 0's, unless the shape is varying
  llvm::Value* stride = nullptr;  // from lane to lane, if only the run knows; of addresses in bytes
  llvm::Value* vector = nullptr;
  llvm::Value* holds = nullptr;  // i1: whether the offsets hold; null when they always do
};

// An address that differs between lanes only in one index.
struct IndexedAddress {
  llvm::Value* root = nullptr;   // scalar pointer
  llvm::Value* index = nullptr;  // vector of i32 or i64
  bool is_signed = true;         // how an i32 becomes 64 bits wide
  uint64_t scale = 1;            // bytes
};

class Widener {
 public:
  Widener(llvm::Function& wide, const ShapeAnalysis& shapes,
          const llvm::TargetTransformInfo& costs);

  unsigned width() const { return shapes_.width(); }
  llvm::IRBuilder<>& builder() { return builder_; }
  llvm::Function& function() { return wide_; }
  const llvm::TargetTransformInfo& costs() const { return costs_; }
  const llvm::DataLayout& layout() const { return wide_.getParent()->getDataLayout(); }

  Shape shape(const llvm::Value* value) const { return shapes_.shape(value); }
  const LaneValue& lanes(llvm::Value* value);
  llvm::Value* first(llvm::Value* value);  // lane 0's
  llvm::Value* vector(llvm::Value* value);
  llvm::Value* stride(llvm::Value* value);  // of a value that has one, known now or not
  void set_first(llvm::Value* value, llvm::Value* first);
  // `stride` is there wherever `first` is.
  void set_strided(llvm::Value* value, llvm::Value* first, llvm::Value* stride);
  void set_vector(llvm::Value* value, llvm::Value* vector);
  void set_holds(llvm::Value* value, llvm::Value* holds) { values_[value].holds = holds; }
  void set_address(llvm::Value* pointer, const IndexedAddress& address) {
    addresses_[pointer] = address;
  }
  bool has_vector(llvm::Value* value) const { return values_.lookup(value).vector != nullptr; }
  bool has_address(llvm::Value* pointer) const { return addresses_.contains(pointer); }
  IndexedAddress address(llvm::Value* pointer);

  // The lanes that run the current block. Null: all of them.
  llvm::Value* mask() const { return mask_; }
  void set_mask(llvm::Value* mask) { mask_ = mask; }
  llvm::Value* mask_or_all();
  llvm::Value* mask_bits();  // as an integer of one bit a lane
  // In lanes that do not run the block, `other`.
  llvm::Value* where_active(llvm::Value* vector, llvm::Constant* other);

  llvm::Type* wide_type(llvm::Type* scalar) const;
  llvm::Value* splat(llvm::Value* scalar);
  // All lanes' addresses, computed here.
  llvm::Value* strided_addresses(llvm::Value* first, llvm::Value* stride);
  llvm::Constant* offsets(const Shape& shape, llvm::Type* integer) const;
  llvm::Constant* sequence(llvm::Type* integer,
                           uint64_t stride = 1) const;  // 0, stride, 2 * stride, ...
  llvm::Value* bits_of(llvm::Value* vector_of_bits);
  llvm::Value* all(llvm::Value* vector_of_bits);
  llvm::Value* any(llvm::Value* vector_of_bits);
  // For decisions that look at all lanes: what lanes have that do not run the block may be poison,
  // which would spread to the others.
  llvm::Value* settled(llvm::Value* vector);
  // Whether all lanes run the current block; null if that is certain.
  llvm::Value* all_run() { return mask_ ? all(mask_) : nullptr; }
  llvm::Value* last_active(llvm::Value* vector);  // the value of the last lane that runs the block
  llvm::AllocaInst* scratch(llvm::Type* type, const llvm::Twine& name);
  // A function that is called rather than made part of this one; its code is written once.
  llvm::Function* helper(llvm::StringRef name, llvm::FunctionType* type,
                         llvm::function_ref<void(llvm::Function&)> write);

  // Speculation: code that follows may rely on the condition. Where it does not hold, the gang
  // bails out, before it has had any effects, and other code runs it.
  void assume(llvm::Value* condition);
  // if (condition) then() else otherwise(); without a condition, then(). The first is likely.
  void branch(llvm::Value* condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise);
  // The same for what has a result.
  llvm::Value* either(llvm::Value* condition, llvm::function_ref<llvm::Value*()> then,
                      llvm::function_ref<llvm::Value*()> otherwise);
  // Once for each lane in the mask; the lane's number as i32.
  void for_each_lane(llvm::function_ref<void(llvm::Value*)> inside);

 private:
  llvm::Value* make_vector(LaneValue& value);
  llvm::Value* lane_strides(llvm::Value* stride);
  void go_behind(llvm::Value* definition);

  llvm::Function& wide_;
  const ShapeAnalysis& shapes_;
  const llvm::TargetTransformInfo& costs_;
  llvm::IRBuilder<> builder_;
  llvm::DenseMap<llvm::Value*, LaneValue> values_;
  llvm::DenseMap<llvm::Value*, IndexedAddress> addresses_;
  llvm::Value* mask_ = nullptr;
  llvm::BasicBlock* bail_out_ = nullptr;
};

// A loop over the bits that are set, from the lowest on; `inside` gets the number of each as i32.
void for_each_bit(llvm::IRBuilder<>& b, llvm::Value* bits,
                  llvm::function_ref<void(llvm::Value*)> inside);

}  // namespace metal::cpu
