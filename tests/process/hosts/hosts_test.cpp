// Ranks on several hosts, as torchrun starts them: they train as on one machine, and end in time
// when a host vanishes, a process is killed or stopped, or a host never comes.
#include "checkout_paths.h"
#include "core/base/clock.h"
#include "fakes/tenths.h"
#include "fakes/tool.h"
#include "network.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "runtime/run/events/events.h"
#include "runtime/run/events/samples.h"
#include "runtime/run/folder/run_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <thread>

namespace lockstep {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using testing::Network;
using testing::ToolProcess;
using testing::ToolResult;
using Words = std::vector<std::string>;

constexpr int per_host = 2;
const Words names{"ash", "birch"};

class Hosts : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      network.emplace(names);
    } catch (const std::exception& error) {
      GTEST_SKIP() << error.what();
    }
    testing::write_corpus(shared.path() / "corpus.txt", 9000);
  }
  void TearDown() override {
    for (const auto& rank : ranks) kill(rank->pid(), SIGKILL);
  }

  Words options(const std::string& name, const Words& more) const {
    Words words =
        recipe_options.empty() ? testing::tiny(shared.path() / "corpus.txt") : recipe_options;
    words.insert(words.end(),
                 {"run.root=" + (shared.path() / "runs").string(), "run.record_samples=true",
                  "schedule.kind=constant", "checkpoint.every_steps=50", "--name", name});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  // All ranks, or those of one host alone.
  void start(const std::string& name, const Words& more, int only_host = -1,
             const std::map<std::string, std::string>& environment = {}) {
    for (int rank = 0; rank < 2 * per_host; ++rank) {
      const int host = rank / per_host;
      const auto folder = shared.path() / cat(name, "-rank", rank);
      std::filesystem::create_directory(folder);
      if (only_host >= 0 && host != only_host) continue;
      Words words{testing::program("lockstep-worker"), "train"};
      words.insert(words.end(), recipe.begin(), recipe.end());
      Words rest = options(name, more);
      rest.insert(rest.end(), {"--devices", "cpu"});
      words.insert(words.end(), rest.begin(), rest.end());
      std::map<std::string, std::string> variables{{"RANK", std::to_string(rank)},
                                                   {"LOCAL_RANK", std::to_string(rank % per_host)},
                                                   {"WORLD_SIZE", std::to_string(2 * per_host)},
                                                   {"LOCAL_WORLD_SIZE", std::to_string(per_host)},
                                                   {"MASTER_ADDR", Network::address(0)},
                                                   {"MASTER_PORT", "29500"}};
      variables.insert(environment.begin(), environment.end());
      ranks.push_back(std::make_unique<ToolProcess>(
          network->on(static_cast<std::size_t>(host), words), folder, variables));
    }
  }
  std::filesystem::path run(const std::string& name) const { return shared.path() / "runs" / name; }
  // Until a checkpoint of the run is there.
  bool trains(const std::string& name) {
    for (int i = 0; i < 600; ++i) {
      if (std::filesystem::exists(run(name) / "checkpoints") &&
          !list_checkpoints(run(name) / "checkpoints", false).empty())
        return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }
  // How all ranks ended; who has not after `at_most_s` is killed.
  std::vector<ToolResult> ends(double at_most_s) {
    const double begin_s = system_clock().now_s();
    std::jthread watchdog([&](const std::stop_token& stop) {
      while (!stop.stop_requested() && system_clock().now_s() - begin_s < at_most_s)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (stop.stop_requested()) return;
      for (const auto& rank : ranks) kill(rank->pid(), SIGKILL);
    });
    std::vector<ToolResult> results;
    for (const auto& rank : ranks) results.push_back(rank->wait());
    ranks.clear();
    ended_s = system_clock().now_s() - begin_s;
    std::printf("all ranks had ended after %.1f s\n", ended_s);
    return results;
  }
  // The run goes on on one host to a step further on, and its samples are those of a run without a
  // break.
  void goes_on(const std::string& name) {
    const std::string steps = cat("stop.steps=", effective_samples(run(name)).size() + 20);
    const ToolResult resumed = testing::run_tool(
        {"resume", run(name).string(), "--devices", "cpu:3", steps}, shared.path());
    ASSERT_EQ(resumed.code, 0) << resumed.err;
    Words whole{"train", "textgen", "--devices", "cpu:2"};
    const Words rest = options("whole", {steps});
    whole.insert(whole.end(), rest.begin(), rest.end());
    const ToolResult uninterrupted = testing::run_tool(whole, shared.path());
    ASSERT_EQ(uninterrupted.code, 0) << uninterrupted.err;
    EXPECT_EQ(effective_samples(run(name)), effective_samples(run("whole")));
  }

  Words recipe{"textgen"}, recipe_options;
  TemporaryDirectory shared;  // by all hosts
  std::optional<Network> network;
  std::vector<std::unique_ptr<ToolProcess>> ranks;
  double ended_s = 0;
};

std::vector<double> losses(const std::filesystem::path& run) {
  std::vector<double> all;
  for (const nlohmann::json& event : read_events(run / "events.jsonl"))
    if (event.at("kind") == "step") all.push_back(event.at("loss"));
  return all;
}

TEST_F(Hosts, TrainAsOneMachineDoes) {
  start("two", {"stop.steps=120"});
  for (const ToolResult& result : ends(90)) EXPECT_EQ(result.code, 0) << result.err;
  Words words{"train", "textgen", "--devices", "cpu:4"};
  const Words rest = options("one", {"stop.steps=120"});
  words.insert(words.end(), rest.begin(), rest.end());
  ASSERT_EQ(testing::run_tool(words, shared.path()).code, 0);
  const std::vector<double> two = losses(run("two")), one = losses(run("one"));
  ASSERT_FALSE(one.empty());
  ASSERT_EQ(two.size(), one.size());
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(two[i], one[i], 1e-5 * one[i]);
  EXPECT_EQ(effective_samples(run("two")), effective_samples(run("one")));
  EXPECT_EQ(effective_samples(run("two")).size(), 120U);
  EXPECT_EQ(RunDir::open(run("two").string(), "").state(), RunState::finished);
}

using Cut = void (Network::*)(std::size_t host) const;

class HostVanishes : public Hosts,
                     public ::testing::WithParamInterface<std::pair<const char*, Cut>> {};

TEST_P(HostVanishes, AllRanksEndInTheTimeStatedAndTheRunGoesOn) {
  if (GetParam().first == std::string("WithItsLink") && !testing::has_turn_twice(0))
    GTEST_SKIP() << testing::in_another_tenth;
  start("cut", {"stop.steps=1000000", "stop.hang_after=6s"});
  ASSERT_TRUE(trains("cut"));
  ((*network).*GetParam().second)(1);
  const std::vector<ToolResult> results = ends(40);
  EXPECT_LT(ended_s, 6 + 6);  // two seconds of rank 0 for the others, and a slow machine
  for (const ToolResult& result : results) EXPECT_EQ(result.code, 1) << result.err;
  for (const int rank : {0, 1})
    EXPECT_THAT(results[static_cast<std::size_t>(rank)].err,
                HasSubstr("error: ranks 2, 3 on birch do not answer: no word of them for "));
  for (const int rank : {2, 3})
    EXPECT_THAT(results[static_cast<std::size_t>(rank)].err,
                HasSubstr("error: rank 0 on ash does not answer: no word from 10.77.0.1:29500, "
                          "where it serves the store, for "));
  // Or it did, until rank 1 had ended.
  EXPECT_THAT(results[0].err,
              AnyOf(HasSubstr("; rank 0 waits in "), HasSubstr("; on rank 0 all-reduce "),
                    HasSubstr("; on rank 0 broadcast ")));
  EXPECT_THAT(results[0].err, HasSubstr("--resume auto"));
  EXPECT_EQ(RunDir::open(run("cut").string(), "").state(), RunState::failed);
  goes_on("cut");
}

INSTANTIATE_TEST_SUITE_P(Ways, HostVanishes,
                         ::testing::Values(std::pair("Silently", &Network::unplug),
                                           std::pair("WithItsLink", &Network::link_down)),
                         [](const auto& way) { return std::string(way.param.first); });

// Else one that writes to a rank that was killed would end without a word, and might be taken for
// the cause.
TEST_F(Hosts, RanksDoNotEndByWritingToOneThatIsGone) {
  start("pipes", {"stop.steps=1000000"});
  ASSERT_TRUE(trains("pipes"));
  for (const std::unique_ptr<ToolProcess>& rank : ranks) {
    const std::string status = read_file(cat("/proc/", rank->pid(), "/status"));
    const std::size_t at = status.find("SigIgn:");
    ASSERT_NE(at, std::string::npos);
    EXPECT_TRUE(std::stoull(status.substr(at + 7), nullptr, 16) >> (SIGPIPE - 1) & 1) << status;
  }
  for (const std::unique_ptr<ToolProcess>& rank : ranks) kill(rank->pid(), SIGKILL);
  ends(10);
}

class RankOfAHost : public Hosts, public ::testing::WithParamInterface<int> {};

TEST_P(RankOfAHost, ThatIsKilledEndsAllInSecondsAndIsNamed) {
  const int victim = GetParam();
  if (victim > 0 && !testing::has_turn_twice(4)) GTEST_SKIP() << testing::in_another_tenth;
  start("killed", {"stop.steps=1000000"});
  ASSERT_TRUE(trains("killed"));
  kill(ranks[static_cast<std::size_t>(victim)]->pid(), SIGKILL);
  const std::vector<ToolResult> results = ends(40);
  EXPECT_LT(ended_s, 12);
  const std::string named = cat("error: rank ", victim, " on ",
                                names[static_cast<std::size_t>(victim / per_host)], " has ended");
  for (int rank = 0; rank < 2 * per_host; ++rank) {
    const ToolResult& result = results[static_cast<std::size_t>(rank)];
    if (rank == victim) continue;
    EXPECT_EQ(result.code, 1);
    EXPECT_THAT(result.err, HasSubstr(named)) << "rank " << rank;
  }
  goes_on("killed");
}

INSTANTIATE_TEST_SUITE_P(Ranks, RankOfAHost, ::testing::Values(0, 3));

TEST_F(Hosts, ARankThatIsStoppedBySignalIsNamed) {
  start("stopped", {"stop.steps=1000000", "stop.hang_after=6s"});
  ASSERT_TRUE(trains("stopped"));
  const pid_t stopped = ranks[2]->pid();
  kill(stopped, SIGSTOP);
  std::unique_ptr<ToolProcess> victim = std::move(ranks[2]);
  ranks.erase(ranks.begin() + 2);
  for (const ToolResult& result : ends(40)) {
    EXPECT_EQ(result.code, 1);
    EXPECT_THAT(result.err,
                HasSubstr("error: rank 2 on birch does not answer: no word of it for "));
  }
  EXPECT_LT(ended_s, 6 + 6);
  kill(stopped, SIGKILL);
  victim->wait();
}

TEST_F(Hosts, AHostThatNeverComesIsMissedByItsRanks) {
  start("alone", {}, 0, {{"LOCKSTEP_MEET_TIMEOUT", "3s"}});
  for (const ToolResult& result : ends(40)) {
    EXPECT_EQ(result.code, 2);
    EXPECT_THAT(result.err, AnyOf(HasSubstr("error: not all ranks came to 10.77.0.1:29500 within "
                                            "3s: missing are 2 of 4 ranks: 2, 3"),
                                  HasSubstr("could not meet the other ranks")));
  }
  EXPECT_LT(ended_s, 15);
}

// A model that fails, on rank 3 in step 8.
class RankFails : public Hosts,
                  public ::testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(RankFails, TheOthersSayWhyAndEnd) {
  const auto [fault, how] = GetParam();
  if (fault == std::string("loop") && !testing::has_turn_twice(1))
    GTEST_SKIP() << testing::in_another_tenth;
  recipe = {"faulty", "--plugin", std::string(LOCKSTEP_BUILD_DIR) + "/tests/libfaulty-plugin.so"};
  recipe_options = {"batch.global=48", "data.threads=1"};
  start("faulty", {"stop.steps=12", "stop.hang_after=8s"}, -1,
        {{"LOCKSTEP_TEST_FAULTS", std::string(fault) + " 7 3"}});
  const std::vector<ToolResult> results = ends(120);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(results[rank].code, 1) << results[rank].err;
    EXPECT_THAT(results[rank].err, HasSubstr(std::string("error: rank 3 on birch ") + how));
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, RankFails,
                         ::testing::Values(std::pair("throw", "failed: "),
                                           std::pair("loop", "hangs: no sign of life for ")),
                         [](const auto& way) { return std::string(way.param.first); });

}  // namespace
}  // namespace lockstep
