#include "runtime/run/progress/part_times.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

TEST(PartTimesTest, TravelAsJsonAndNothingIsKnownOfAnythingElse) {
  const ExpectedTimes times{.parts = {.start_s = 4, .step_s = 0.5, .evaluation_s = 14, .save_s = 2},
                            .after = {.predicts = true, .items = 25, .reserve_is_guess = true}};
  EXPECT_EQ(to_json(expected_times_from_json(to_json(times))), to_json(times));
  EXPECT_EQ(to_json(expected_times_from_json(to_json(times))).at("items"), 25);
  for (const nlohmann::json& other :
       {nlohmann::json(), nlohmann::json("a"), nlohmann::json{{"step_s", "x"}, {"items", -1}}})
    EXPECT_EQ(to_json(expected_times_from_json(other)), to_json(ExpectedTimes{})) << other;
}

TEST(PartTimesTest, AnItemCostsAsMuchAsAValidationSample) {
  EXPECT_EQ(prediction_s(25, 10, 5, 1), 50);
  EXPECT_EQ(prediction_s(25, 10, 4, 2), 65) << "13 rounds of two, where the evaluation had 2";
  EXPECT_EQ(prediction_s(0, 10, 4, 2), 0);
  EXPECT_EQ(prediction_s(25, 10, 0, 2), 0) << "nothing was evaluated";
}

}  // namespace
}  // namespace lockstep
