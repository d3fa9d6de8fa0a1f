// Metal's host API for compute, under metal-cpp's names.
#pragma once

#include "Metal/Command.hpp"
#include "Metal/Device.hpp"
#include "Metal/Foundation.hpp"
#include "Metal/Library.hpp"
#include "Metal/Types.hpp"
