// CommandEncoder: the open encoder of a stream.
#include "mlx/backend/metal/command_encoder.h"

#include "mlx/backend/metal/checks.h"
#include "mlx/backend/metal/stream_state.h"

namespace mlx::core::metal {

void CommandEncoder::set_compute_pipeline_state(const MTL::ComputePipelineState* kernel) {
  state_->compute_encoder()->setComputePipelineState(kernel);
}

void CommandEncoder::set_buffer(const MTL::Buffer* buffer, int index, int64_t offset) {
  state_->compute_encoder()->setBuffer(buffer, offset, index);
}

void CommandEncoder::set_input_array(const array& a, int index, int64_t offset) {
  const MTL::Buffer* buffer =
      a.data_shared_ptr() ? static_cast<const MTL::Buffer*>(a.buffer().ptr()) : nullptr;
  set_buffer(buffer, index, buffer ? a.offset() + offset : 0);
  if (buffer && wanted_checks()) {
    set_extent(a, index);
  }
}

void CommandEncoder::set_extent(const array& a, int index) {
  const auto [first, end] = a.extent();
  state_->compute_encoder()->setBufferExtent(first, end - first, index);
}

void CommandEncoder::set_checks(uint32_t checks) { state_->next_checks = checks; }

void CommandEncoder::set_unwritten(int index) {
  if (wanted_checks()) state_->compute_encoder()->setBufferUnwritten(index);
}

uint32_t CommandEncoder::wanted_checks() const {
  // What array operations make of numbers is what NumPy makes of them, and no mistake of a kernel.
  // A debugger does not stop in them.
  const Checks of_all_kernels =
      active_checks() & ~(::metal::kCheckNumbers | ::metal::kCheckRounding | ::metal::kDebug);
  return (state_->next_checks | of_all_kernels) & ~::metal::kSourceChecks;
}

void CommandEncoder::begin_dispatch() {
  state_->operations++;
  const Checks checks = wanted_checks();
  state_->next_checks = ::metal::kNoChecks;
  if (checks == state_->checks) {
    return;
  }
  state_->checks = checks;
  state_->compute_encoder()->setChecks(
      checks, [errors = state_->errors](const std::vector<CheckReport>& reports) {
        try {
          raise_reports(reports);
        } catch (...) {
          errors->set(std::current_exception());
          throw;
        }
      });
}

void CommandEncoder::set_output_array(array& a, int index, int64_t offset) {
  set_input_array(a, index, offset);
}

void CommandEncoder::set_threadgroup_memory_length(size_t bytes, int index) {
  state_->compute_encoder()->setThreadgroupMemoryLength(bytes, index);
}

void CommandEncoder::set_raw_bytes(const void* bytes, size_t length, int index) {
  state_->compute_encoder()->setBytes(bytes, length, index);
}

void CommandEncoder::set_threadgroup_order(size_t stride, size_t count) {
  state_->compute_encoder()->setThreadgroupOrder(stride, count);
}

void CommandEncoder::dispatch_threads(MTL::Size grid, MTL::Size threadgroup) {
  if (grid.width != 0 && grid.height != 0 && grid.depth != 0) {
    begin_dispatch();
    state_->compute_encoder()->dispatchThreads(grid, threadgroup);
  }
}

void CommandEncoder::dispatch_threadgroups(MTL::Size grid, MTL::Size threadgroup) {
  if (grid.width != 0 && grid.height != 0 && grid.depth != 0) {
    begin_dispatch();
    state_->compute_encoder()->dispatchThreadgroups(grid, threadgroup);
  }
}

void CommandEncoder::add_temporary(array a) {
  state_->begins_operation = false;  // the memory belongs to the same command buffer
  if (state_->host_use) {
    state_->host_use->add(a, true);
  }
  state_->bytes += a.nbytes();
  state_->temporaries.push_back(std::move(a));
}

void CommandEncoder::add_temporaries(std::vector<array> arrays) {
  for (auto& a : arrays) {
    add_temporary(std::move(a));
  }
}

void CommandEncoder::add_host_task(std::function<void()> task, bool ends_soon) {
  if (ends_soon) {
    state_->compute_encoder();  // stays if the task runs at once
  } else {
    state_->end_encoding();
  }
  auto* buffer = state_->command_buffer();
  state_->operations++;
  // After an error nothing of the stream runs until somebody has got the error.
  buffer->addHostTask(
      [task = std::move(task), errors = state_->errors, host_use = state_->host_use] {
        if (errors->any) {
          return;
        }
        try {
          if (host_use) {
            host_use->prepare();
          }
          task();
        } catch (...) {
          errors->set(std::current_exception());
          throw;
        }
      },
      ends_soon);
}

void CommandEncoder::add_library_call(const MTL::LibraryCall& call,
                                      const std::vector<MTL::LibraryBuffer>& buffers) {
  state_->command_buffer()->addLibraryCall(call, buffers);
  state_->operations++;
}

MTL::LibraryBuffer CommandEncoder::library_input(const array& a, int64_t offset) {
  return {static_cast<const MTL::Buffer*>(a.buffer().ptr()),
          static_cast<NS::UInteger>(a.offset() + offset), false};
}

MTL::LibraryBuffer CommandEncoder::library_output(const array& a, int64_t offset) {
  MTL::LibraryBuffer bound = library_input(a, offset);
  bound.written = true;
  return bound;
}

}  // namespace mlx::core::metal
