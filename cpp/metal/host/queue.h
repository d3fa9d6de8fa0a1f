// A command queue and the threads that run its command buffers.
#pragma once

#include <Metal/Command.hpp>
#include <functional>
#include <memory>

#include "metal/driver.h"

namespace metal::host {

class CommandBufferObject;

class QueueObject : public MTL::CommandQueue {
 public:
  QueueObject(MTL::Device* device, Driver& driver);

  MTL::Device* device() const override { return device_; }
  Driver& driver() const { return driver_; }
  MTL::CommandBuffer* commandBuffer() override;
  MTL::CommandBuffer* newCommandBuffer() override;
  bool isIdle() const override;
  void runUntil(const std::function<bool()>& done, const std::function<void()>& poll) override;
  void completeSoon() override;

  void submit(CommandBufferObject* buffer, MTL::NextCall next);
  // Does work in the calling thread. False if it must wait its turn, or if there is a device with
  // memory of its own, from which the host may have to copy buffers first. Throws what the work
  // throws.
  bool run_now(const std::function<void(Stream&)>& work);

 protected:
  ~QueueObject() override;

 private:
  struct State;

  MTL::Device* device_;
  Driver& driver_;
  std::shared_ptr<State> state_;  // the queue's threads share it, and may outlive the queue
};

}  // namespace metal::host
