// Runs programs in one form, in processes of their own: the form is read from the environment once,
// and a program may end its process.
#pragma once

#include <memory>

#include "results.h"

namespace metal::fuzz {

// Programs without a compiled form (null) are skipped.
void run_form(const Form& form, const std::vector<ProgramRequest>& requests,
              const std::vector<std::shared_ptr<Program>>& programs, Results& results);

}  // namespace metal::fuzz
