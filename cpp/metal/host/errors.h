// Turns C++ exceptions into NS::Error.
#pragma once

#include "Metal/Types.hpp"

namespace metal::host {

// Sets `*error` from the exception that is being handled, if `error` is not null.
void set_error_from_exception(NS::Error** error, const char* domain, NS::Integer code);

inline constexpr const char* kLibraryDomain = "MTLLibraryErrorDomain";
inline constexpr const char* kCommandBufferDomain = "MTLCommandBufferErrorDomain";
inline constexpr const char* kPipelineDomain = "MTLComputePipelineErrorDomain";

}  // namespace metal::host
