// What the array core asks of the backend that runs a stream of the Metal device.
#pragma once

#include <exception>
#include <functional>

#include "mlx/array.h"
#include "mlx/event.h"
#include "mlx/stream.h"

namespace mlx::core::gpu {

bool is_available();

// Called once, when the stream is made.
void new_stream(Stream stream);

// Encodes the array's primitive on its stream. Keeps the buffers of inputs and outputs alive until
// it has run.
void eval(array& arr);

// Commits what is encoded on the stream.
void finalize(Stream stream);

// The caller, which waits for `done`, runs what the stream has next as far as it may.
void help(Stream stream, const std::function<bool()>& done);

// Commits, and waits until everything on the stream has run.
void synchronize(Stream stream);

// Work encoded on the stream later on runs after the event.
void wait(Stream stream, const Event& event);

// Commits; calls event.notify(error) when everything encoded so far has run (error: what failed, or
// null).
void signal(Stream stream, const Event& event);

}  // namespace mlx::core::gpu
