// Options of evaluation may change where a run resumes, and the change is named.
#include "planning/options/evaluation_changes.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

TEST(EvaluationChanges, NameEachOptionWithBothValues) {
  OptionTable recipe;
  std::int64_t episodes = 20, k_shot = 3;
  std::vector<std::string> shots;
  recipe.add("evaluate.episodes", episodes, {.meaning = "for a test"});
  recipe.add("evaluate.shots", shots, {.meaning = "for a test"});
  recipe.add("episode.k_shot", k_shot, {.meaning = "for a test"});
  const nlohmann::json before = recipe.to_json();
  EXPECT_EQ(evaluation_changes(recipe, before), "");
  recipe.set("evaluate.episodes", "5");
  recipe.set("evaluate.shots", "1,5");
  recipe.set("episode.k_shot", "2");
  EXPECT_EQ(evaluation_changes(recipe, before),
            "evaluate.episodes=5 (before: 20), evaluate.shots=1,5 (before: not set)");
  EXPECT_EQ(evaluation_changes(recipe, nlohmann::json::object()), "") << "of an older version";
}

}  // namespace
}  // namespace lockstep
