// Patterns over names.
#include "core/base/text/glob.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

TEST(Glob, StarsStandForAnyCharactersDotsToo) {
  EXPECT_TRUE(glob_matches("trunk.*", "trunk.0.weight"));
  EXPECT_TRUE(glob_matches("*.bias", "trunk.0.bias"));
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("a*b*c", "aXbbYc"));
  EXPECT_TRUE(glob_matches("layer?.w", "layer1.w"));
  EXPECT_FALSE(glob_matches("trunk.*", "trunk"));
  EXPECT_FALSE(glob_matches("a*b", "abc"));
  EXPECT_FALSE(glob_matches("", "a"));
  EXPECT_FALSE(glob_matches("layer?.w", "layer12.w"));
}

TEST(Glob, CapturesWhatEachStarStandsFor) {
  EXPECT_THAT(glob_captures("a.*.b.*", "a.1.b.2.b.3"), Optional(ElementsAre("1", "2.b.3")));
  EXPECT_THAT(glob_captures("*ab*ab", "ababab"), Optional(ElementsAre("", "ab")));
  EXPECT_THAT(glob_captures("*.weight", "x.weight.weight"), Optional(ElementsAre("x.weight")));
  EXPECT_EQ(glob_captures("a*", "b"), std::nullopt);
}

TEST(Glob, RenamesByAPairOfPatterns) {
  EXPECT_EQ(glob_renamed("bert.*", "encoder.*", "bert.layer.0.w"), "encoder.layer.0.w");
  EXPECT_EQ(glob_renamed("bert.*", "*", "bert.layer"), "layer");
  EXPECT_EQ(glob_renamed("*.gamma", "*.weight", "ln.gamma"), "ln.weight");
  EXPECT_EQ(glob_renamed("h.*.attn.*", "blocks.*.att.*", "h.3.attn.w"), "blocks.3.att.w");
  EXPECT_EQ(glob_renamed("bert.*", "encoder.*", "gpt.w"), std::nullopt);
}

TEST(Glob, AHintNamesWhatCouldHaveBeenMeant) {
  const std::vector<std::string> names{"trunk.0.weight", "trunk.0.bias", "head.weight"};
  EXPECT_EQ(hint_for_pattern("trnk.*", names), "did you mean trunk.*?");
  EXPECT_EQ(hint_for_pattern("haed.weight", names), "did you mean head.weight?");
  EXPECT_EQ(hint_for_pattern("completely.other.*", names), "the names are: head.*, trunk.*");
}

}  // namespace
}  // namespace lockstep
