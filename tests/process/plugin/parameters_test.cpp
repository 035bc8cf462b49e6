// Frozen parts, groups, weights of other runs and patience, on several numbers of ranks, by the
// tool.
#include "checkout_paths.h"
#include "fakes/events_of.h"
#include "fakes/tenths.h"
#include "fakes/tool.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "runtime/run/formats/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using testing::events_of;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::run_tool;
using testing::ToolResult;

class Parameters : public ::testing::Test {
 protected:
  ToolResult run(std::vector<std::string> words, const std::vector<std::string>& more = {}) const {
    words.insert(words.end(), more.begin(), more.end());
    return run_tool(words, folder_.path());
  }
  ToolResult train(const std::string& name, int ranks, const std::vector<std::string>& more) const {
    const std::string plugin = std::string(LOCKSTEP_BUILD_DIR) + "/tests/libtoy-plugin.so";
    return run({"train", "toy", "--plugin", plugin, "--devices", "cpu:" + std::to_string(ranks),
                "--name", name},
               more);
  }
  fs::path dir(const std::string& run) const { return folder_.path() / "runs" / run; }
  fs::path newest(const std::string& run) const {
    const auto found = newest_good(dir(run) / "checkpoints");
    return found ? found->path : fs::path();
  }
  // Bytes of each tensor of the newest checkpoint.
  std::map<std::string, std::string> weights(const std::string& run) const {
    const fs::path file = newest(run) / "model.safetensors";
    const SafetensorsHeader header = read_header(file);
    const std::string text = read_file(file);
    std::map<std::string, std::string> tensors;
    for (const TensorEntry& entry : header.tensors)
      tensors[entry.name] = text.substr(header.data_start + entry.begin, entry.end - entry.begin);
    return tensors;
  }
  TemporaryDirectory folder_;
};

const std::vector<std::string> exact{"exact=true", "batch.micro=4", "train.freeze=first.*",
                                     "optimizer.groups=second.*: lr=0.05 weight_decay=0"};

TEST_F(Parameters, FrozenPartsAndGroupsAreStatedAndGoOn) {
  auto first = exact;
  first.emplace_back("stop.steps=3");
  const ToolResult begun = train("parts", 3, first);
  ASSERT_EQ(begun.code, 0) << begun.err;
  EXPECT_THAT(begun.err, HasSubstr("58 trained, 96 frozen; second.* (48): lr 0.05"));
  const auto events = events_of(dir("parts") / "events.jsonl", "parameters");
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].at("trained"), 58);
  EXPECT_EQ(events[0].at("frozen"), 96);
  EXPECT_EQ(events[0].at("groups").at(0).at("parameters"), 48);
  const ToolResult resumed =
      run({"resume", "parts", "--devices", "cpu:1", "stop.steps=6", "schedule.kind=constant"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
}

TEST_F(Parameters, FrozenPartsAndGroupsAreTheSameOnAnyNumberOfRanks) {
  if (!testing::has_turn_twice(2)) GTEST_SKIP() << testing::in_another_tenth;
  auto options = exact;
  options.emplace_back("schedule.kind=constant");
  options.emplace_back("stop.steps=3");
  ASSERT_EQ(train("one", 1, options).code, 0);
  ASSERT_EQ(train("three", 3, options).code, 0);
  EXPECT_EQ(weights("one"), weights("three"));
  ASSERT_EQ(run({"resume", "three", "--devices", "cpu:1", "stop.steps=6"}).code, 0);
  ASSERT_EQ(run({"resume", "one", "--devices", "cpu:3", "stop.steps=6"}).code, 0);
  EXPECT_EQ(weights("one"), weights("three"));
  options = {"train.freeze=*,!first.*", "stop.steps=1", "optimizer.lr=0"};
  ASSERT_EQ(train("start", 1, options).code, 0);
  EXPECT_EQ(weights("one").at("first.weight"), weights("start").at("first.weight"));
  EXPECT_NE(weights("one").at("second.weight"), weights("start").at("second.weight"));
  const ToolResult other = run({"resume", "one", "train.freeze=rare", "stop.steps=7"});
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err, HasSubstr("train.freeze cannot change when a run goes on"));
  EXPECT_EQ(run({"evaluate", "one", "--devices", "cpu:1"}).code, 0);
}

TEST_F(Parameters, PatternsAreCheckedBeforeThereIsARun) {
  const ToolResult freeze = train("a", 1, {"train.freeze=frist.*", "stop.steps=1"});
  EXPECT_EQ(freeze.code, 2);
  EXPECT_THAT(freeze.err, HasSubstr("did you mean first.*?"));
  const ToolResult group = train("a", 1, {"optimizer.groups=hed.*: lr=1", "stop.steps=1"});
  EXPECT_EQ(group.code, 2);
  EXPECT_THAT(group.err, HasSubstr("no parameter of the model matches \"hed.*\""));
  EXPECT_FALSE(fs::exists(dir("a")));
}

TEST_F(Parameters, ANewRunBeginsWithTheWeightsOfAnother) {
  if (!testing::has_turn_twice(1)) GTEST_SKIP() << testing::in_another_tenth;
  ASSERT_EQ(train("old", 1, {"stop.steps=4"}).code, 0);
  const auto old = weights("old");
  const std::vector<std::string> still{"optimizer.lr=0", "stop.steps=1", "data.samples=37",
                                       "seed=7"};
  for (const std::string& from :
       std::vector<std::string>{"old", dir("old").string(), newest("old").string(),
                                (newest("old") / "model.safetensors").string()})
    for (const int ranks : from == "old" ? std::vector<int>{1, 3} : std::vector<int>{3}) {
      SCOPED_TRACE(from);
      fs::remove_all(dir("new"));
      auto options = still;
      options.push_back("init.from=" + from);
      const ToolResult result = train("new", ranks, options);
      ASSERT_EQ(result.code, 0) << result.err;
      EXPECT_THAT(result.err, HasSubstr("first weights: 6 tensors of"));
      EXPECT_EQ(weights("new"), old);
      const auto record = nlohmann::json::parse(read_file(dir("new") / "run.json"));
      EXPECT_EQ(record.at("init").at("files").at(0).at("path").get<std::string>(),
                (newest("old") / "model.safetensors").string());
      EXPECT_EQ(record["init"]["files"][0].at("xxh3").get<std::string>().size(), 32U);
    }
  // It goes on, is evaluated and predicts without them.
  fs::remove_all(dir("old"));
  const ToolResult resumed = run({"resume", "new", "--devices", "cpu:1", "stop.steps=2"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(run({"evaluate", "new", "--devices", "cpu:1"}).code, 0);
}

TEST_F(Parameters, FirstWeightsAreCheckedBeforeThereIsARun) {
  const auto fault = [&](const std::string& from) {
    const ToolResult result = train("new", 3, {"stop.steps=1", "init.from=" + from});
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_FALSE(fs::exists(dir("new")));
    return result.err;
  };
  const std::string files =
      std::string(LOCKSTEP_SOURCE_DIR) + "/tests/unit/training/checkpoint/torch_files";
  EXPECT_THAT(
      fault("nothing-of-that-name"),
      HasSubstr("there is no file or folder nothing-of-that-name, and no run of that name"));
  EXPECT_THAT(fault(files + "/zip.pt"), HasSubstr("6 of the model's 6 tensors are missing"));
  EXPECT_THAT(fault(files + "/evil.pt"), HasSubstr("the Python object posix.system"));
}

TEST_F(Parameters, ARunEndsEarlyWhenPatienceIsOverAndGoesOnWithMore) {
  if (!testing::has_turn_twice(2)) GTEST_SKIP() << testing::in_another_tenth;
  const ToolResult result = train(
      "a", 3,
      {"stop.steps=50", "eval.every_epochs=0.5", "stop.patience=3", "checkpoint.every_epochs=1"});
  ASSERT_EQ(result.code, 0) << result.err;
  // 50 samples in batches of 12: an epoch has 5 steps, and evaluations come at 3, 5, 8 and 10.
  EXPECT_THAT(result.err, HasSubstr("finished early at step 10"));
  EXPECT_THAT(result.err, HasSubstr("no better purpose in 3 evaluations since step 3"));
  const auto ends = events_of(dir("a") / "events.jsonl", "end");
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(ends[0].at("early"), "no better purpose in 3 evaluations since step 3");
  const auto state = nlohmann::json::parse(read_file(dir("a") / "state.json"));
  EXPECT_EQ(state.at("state"), "finished");
  EXPECT_THAT(state.at("why").get<std::string>(), HasSubstr("no better purpose"));
  const ToolResult again = run({"resume", "a", "--devices", "cpu:1"});
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.err, HasSubstr("finished early at step 10"));
  const ToolResult more = run({"resume", "a", "--devices", "cpu:1", "stop.patience=6"});
  EXPECT_EQ(more.code, 0);
  EXPECT_THAT(more.err, HasSubstr("finished early at step 18")) << more.err;
}

// The tool prepares its data and knows its formula; only the worker knows its parameters.
TEST_F(Parameters, OfARecipeOfTheToolAreCountedByTheWorker) {
  testing::write_corpus(folder_.path() / "corpus.txt", 20'000);
  auto words = testing::tiny(folder_.path() / "corpus.txt");
  words.insert(words.begin(), {"plan", "textgen", "--devices", "cpu:2", "--json", "stop.steps=3"});
  const auto plan = [&](const std::vector<std::string>& more) {
    const ToolResult result = run(words, more);
    EXPECT_EQ(result.code, 0) << result.err;
    return nlohmann::json::parse(result.out);
  };
  const auto whole = plan({"optimizer.groups=*: lr_factor=1"}),
             parts = plan({"train.freeze=blocks.*"});
  const auto count = [](const nlohmann::json& json, const char* key) {
    return json.at("parameters").at(key).get<std::int64_t>();
  };
  EXPECT_EQ(count(whole, "frozen"), 0);
  EXPECT_GT(count(parts, "frozen"), 0);
  EXPECT_EQ(count(parts, "trained") + count(parts, "frozen"), count(whole, "trained"));
  EXPECT_LT(parts.at("memory").at("fixed_bytes"), whole.at("memory").at("fixed_bytes"));
}

}  // namespace
}  // namespace lockstep
