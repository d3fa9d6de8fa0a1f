// The device, its buffers, and the reference counting of objects.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "metal/native_kernel.h"

namespace metal::test {
namespace {

TEST(Device, IsOneObjectWithLimits) {
  auto a = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  auto b = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  EXPECT_EQ(a.get(), b.get());
  EXPECT_GT(a->name()->length(), 0u);
  EXPECT_EQ(a->maxThreadgroupMemoryLength(), 32768u);
  EXPECT_EQ(a->maxThreadsPerThreadgroup(), MTL::Size(1024, 1024, 1024));
  EXPECT_GT(a->maxBufferLength(), size_t{1} << 28);
  EXPECT_LE(a->recommendedMaxWorkingSetSize(), a->maxBufferLength());
  EXPECT_TRUE(a->hasUnifiedMemory());
}

TEST(Device, Buffers) {
  auto plain = NS::TransferPtr(device()->newBuffer(100, MTL::ResourceStorageModeShared));
  EXPECT_EQ(plain->length(), 100u);
  EXPECT_GE(plain->allocatedSize(), 100u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(plain->contents()) % 64, 0u);
  auto filled = NS::TransferPtr(device()->newBuffer("hello", 6, MTL::ResourceStorageModeShared));
  EXPECT_STREQ(static_cast<char*>(filled->contents()), "hello");
  auto empty = NS::TransferPtr(device()->newBuffer(0, MTL::ResourceStorageModeShared));
  EXPECT_EQ(empty->length(), 0u);
  EXPECT_NE(empty->contents(), nullptr);
  EXPECT_EQ(device()->newBuffer(SIZE_MAX / 2, MTL::ResourceStorageModeShared), nullptr);
}

TEST(Device, BorrowedMemoryIsGivenBack) {
  int memory[4] = {1, 2, 3, 4};
  int calls = 0;
  auto* buffer = device()->newBuffer(memory, sizeof(memory), MTL::ResourceStorageModeShared,
                                     [&](void* pointer, NS::UInteger length) {
                                       ++calls;
                                       EXPECT_EQ(pointer, memory);
                                       EXPECT_EQ(length, sizeof(memory));
                                     });
  EXPECT_EQ(buffer->contents(), memory);
  buffer->release();
  EXPECT_EQ(calls, 1);
}

TEST(Device, ErrorsOfLibraries) {
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  NS::Error* error = nullptr;
  EXPECT_EQ(device()->newLibrary(string("/nowhere/at_all.metallib"), &error), nullptr);
  ASSERT_NE(error, nullptr);
  EXPECT_NE(strstr(error->localizedDescription()->utf8String(), "/nowhere/at_all.metallib"),
            nullptr);
  EXPECT_EQ(device()->newComputePipelineState(nullptr, nullptr), nullptr);
}

TEST(Foundation, CountsReferences) {
  auto text = NS::TransferPtr(NS::String::alloc()->init("abc", NS::UTF8StringEncoding));
  EXPECT_EQ(text->retainCount(), 1u);
  auto copy = text;
  EXPECT_EQ(text->retainCount(), 2u);
  copy.reset();
  {
    auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    text->retain()->autorelease();
    EXPECT_EQ(text->retainCount(), 2u);
  }
  EXPECT_EQ(text->retainCount(), 1u);
  auto moved = std::move(text);
  EXPECT_FALSE(text);
  EXPECT_STREQ(moved->utf8String(), "abc");
}

TEST(Foundation, Containers) {
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  const NS::Object* keys[] = {string("N"), string("T")};
  const NS::Object* values[] = {NS::Number::number(3), string("float")};
  auto* dictionary = NS::Dictionary::dictionary(values, keys, 2);
  EXPECT_EQ(dictionary->object<NS::Number>(string("N"))->longLongValue(), 3);
  EXPECT_STREQ(dictionary->object<NS::String>(string("T"))->utf8String(), "float");
  EXPECT_EQ(dictionary->object(string("U")), nullptr);
  auto* array = NS::Array::array(keys, 2);
  EXPECT_EQ(array->count(), 2u);
  EXPECT_TRUE(array->object<NS::String>(1)->isEqualToString(string("T")));
}

}  // namespace
}  // namespace metal::test
