// What the array core asks of the backend that runs a stream of the host.
#pragma once

#include <functional>

#include "mlx/array.h"
#include "mlx/event.h"
#include "mlx/stream.h"

namespace mlx::core::cpu {

// Called once, when the stream is made.
void new_stream(Stream stream);

// Schedules the array's primitive on its stream, in order with its kernels. Keeps the buffers of
// inputs alive until it has run.
void eval(array& arr);

// Starts what eval has only collected.
void finalize(Stream stream);

// The caller, which waits for `done`, runs what the stream has next as far as it may.
void help(Stream stream, const std::function<bool()>& done);

// Waits until everything on the stream has run.
void synchronize(Stream stream);

// Work scheduled on the stream later on runs after the event.
void wait(Stream stream, const Event& event);

// Calls event.notify(error) when everything scheduled so far has run (error: what failed, or null).
void signal(Stream stream, const Event& event);

}  // namespace mlx::core::cpu
