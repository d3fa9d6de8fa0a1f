#include "metal/message.h"

#include <gtest/gtest.h>

#include <bit>

namespace metal {
namespace {

MessageValue number(float value) {
  return {static_cast<uint64_t>(MessageKind::Float), std::bit_cast<uint32_t>(value)};
}

MessageValue integer(int32_t value) {
  return {static_cast<uint64_t>(MessageKind::Signed) + 2, static_cast<uint64_t>(int64_t{value})};
}

TEST(Message, ValuesAreAsPrintfPrintsThem) {
  const MessageValue values[] = {integer(-3), number(1.5f), integer(-1)};
  EXPECT_EQ(format_message("a %d, %6.2f|%x%%", values), "a -3,   1.50|ffffffff%");
}

TEST(Message, ElementsOfVectorsAreSeparatedByCommas) {
  const MessageValue values[] = {number(1), number(2), number(3), integer(4)};
  EXPECT_EQ(format_message("%v3g %d", values), "1,2,3 4");
}

TEST(Message, ValuesDecideWhatTheyAre) {
  const MessageValue values[] = {number(1.5f), integer(2)};
  EXPECT_EQ(format_message("%d %f %d", values), "1.5 2 ?");
}

TEST(Message, HugeWidthsAndStrangeConversionsAreHarmless) {
  const MessageValue values[] = {integer(1), integer(2), integer(3)};
  EXPECT_EQ(format_message("%99999999999d", values).size(), 512);
  EXPECT_EQ(format_message("%k%", values), "12");
  EXPECT_EQ(format_message("%n %.99999999999d", values).substr(0, 2), "1 ");
}

TEST(Message, TextsMayBeNull) {
  const MessageValue values[] = {{static_cast<uint64_t>(MessageKind::Text), 0}};
  EXPECT_EQ(format_message("%s", values), "(null)");
}

}  // namespace
}  // namespace metal
