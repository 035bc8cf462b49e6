#include "tools/report/exports/line_numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "core/base/text/text.h"

namespace lockstep {
namespace {

std::map<std::string, double> numbers_of(std::string_view line, bool* whole = nullptr) {
  std::map<std::string, double> numbers;
  const bool is_whole = visit_numbers(line, [&](const LineNumber& one) {
    std::string name(one.key);
    if (one.place >= 0) name += cat("[", one.place, "]");
    if (!one.inner.empty()) name += cat(".", one.inner);
    numbers[name] = one.value;
  });
  if (whole) *whole = is_whole;
  return numbers;
}

TEST(LineNumbers, AreThoseOfTheTopAndOneLevelBelow) {
  bool whole = false;
  const auto numbers = numbers_of(
      R"( {"a":1.5,"b":{"c":-2e3,"deep":{"x":9}},"list":[1,2,[7]],"m":[{"peak":3},{"peak":4,"y":{"z":8}}],)"
      R"("text":"\"a\":7, {","t":true,"n":null} )",
      &whole);
  EXPECT_TRUE(whole);
  EXPECT_EQ(numbers.size(), 7U);
  EXPECT_EQ(numbers.at("a"), 1.5);
  EXPECT_EQ(numbers.at("b.c"), -2000);
  EXPECT_EQ(numbers.at("list[0]"), 1);
  EXPECT_EQ(numbers.at("list[1]"), 2);
  EXPECT_EQ(numbers.at("m[0].peak"), 3);
  EXPECT_EQ(numbers.at("m[1].peak"), 4);
  EXPECT_TRUE(std::isnan(numbers.at("n")));
}

TEST(LineNumbers, ALineThatIsNoWholeObjectIsTold) {
  for (const char* line :
       {"", "{", "{\"a\":1", "{\"a\" 1}", "[1]", "{\"a\":1}x", "{\"a\":tru}", "{\"a\":\"b}",
        "{\"a\":1,}", "{\"a\":nan}", "{\"a\":\\", "{\"a\":[1,2}"}) {
    bool whole = true;
    numbers_of(line, &whole);
    EXPECT_FALSE(whole) << line;
  }
  bool whole = true;
  numbers_of(std::string(100'000, '['), &whole);
  EXPECT_FALSE(whole);
  numbers_of("{\"a\":" + std::string(100'000, '['), &whole);
  EXPECT_FALSE(whole);
}

}  // namespace
}  // namespace lockstep
