// The back end's interface to the array core: evaluation on the streams of either device.
#pragma once

#include <functional>

#include "mlx/array.h"
#include "mlx/event.h"
#include "mlx/stream.h"

namespace mlx::core::metal {

// With more bytes allocated by work in flight, the host waits. Memory that is used again soon is in
// the caches, and the system need not clear new pages; a device with memory of its own has neither
// advantage, and must always have work.
size_t max_bytes_in_flight();

// Called once, when the stream is created.
void new_stream(Stream stream);

// Schedules the array's primitive on its stream, behind earlier work: its eval_cpu or eval_gpu,
// according to the stream's device. Keeps the buffers of inputs and outputs until it has run.
// Returns whether that is the case already, with all work ahead of it: small operations run at
// once, as they take no longer than to hand them to another thread. Others may only complete after
// a call of finalize or signal, which must follow.
bool eval(array& arr);

// Starts the work that eval has collected.
void finalize(Stream stream);

// The caller waits for `done`; meanwhile it runs the stream's next work itself where possible. The
// stream's own thread runs what is left.
void help(Stream stream, const std::function<bool()>& done);

// The caller waits until work of some stream has completed.
void complete_soon();

// Starts the collected work, and waits until everything on the stream has run.
void synchronize(Stream stream);

// The same, and releases the stream's resources: it cannot be used any more.
void close_stream(Stream stream);

// Work that is scheduled on the stream later runs after the event.
void wait(Stream stream, const Event& event);

// Starts the collected work. Calls event.notify(error) when everything scheduled so far has run;
// `error` is the first failure, or null. With `caller_waits`, the caller calls help next.
void signal(Stream stream, const Event& event, bool caller_waits);

}  // namespace mlx::core::metal
