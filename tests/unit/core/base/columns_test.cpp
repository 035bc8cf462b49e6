// Tables of text.
#include "core/base/text/columns.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

const std::vector<std::vector<std::string>> kRows{{"GPU", "name", "last"}, {"0", "Tesla T4", "x"}};

TEST(Columns, AreAsWideAsTheirWidestCell) {
  EXPECT_EQ(columns(kRows), "GPU  name      last\n0    Tesla T4  x\n");
  EXPECT_EQ(columns({}), "");
}

TEST(Columns, AreFlushRightButForTheLast) {
  EXPECT_EQ(columns(kRows, Flush::right), "GPU      name  last\n  0  Tesla T4  x\n");
}

TEST(Columns, HoldARowInALineWhateverItsCells) {
  EXPECT_EQ(columns({{"a\nb", "x"}, {"abc", "\x1b[2J"}}), "a\\nb  x\nabc   \\x1b[2J\n");
}

TEST(Columns, AlignsWideCharacters) {
  EXPECT_EQ(columns({{"訓練", "a", "x"}, {"abc", "é", "y"}}), "訓練  a  x\nabc   é  y\n");
  EXPECT_EQ(columns({{"訓練", "x"}, {"abc", "y"}}, Flush::right), "訓練  x\n abc  y\n");
}

}  // namespace
}  // namespace lockstep
