// What the array core asks of the back end: evaluation on the streams of either device.
#pragma once

#include <functional>

#include "mlx/array.h"
#include "mlx/event.h"
#include "mlx/stream.h"

namespace mlx::core::metal {

// Called once, when the stream is made.
void new_stream(Stream stream);

// Schedules the array's primitive on its stream, in order with what is there: its eval_cpu or
// eval_gpu, by the stream's device. Keeps the buffers of inputs and outputs alive until it has run.
void eval(array& arr);

// Starts what eval has only collected.
void finalize(Stream stream);

// The caller, which waits for `done`, runs what the stream has next as far as it may.
void help(Stream stream, const std::function<bool()>& done);

// Starts what is collected, and waits until everything on the stream has run.
void synchronize(Stream stream);

// The same, and gives up what the stream holds: it can be used no more.
void close_stream(Stream stream);

// Work scheduled on the stream later on runs after the event.
void wait(Stream stream, const Event& event);

// Starts what is collected; calls event.notify(error) when everything scheduled so far has run
// (error: what failed, or null).
void signal(Stream stream, const Event& event);

}  // namespace mlx::core::metal
