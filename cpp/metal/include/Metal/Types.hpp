// Plain types and enumerations of Metal's host API.
#pragma once

#include "Metal/Foundation.hpp"

#pragma GCC visibility push(default)
namespace MTL {

struct Size {
  Size() = default;
  Size(NS::UInteger width, NS::UInteger height, NS::UInteger depth)
      : width(width), height(height), depth(depth) {}
  static Size Make(NS::UInteger width, NS::UInteger height, NS::UInteger depth) {
    return {width, height, depth};
  }
  bool operator==(const Size&) const = default;

  NS::UInteger width = 0;
  NS::UInteger height = 0;
  NS::UInteger depth = 0;
};

enum ResourceOptions : NS::UInteger {
  ResourceStorageModeShared = 0,
  ResourceCPUCacheModeDefaultCache = 0,
  ResourceHazardTrackingModeDefault = 0,
  ResourceCPUCacheModeWriteCombined = 1,
  ResourceStorageModePrivate = 32,
  ResourceHazardTrackingModeUntracked = 256,
  ResourceHazardTrackingModeTracked = 512,
};

inline ResourceOptions operator|(ResourceOptions a, ResourceOptions b) {
  return static_cast<ResourceOptions>(static_cast<NS::UInteger>(a) | static_cast<NS::UInteger>(b));
}

enum DataType : NS::UInteger {
  DataTypeNone = 0,
  DataTypeFloat = 3,
  DataTypeFloat2 = 4,
  DataTypeFloat3 = 5,
  DataTypeFloat4 = 6,
  DataTypeHalf = 16,
  DataTypeHalf2 = 17,
  DataTypeHalf3 = 18,
  DataTypeHalf4 = 19,
  DataTypeInt = 29,
  DataTypeInt2 = 30,
  DataTypeInt3 = 31,
  DataTypeInt4 = 32,
  DataTypeUInt = 33,
  DataTypeUInt2 = 34,
  DataTypeUInt3 = 35,
  DataTypeUInt4 = 36,
  DataTypeShort = 37,
  DataTypeShort2 = 38,
  DataTypeShort3 = 39,
  DataTypeShort4 = 40,
  DataTypeUShort = 41,
  DataTypeUShort2 = 42,
  DataTypeUShort3 = 43,
  DataTypeUShort4 = 44,
  DataTypeChar = 45,
  DataTypeChar2 = 46,
  DataTypeChar3 = 47,
  DataTypeChar4 = 48,
  DataTypeUChar = 49,
  DataTypeUChar2 = 50,
  DataTypeUChar3 = 51,
  DataTypeUChar4 = 52,
  DataTypeBool = 53,
  DataTypeBool2 = 54,
  DataTypeBool3 = 55,
  DataTypeBool4 = 56,
  DataTypeLong = 81,
  DataTypeLong2 = 82,
  DataTypeLong3 = 83,
  DataTypeLong4 = 84,
  DataTypeULong = 85,
  DataTypeULong2 = 86,
  DataTypeULong3 = 87,
  DataTypeULong4 = 88,
  DataTypeBFloat = 121,
  DataTypeBFloat2 = 122,
  DataTypeBFloat3 = 123,
  DataTypeBFloat4 = 124,
};

enum LanguageVersion : NS::UInteger {
  LanguageVersion1_1 = 65537,
  LanguageVersion1_2 = 65538,
  LanguageVersion2_0 = 131072,
  LanguageVersion2_1 = 131073,
  LanguageVersion2_2 = 131074,
  LanguageVersion2_3 = 131075,
  LanguageVersion2_4 = 131076,
  LanguageVersion3_0 = 196608,
  LanguageVersion3_1 = 196609,
  LanguageVersion3_2 = 196610,
  LanguageVersion4_0 = 262144,
};

enum MathMode : NS::Integer { MathModeSafe = 0, MathModeRelaxed = 1, MathModeFast = 2 };

enum CommandBufferStatus : NS::UInteger {
  CommandBufferStatusNotEnqueued = 0,
  CommandBufferStatusEnqueued = 1,
  CommandBufferStatusCommitted = 2,
  CommandBufferStatusScheduled = 3,
  CommandBufferStatusCompleted = 4,
  CommandBufferStatusError = 5,
};

enum CommandBufferError : NS::Integer {
  CommandBufferErrorNone = 0,
  CommandBufferErrorInternal = 1,
  CommandBufferErrorTimeout = 2,
  CommandBufferErrorPageFault = 3,
  CommandBufferErrorInvalidResource = 9,
  CommandBufferErrorStackOverflow = 12,
};

enum LibraryError : NS::Integer {
  LibraryErrorUnsupported = 1,
  LibraryErrorInternal = 2,
  LibraryErrorCompileFailure = 3,
  LibraryErrorFunctionNotFound = 5,
  LibraryErrorFileNotFound = 6,
};

enum BarrierScope : NS::UInteger {
  BarrierScopeBuffers = 1,
  BarrierScopeTextures = 2,
  BarrierScopeRenderTargets = 4,
};

enum DispatchType : NS::UInteger { DispatchTypeSerial = 0, DispatchTypeConcurrent = 1 };

}  // namespace MTL
#pragma GCC visibility pop
