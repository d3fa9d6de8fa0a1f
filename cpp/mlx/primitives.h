// Includes all primitives, a header per family.
#pragma once

#include "mlx/primitives/binary.h"
#include "mlx/primitives/compiled.h"
#include "mlx/primitives/convolution.h"
#include "mlx/primitives/creation.h"
#include "mlx/primitives/graph.h"
#include "mlx/primitives/indexing.h"
#include "mlx/primitives/linear.h"
#include "mlx/primitives/load.h"
#include "mlx/primitives/normalization.h"
#include "mlx/primitives/primitive.h"
#include "mlx/primitives/reduce.h"
#include "mlx/primitives/rope.h"
#include "mlx/primitives/shape.h"
#include "mlx/primitives/sort.h"
#include "mlx/primitives/ternary.h"
#include "mlx/primitives/unary.h"
