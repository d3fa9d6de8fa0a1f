// Lists of checks as text, and reports as text.
#include "metal/checks.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>

namespace metal {
namespace {

TEST(Checks, AreNamedInLists) {
  EXPECT_EQ(parse_checks("", ""), kNoChecks);
  EXPECT_EQ(parse_checks(" 0 ", ""), kNoChecks);
  EXPECT_EQ(parse_checks("all", ""), kAllChecks);
  EXPECT_EQ(parse_checks("bounds , races", ""), kCheckBounds | kCheckRaces);
  EXPECT_EQ(parse_checks("apple", ""), kSourceChecks);
  EXPECT_EQ(parse_checks("bounds=strict", ""), kCheckBounds | kCheckStrict);
  EXPECT_EQ(parse_checks("uninitialised", ""), kCheckUninitialised);
  EXPECT_EQ(parse_checks("numbers", ""), kCheckNumbers);
}

TEST(Checks, OthersAreRefused) {
  for (const char* text : {"bound", "bounds,", ",", "all races"}) {
    try {
      parse_checks(text, "[here]");
      ADD_FAILURE() << text;
    } catch (const std::invalid_argument& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("[here] Unknown check \"")) << error.what();
    }
  }
}

TEST(Checks, OrdersAreANumberOrAToken) {
  const auto parse = [](const char* text) {
    const Schedules schedules = parse_schedules(text, "[here]");
    return std::pair(schedules.first, schedules.count);
  };
  EXPECT_EQ(parse(""), std::pair(1u, 4u));
  EXPECT_EQ(parse(" 100 "), std::pair(1u, 100u));
  EXPECT_EQ(parse("s7"), std::pair(7u, 1u));
  for (const char* text : {"0", "s0", "s", "x", "7s", "-1", "4294967296", "1 2"}) {
    EXPECT_THROW(parse(text), std::invalid_argument) << text;
  }
}

TEST(Checks, ReportsLookLikeDiagnostics) {
  CheckReport report;
  report.kind = "races";
  report.kernel = "k";
  report.place = {"k.header", 7, 3, "\ta = b;"};
  report.message = "is wrong";
  report.count = 3;
  report.position = {{1, 2, 3}, {4, 5, 6}};
  report.note = "and here";
  report.note_place = {"", 0, 0, ""};
  EXPECT_EQ(describe(report),
            "k.header:7:3: races: is wrong\n"
            "  \ta = b;\n"
            "  \t ^\n"
            "  in thread (1, 2, 3) of threadgroup (4, 5, 6), and 2 times more\n"
            "k: note: and here\n");
}

TEST(Checks, ReportsOfNoThreadNameNone) {
  CheckReport report;
  report.kind = "apple";
  report.kernel = "k";
  report.place = {"k", 1, 2, " goto x;"};
  report.message = "Metal has no goto";
  report.of_thread = false;
  EXPECT_EQ(describe(report), "k:1:2: apple: Metal has no goto\n   goto x;\n   ^\n");
  EXPECT_EQ(describe(std::vector{report}),
            "[k] The kernel failed its checks (1 report):\n"
            "k:1:2: apple: Metal has no goto\n   goto x;\n   ^");
}

}  // namespace
}  // namespace metal
