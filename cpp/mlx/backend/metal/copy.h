// The place where older extensions look for copies.
#pragma once

#include "mlx/backend/gpu/copy.h"
