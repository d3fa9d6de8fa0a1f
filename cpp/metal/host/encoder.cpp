// The encoder: checks launches and records them in its command buffer.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "metal/host/command_buffer.h"
#include "metal/host/device.h"
#include "metal/host/library.h"

namespace metal::host {

EncoderObject::EncoderObject(CommandBufferObject* commands) : commands_(NS::RetainPtr(commands)) {}

void EncoderObject::setComputePipelineState(const MTL::ComputePipelineState* pipeline) {
  if (!pipeline || pipeline == pipeline_) return;
  pipeline_ = static_cast<const PipelineObject*>(pipeline);
  pipeline_->retain();
  commands_->keep(pipeline_);
}

bool EncoderObject::valid_index(NS::UInteger index, const char* what) {
  if (index < kMaxBufferBindings) return true;
  commands_->refuse(std::string("[") + what + "] Invalid index " + std::to_string(index) +
                    ": at most " + std::to_string(kMaxBufferBindings - 1) + " is allowed");
  return false;
}

void EncoderObject::setBuffer(const MTL::Buffer* buffer, NS::UInteger offset, NS::UInteger index) {
  if (!valid_index(index, "setBuffer")) return;
  set_ |= 1U << index;
  from_bytes_ &= ~(1U << index);
  if (checked_) checked_->extents[index] = {};
  if (!buffer) {
    bases_[index] = nullptr;
    parameters_.buffers[index] = nullptr;
    residencies_[index] = nullptr;
    return;
  }
  buffer->retain();
  commands_->keep(buffer);
  const auto* object = static_cast<const BufferObject*>(buffer);
  bases_[index] = static_cast<char*>(object->address());
  residencies_[index] = object->residency();
  lengths_[index] = buffer->length();
  setBufferOffset(offset, index);
}

void EncoderObject::setBufferOffset(NS::UInteger offset, NS::UInteger index) {
  if (!valid_index(index, "setBufferOffset") || !bases_[index]) return;
  parameters_.buffers[index] = bases_[index] + offset;
  parameters_.buffer_bytes[index] = lengths_[index] - std::min(offset, lengths_[index]);
}

void EncoderObject::setBytes(const void* bytes, NS::UInteger length, NS::UInteger index) {
  if (!valid_index(index, "setBytes")) return;
  set_ |= 1U << index;
  from_bytes_ |= 1U << index;
  if (checked_) checked_->extents[index] = {};
  bases_[index] = static_cast<char*>(commands_->copy_bytes(bytes, length));
  residencies_[index] = commands_->bytes_residency();
  lengths_[index] = length;
  setBufferOffset(0, index);
}

void EncoderObject::setThreadgroupMemoryLength(NS::UInteger length, NS::UInteger index) {
  if (!valid_index(index, "setThreadgroupMemoryLength")) return;
  set_ |= 1U << index;
  uint32_t& bytes = parameters_.threadgroup_memory[index];
  threadgroup_memory_ -= bytes;
  bytes =
      static_cast<uint32_t>(length > UINT32_MAX - 15 ? UINT32_MAX - 15 : (length + 15) / 16 * 16);
  threadgroup_memory_ += bytes;
}

void EncoderObject::setThreadgroupOrder(NS::UInteger stride, NS::UInteger count) {
  parameters_.order_stride = stride;
  parameters_.order_count = count;
}

void EncoderObject::setChecks(uint32_t checks, const CheckHandler& handler) {
  if (!checked_) checked_ = std::make_unique<Checked>();
  checked_->checks = checks;
  checked_->handler = handler;
}

void EncoderObject::setBufferExtent(NS::UInteger start, NS::UInteger length, NS::UInteger index) {
  if (!valid_index(index, "setBufferExtent") || !bases_[index]) return;
  if (!checked_) checked_ = std::make_unique<Checked>();
  checked_->extents[index] = {bases_[index] + start, length};
}

void EncoderObject::setBufferUnwritten(NS::UInteger index) {
  if (!valid_index(index, "setBufferUnwritten") || !bases_[index]) return;
  if (!checked_) checked_ = std::make_unique<Checked>();
  checked_->extents[index].unwritten = true;
}

bool EncoderObject::reuse() {
  if (!commands_->forget()) return false;
  pipeline_ = nullptr;
  checked_.reset();
  from_bytes_ = 0;
  threadgroup_memory_ = 0;
  for (; set_ != 0; set_ &= set_ - 1) {
    const int index = std::countr_zero(set_);
    bases_[index] = nullptr;
    lengths_[index] = 0;
    residencies_[index] = nullptr;
    parameters_.buffers[index] = nullptr;
    parameters_.buffer_bytes[index] = 0;
    parameters_.threadgroup_memory[index] = 0;
  }
  return true;
}

// What runs the next dispatch; null, with a refusal, where it cannot be checked.
const Kernel* EncoderObject::prepare_kernel() {
  parameters_.checked = nullptr;
  Checks checks = checked_ ? checked_->checks : kNoChecks;
  if (pipeline_->kernel().info.covered) checks |= kCoverage;
  if (checks == kNoChecks) return &pipeline_->kernel_for(commands_->driver(), kNoChecks);
  if (!checked_) checked_ = std::make_unique<Checked>();
  auto checked = std::make_shared<CheckedLaunch>();
  checked->checks = checks;
  checked->handler = checked_->handler;
  for (uint32_t i = 0; i < kMaxBufferBindings; ++i) {
    const CheckedLaunch::Extent& extent = checked_->extents[i];
    const bool whole = !extent.begin;
    checked->buffers.push_back(
        whole ? CheckedLaunch::Extent{bases_[i], lengths_[i], extent.unwritten} : extent);
    checked_->extents[i].unwritten = false;
  }
  try {
    if (checked->checks & kCheckOrder) checked->schedules = chosen_schedules();
    parameters_.checked = std::move(checked);
    return &pipeline_->kernel_for(commands_->driver(), checks);
  } catch (const std::exception& error) {
    commands_->refuse(error.what());
    return nullptr;
  }
}

std::string EncoderObject::check_bindings(const Kernel& kernel) const {
  for (const ArgumentInfo& argument : kernel.info.arguments) {
    if (argument.optional) continue;
    const char* missing = nullptr;
    if (argument.kind == ArgumentKind::Buffer && !parameters_.buffers[argument.index])
      missing = "No buffer is bound";
    if (argument.kind == ArgumentKind::ThreadgroupMemory &&
        !parameters_.threadgroup_memory[argument.index])
      missing = "No threadgroup memory length is set";
    if (missing) {
      return "[" + kernel.name + "] " + missing + " at index " + std::to_string(argument.index) +
             " (\"" + argument.name + "\")";
    }
  }
  return {};
}

std::string EncoderObject::check(MTL::Size grid, MTL::Size threadgroup) const {
  if (!pipeline_) return "[dispatchThreads] No compute pipeline state is set";
  const Kernel& kernel = pipeline_->kernel();
  std::string error =
      check_launch(kernel, {grid.width, grid.height, grid.depth},
                   {threadgroup.width, threadgroup.height, threadgroup.depth}, threadgroup_memory_);
  return error.empty() ? check_bindings(kernel) : error;
}

bool EncoderObject::are_buffers_apart(const Kernel& kernel) const {
  const auto overlap = [&](uint32_t a, uint32_t b) {
    return bases_[a] < bases_[b] + lengths_[b] && bases_[b] < bases_[a] + lengths_[a];
  };
  const auto is_written = [](const ArgumentInfo& argument) {
    return argument.kind == ArgumentKind::Buffer && argument.writable;
  };
  const auto is_read = [](const ArgumentInfo& argument) {
    return argument.kind == ArgumentKind::Buffer && !argument.writable;
  };
  const auto& arguments = kernel.info.arguments;
  return std::ranges::none_of(arguments, [&](const ArgumentInfo& written) {
    return is_written(written) && std::ranges::any_of(arguments, [&](const ArgumentInfo& read) {
             return is_read(read) && overlap(written.index, read.index);
           });
  });
}

void EncoderObject::dispatchThreads(MTL::Size grid, MTL::Size threadgroup) {
  std::string error = check(grid, threadgroup);
  if (!error.empty()) {
    commands_->refuse(error);
    return;
  }
  const NS::UInteger grid_size[3] = {grid.width, grid.height, grid.depth};
  const NS::UInteger group_size[3] = {threadgroup.width, threadgroup.height, threadgroup.depth};
  for (int i = 0; i < 3; ++i) {
    parameters_.threads_per_grid[i] = static_cast<uint32_t>(grid_size[i]);
    parameters_.threads_per_threadgroup[i] = static_cast<uint32_t>(group_size[i]);
  }
  parameters_.trusted = pipeline_->trusted();
  parameters_.interrupts_before = interrupt_count();
  if (const Kernel* kernel = prepare_kernel()) {
    parameters_.by_value = from_bytes_ ? kernel->taken_by_value(from_bytes_, parameters_) : 0;
    parameters_.apart = commands_->driver().device_memory() && are_buffers_apart(*kernel);
    commands_->add_launch(*pipeline_, *kernel, parameters_, from_bytes_, residencies_);
  }
  setThreadgroupOrder(0, 1);
}

void EncoderObject::dispatchThreadgroups(MTL::Size threadgroups, MTL::Size threadgroup) {
  // Saturates, so that too many threads do not wrap around to an allowed number.
  auto threads = [](NS::UInteger groups, NS::UInteger size) {
    __uint128_t product = static_cast<__uint128_t>(groups) * size;
    return product > UINT64_MAX ? static_cast<NS::UInteger>(INT64_MAX)
                                : static_cast<NS::UInteger>(product);
  };
  dispatchThreads({threads(threadgroups.width, threadgroup.width),
                   threads(threadgroups.height, threadgroup.height),
                   threads(threadgroups.depth, threadgroup.depth)},
                  threadgroup);
}

}  // namespace metal::host
