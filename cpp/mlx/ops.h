// Includes all operations on arrays, a header per family.
#pragma once

#include "mlx/ops/binary.h"
#include "mlx/ops/convolution.h"
#include "mlx/ops/creation.h"
#include "mlx/ops/graph.h"
#include "mlx/ops/indexing.h"
#include "mlx/ops/linear.h"
#include "mlx/ops/quantized.h"
#include "mlx/ops/reduce.h"
#include "mlx/ops/shape.h"
#include "mlx/ops/sort.h"
#include "mlx/ops/unary.h"
