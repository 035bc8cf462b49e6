// JSON that is written by hand reads back as what it was.
#include "core/base/json/json_text.h"

#include <gtest/gtest.h>

#include "core/base/json/json.h"

namespace lockstep {
namespace {

std::string json_of(std::string_view text) {
  std::string json;
  EXPECT_TRUE(append_json_text(json, text));
  return json;
}

TEST(JsonText, EveryCharacterReadsBack) {
  std::string all;
  for (int c = 0; c < 128; ++c) all += static_cast<char>(c);
  all += "äß€😀 end";
  EXPECT_EQ(parse_json(json_of(all)).get<std::string>(), all);
  EXPECT_EQ(json_of("a\"b\\c\n"), R"("a\"b\\c\n")");
  EXPECT_EQ(json_of(""), "\"\"");
}

TEST(JsonText, WhatIsNoUtf8IsRefusedAndNothingIsAdded) {
  std::string json = "before";
  EXPECT_FALSE(append_json_text(json, "a\xff"));
  EXPECT_FALSE(append_json_text(json, "\xc3"));
  EXPECT_EQ(json, "before");
}

TEST(JsonText, NumbersReadBackExactly) {
  for (const double number : {0.0, 1.0, -2.5, 0.1, 1e-300, 1.7976931348623157e308, 123456789.0}) {
    std::string json;
    append_json_number(json, number);
    EXPECT_EQ(parse_json(json).get<double>(), number) << json;
  }
}

}  // namespace
}  // namespace lockstep
