// What people are told who type the names of other programs.
#include "cli/foreign_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/error_of.h"
#include "plan/direct_recipe.h"
#include "plan/recipe_info.h"

namespace lockstep::cli {
namespace {

using ::testing::HasSubstr;

struct NamedOptions : RecipeOptions {
  NamedOptions() {
    table.add("data.things", things, {.meaning = "how many things"});
    table.add_synonyms(
        {{.names = {"num_things"}, .from = "scripts", .ours = "data.things={value}"}});
  }
  std::int64_t things = 3;
};

struct NamedDirect : DirectOptions {
  NamedDirect() {
    table.add("learning_rate", rate, {.meaning = "what each tree counts"});
    table.add_synonyms({{.names = {"eta"}, .from = "LightGBM", .ours = "learning_rate={value}"}});
  }
  DirectResult train(const DirectContext&) const override { return {}; }
  double rate = 0.1;
};

class ForeignNames : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    register_recipe({.name = "named", .summary = "for tests", .make_options = [] {
                       return std::make_unique<NamedOptions>();
                     }});
    register_direct_recipe({.name = "named-direct", .summary = "for tests", .make_options = [] {
                              return std::make_unique<NamedDirect>();
                            }});
  }

  static Command planner() {
    return {.name = "plan",
            .operands = "RECIPE",
            .flags = {{"--devices", "LIST", "which"}, {"--json", "", "as JSON"}},
            .min_positionals = 1,
            .max_positionals = 1,
            .takes_assignments = true};
  }
  static std::string refusal(const std::vector<std::string>& words) {
    return error_of([&] { parse(planner(), words); });
  }
  static std::string key_refusal(const std::string& recipe, std::vector<std::string> words,
                                 std::size_t devices) {
    const std::string& word = words.back();
    const auto error = explain_keys(recipe, words, devices)(word.substr(0, word.find('=')),
                                                            word.substr(word.find('=') + 1));
    return error ? std::string(error->what()) + " | " + error->hint() : "nothing";
  }
};

TEST_F(ForeignNames, AFlagIsTranslatedWithItsValue) {
  for (const std::vector<std::string>& flag :
       {std::vector<std::string>{"--batch_size", "16"}, {"--batch-size=16"}, {"BATCH_SIZE=16"}}) {
    std::vector<std::string> words{"named", "--devices", "2xT4"};
    words.insert(words.end(), flag.begin(), flag.end());
    EXPECT_THAT(refusal(words), HasSubstr("| write batch.global=32 batch.micro=16: batch.global "
                                          "is of 2 devices together"))
        << flag[0];
  }
  EXPECT_THAT(refusal({"--fp16", "named"}), HasSubstr("plan has no flag --fp16 | write "
                                                      "precision=fp16"));
  EXPECT_THAT(refusal({"named", "--device", "cuda:1"}), HasSubstr("| write --devices 1 ("));
}

TEST_F(ForeignNames, OneMessageTranslatesTheWholeLine) {
  EXPECT_THAT(refusal({"named", "--batch_size", "16", "--gradient_accumulation_steps=4", "lr=5e-4",
                       "--devices=2xT4", "--json", "stop.steps=3", "--seed", "7"}),
              HasSubstr("| write batch.global=128 batch.micro=16 batch.accumulation=4 "
                        "optimizer.lr=5e-4 seed=7: batch.global"));
  EXPECT_EQ(key_refusal("named", {"epochs=3", "num_things=4"}, 2),
            "num_things is not an option; it is a name of scripts | write stop.epochs=3 "
            "data.things=4");
}

TEST_F(ForeignNames, ARecipesOwnNamesComeFirst) {
  EXPECT_THAT(key_refusal("named", {"learning_rate=0.1"}, 0),
              HasSubstr("| write optimizer.lr=0.1"));
  EXPECT_THAT(key_refusal("named-direct", {"eta=0.1"}, 0), HasSubstr("| write learning_rate=0.1"));
  EXPECT_THAT(key_refusal("named-direct", {"seed=1"}, 0),
              HasSubstr("seed is an option of the engine, without which named-direct trains"));
  EXPECT_EQ(key_refusal("named-direct", {"batch_size=1"}, 0), "nothing");
  EXPECT_THAT(key_refusal("named-direct", {"data.things=1"}, 0),
              HasSubstr("data.things is an option of the recipe named, not of named-direct"));
}

TEST_F(ForeignNames, ACommandWithFewOptionsIsToldNothing) {
  Command few = planner();
  few.only_options = {"run.root"};
  EXPECT_EQ(hint_for_word(few, {"--batch_size", "3"}, "--batch_size"), "");
}

}  // namespace
}  // namespace lockstep::cli
