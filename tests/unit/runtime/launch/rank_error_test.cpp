#include "runtime/launch/ranks/rank_error.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

TEST(RankErrorTest, ComesBackAsItWasSent) {
  const auto error = rank_error(to_json({.what = "no\nsuch",
                                         .hint = "look",
                                         .frames = "#0",
                                         .is_users = true,
                                         .out_of_memory = true}));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->what, "no\nsuch");
  EXPECT_EQ(error->hint, "look");
  EXPECT_EQ(error->frames, "#0");
  EXPECT_TRUE(error->is_users);
  EXPECT_TRUE(error->out_of_memory);
}

TEST(RankErrorTest, FitsIntoAPipe) {
  const nlohmann::json event =
      to_json({.what = std::string(1 << 20, 'x'), .frames = std::string(1 << 20, 'y')});
  EXPECT_LT(event.dump().size(), std::size_t{1} << 16);
}

TEST(RankErrorTest, IsNothingOfOtherEventsAndNeverThrows) {
  EXPECT_FALSE(rank_error({{"kind", "step"}, {"what", "x"}}));
  EXPECT_FALSE(rank_error(nlohmann::json::object()));
  const auto error = rank_error({{"kind", "error"}, {"what", 3}, {"is_users", "yes"}});
  ASSERT_TRUE(error);
  EXPECT_EQ(error->what, "");
  EXPECT_FALSE(error->is_users);
}

}  // namespace
}  // namespace lockstep
