// Each line that a hint prints for a name of another program is accepted where it is printed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/base/text/text.h"
#include "fakes/tenths.h"
#include "fakes/tool.h"

namespace lockstep {
namespace {

using testing::has_turn;
using ::testing::HasSubstr;
using testing::run_tool;
using testing::ToolResult;
using Words = std::vector<std::string>;

// Those of docs/reference/names.md: for each recipe, and for "engine".
std::map<std::string, Words> names_of_others() {
  std::map<std::string, Words> names;
  std::string part;
  for (const std::string& line :
       split(read_file(std::string(LOCKSTEP_SOURCE_DIR) + "/docs/reference/names.md"), '\n')) {
    if (line.starts_with("## Of ")) {
      const std::size_t begin = line.find('`') + 1;
      part = begin == 0 ? "engine" : line.substr(begin, line.rfind('`') - begin);
    }
    if (part.empty() || !line.starts_with("| `")) continue;
    for (std::string name : split(line.substr(2, line.find(" | ") - 2), ',')) {
      std::erase(name, '`');
      names[part].push_back(trim(name));
    }
  }
  return names;
}

// The words behind "hint: write"; none where the hint has no such line or a place for a value.
Words printed_line(const std::string& err) {
  constexpr std::string_view begin = "hint: write ";
  const std::size_t at = err.find(begin);
  if (at == err.npos) return {};
  std::string line = err.substr(at + begin.size());
  for (const char* end : {"\n", ": ", "; ", " ("}) line = line.substr(0, line.find(end));
  for (const char* place : {"VALUE", "PATH", "DIR", "LIST", "FACTOR", "'"})
    if (line.find(place) != line.npos) return {};
  return split(line, ' ');
}

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

class Hints : public ::testing::Test {
 protected:
  // Types the names into the command, and then the hint's line in their place. Returns whether
  // there was one.
  bool takes_its_hint(const Words& command, const Words& names, const Words& more = {},
                      const std::string& end = "") const {
    const ToolResult first = run_tool(joined(joined(command, names), more), folder.path());
    const Words line = printed_line(first.err);
    if (line.empty()) return false;
    const ToolResult typed = run_tool(joined(joined(command, line), more), folder.path());
    const std::string what = cat(join(joined(command, names), " "), "\n", first.err, typed.err);
    if (end.empty())
      EXPECT_EQ(typed.code, 0) << what;
    else
      EXPECT_THAT(typed.err, HasSubstr(end)) << what;
    return true;
  }

  TemporaryDirectory folder;
  const std::map<std::string, Words> names = names_of_others();
};

TEST_F(Hints, AreAcceptedByConfigInEveryRecipe) {
  std::size_t number = 0;
  int typed = 0;
  for (const std::string recipe : {"textgen", "fewshot", "volume", "dimabsa", "gbdt"}) {
    const Words engine = recipe == "gbdt" ? Words{} : names.at("engine");
    for (const std::string& name : joined(names.at(recipe), engine)) {
      if (!has_turn(number++)) continue;
      for (const char* value : {"2", "True"})
        typed += takes_its_hint({"config", recipe}, {cat(name, "=", value)}) ? 1 : 0;
    }
  }
  EXPECT_GT(typed, 40);
}

TEST_F(Hints, OfValuesThatAreWordsAreAcceptedByConfig) {
  const std::map<std::string, std::vector<Words>> lines{
      {"textgen",
       {{"--epochs", "3"},
        {"--optim", "adamw_torch", "--lr_scheduler_type", "cosine"},
        {"--mixed_precision", "bf16", "--gpus", "2"},
        {"checkpoint_every=1000", "batch.size=4"}}},
      {"fewshot", {{"--backbone", "resnet50"}, {"--gpu", "False"}}},
      {"volume", {{"--roi_size", "32,32,32"}, {"--fold", "1", "--num_folds", "3"}}},
      {"dimabsa", {{"--domain", "res", "--language", "eng"}, {"--max_steps", "5"}}},
      {"gbdt", {{"--start_date", "2022-01-31"}, {"--app", "regression"}, {"eval_metric=auc"}}}};
  for (const auto& [recipe, all] : lines)
    for (const Words& line : all)
      EXPECT_TRUE(takes_its_hint({"config", recipe}, line)) << join(line, " ");
}

// The plan also knows which micro-batches a model can have.
TEST_F(Hints, OfBatchesAreAcceptedByThePlan) {
  const std::vector<Words> lines{{"batch_size=4"},
                                 {"batch_size=4", "grad_accum=2"},
                                 {"effective_batch_size=16", "grad_accum=4"}};
  for (const char* recipe : {"textgen", "fewshot", "volume", "dimabsa"})
    for (const Words& line : lines)
      EXPECT_TRUE(takes_its_hint({"plan", recipe, "--devices", "cpu:2"}, line))
          << recipe << " " << join(line, " ");
}

// Where the options are accepted, the devices that are none are refused.
TEST_F(Hints, AreAcceptedByCommandsThatReadARun) {
  testing::write_corpus(folder.path() / "corpus.txt", 9000);
  const std::map<std::string, Words> recipes{
      {"textgen", joined(testing::tiny(folder.path() / "corpus.txt"), {"stop.steps=1"})},
      {"fewshot", {"stop.episodes=2", "episode.size=64", "evaluate.episodes=1"}}};
  const Words devices{"--devices", "nonsense"};
  const char* const refused = "--devices must be";
  std::size_t number = 0;
  for (const auto& [recipe, options] : recipes) {
    const ToolResult trained = run_tool(
        joined({"train", recipe, "--name", recipe, "--devices", "cpu:1"}, options), folder.path());
    ASSERT_EQ(trained.code, 0) << trained.err;
    for (const char* command : {"evaluate", "predict"})
      for (const std::string& name : joined(names.at(recipe), names.at("engine")))
        if (has_turn(number++))
          takes_its_hint({command, recipe}, {cat(name, "=2")}, devices, refused);
  }
  for (const Words& line : std::vector<Words>{{"max_length=20"},
                                              {"--max_length", "20"},
                                              {"num_return_sequences=2"},
                                              {"do_sample=False"}})
    EXPECT_TRUE(takes_its_hint({"predict", "textgen"}, line, devices, refused)) << line[0];
  const auto hint = [&](const char* word) {
    return run_tool({"evaluate", "textgen", word}, folder.path()).err;
  };
  EXPECT_THAT(hint("root=x"), HasSubstr("hint: did you mean run.root?"));
  EXPECT_THAT(hint("path=x"), HasSubstr("hint: did you mean data.path or tokenizer.path?"));
  EXPECT_THAT(hint("width=8"),
              HasSubstr("hint: leave it out: model.width is a setting of training"));
}

}  // namespace
}  // namespace lockstep
