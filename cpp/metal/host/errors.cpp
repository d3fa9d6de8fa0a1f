// Turns C++ exceptions into NS::Error.
#include "metal/host/errors.h"

#include <exception>

namespace metal::host {

void set_error_from_exception(NS::Error** error, const char* domain, NS::Integer code) {
  if (!error) return;
  try {
    throw;
  } catch (const std::exception& exception) {
    *error = NS::Error::error(domain, code, exception.what());
  } catch (...) {
    *error = NS::Error::error(domain, code, "unknown error");
  }
}

}  // namespace metal::host
