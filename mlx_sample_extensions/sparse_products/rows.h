// The rows that entries use; included by the kernels.
#pragma once

// Without indices (step 0), entry t uses row t.
METAL_FUNC int row_of(device const int* indices, int step, int entry) {
  return step == 0 ? entry : indices[size_t(entry) * step];
}
