// einsum lives with the other products; this header is where its users look for it.
#pragma once

#include "mlx/ops/linear.h"
