// Whole numbers from text.
#include "core/base/whole_number.h"

#include <gtest/gtest.h>

#include <climits>

namespace lockstep {
namespace {

TEST(WholeNumber, TakesAllOfATextOrNothing) {
  EXPECT_EQ(whole_number("0"), 0);
  EXPECT_EQ(whole_number("007"), 7);
  for (const char* text :
       {"", " ", "1 ", " 1", "+1", "-", "1.0", "1e3", "1x", "0x1", "1_000", "one"})
    EXPECT_EQ(whole_number(text), std::nullopt) << text;
  EXPECT_EQ(whole_number(std::string_view("1\0", 2)), std::nullopt);
}

TEST(WholeNumber, StaysWithinItsRange) {
  EXPECT_EQ(whole_number("-1"), std::nullopt);
  EXPECT_EQ(whole_number<int>("-1", INT_MIN), -1);
  EXPECT_EQ(whole_number<int>("0", 1), std::nullopt);
  EXPECT_EQ(whole_number<int>("5", 1, 5), 5);
  EXPECT_EQ(whole_number<int>("6", 1, 5), std::nullopt);
  EXPECT_EQ(whole_number<int>("0", 0, -1), std::nullopt);
}

TEST(WholeNumber, RefusesWhatItsTypeDoesNotHold) {
  EXPECT_EQ(whole_number<int>("2147483647"), INT_MAX);
  EXPECT_EQ(whole_number<int>("2147483648"), std::nullopt);
  EXPECT_EQ(whole_number("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(whole_number("9223372036854775808"), std::nullopt);
  EXPECT_EQ(whole_number<std::uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(whole_number<std::uint64_t>("-1"), std::nullopt);
}

}  // namespace
}  // namespace lockstep
