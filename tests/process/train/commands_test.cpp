// The other commands on a real run.
#include "core/base/text/text.h"
#include "fakes/tenths.h"
#include "fakes/tool.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "runtime/run/checkpoint/checkpoint_names.h"
#include "runtime/run/checkpoint/manifest.h"
#include "runtime/run/events/events.h"
#include "runtime/run/folder/run_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

namespace lockstep {
namespace {

using testing::on_one_line;
using testing::run_tool;
using testing::ToolResult;

class Commands : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new TemporaryDirectory;
    testing::write_corpus(folder->path() / "corpus.txt", 9000);
    std::vector<std::string> words{"train",
                                   "textgen",
                                   "--devices",
                                   "cpu:2",
                                   "--name",
                                   "a",
                                   "stop.steps=40",
                                   "eval.every_steps=20",
                                   "checkpoint.every_steps=15"};
    for (const std::string& option : testing::tiny(folder->path() / "corpus.txt"))
      words.push_back(option);
    const ToolResult result = run_tool(words, folder->path());
    ASSERT_EQ(result.code, 0) << result.err;
  }
  static void TearDownTestSuite() { delete folder; }
  static ToolResult tool(std::vector<std::string> words) {
    return run_tool(std::move(words), folder->path());
  }
  static std::filesystem::path run() { return folder->path() / "runs" / "a"; }

  static TemporaryDirectory* folder;
};
TemporaryDirectory* Commands::folder = nullptr;

TEST_F(Commands, EvaluateIsTheSameOnAnyNumberOfRanks) {
  std::vector<double> bits;
  for (const char* devices : {"cpu:1", "cpu:2", "cpu:3"}) {
    const ToolResult result = tool({"evaluate", "a", "--json", "--devices", devices});
    ASSERT_EQ(result.code, 0) << result.err;
    bits.push_back(nlohmann::json::parse(result.out).at("metrics").at("bits_per_byte"));
  }
  EXPECT_NEAR(bits[1], bits[0], 1e-9 * bits[0]);
  EXPECT_NEAR(bits[2], bits[0], 1e-9 * bits[0]);
}

TEST_F(Commands, PredictPrintsDataOnStandardOutputAndRepeatsItself) {
  const std::vector<std::string> words{"predict",        "a",         "the ", "predict.tokens=30",
                                       "predict.seed=3", "--devices", "cpu:1"};
  const ToolResult one = tool(words), two = tool(words);
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_NE(one.out.find("the "), std::string::npos);
  EXPECT_GE(one.out.size(), 30U);
  EXPECT_EQ(one.out, two.out);
}

// A full disk, and nobody would know that the text is not whole.
TEST_F(Commands, PredictFailsWhereItsOutputCannotBeWritten) {
  const std::string predict = testing::program_in_shell("lockstep") +
                              " predict a the predict.tokens=30 --devices cpu:1 > /dev/full";
  const ToolResult result = testing::ToolProcess({"/bin/sh", "-c", predict}, folder->path()).wait();
  EXPECT_EQ(result.code, 2) << result.err;
  EXPECT_NE(result.err.find("standard output: No space left on device"), std::string::npos)
      << result.err;
}

TEST_F(Commands, EveryReadingCommandFailsWhereItsOutputCannotBeWritten) {
  for (const char* words :
       {"runs", "runs --json", "runs a", "runs a --json", "config textgen", "config textgen --toml",
        "config textgen --json", "config textgen --markdown", "plan textgen data.path=corpus.txt",
        "plan textgen --json data.path=corpus.txt", "devices --json", "completion bash", "--help",
        "--version", "train --help", "evaluate a --devices cpu:1",
        "predict a --json predict.tokens=3 --devices cpu:1",
        "prepare textgen data.path=corpus.txt"}) {
    const std::string command =
        testing::program_in_shell("lockstep") + " " + words + " > /dev/full";
    const ToolResult result =
        testing::ToolProcess({"/bin/sh", "-c", command}, folder->path()).wait();
    EXPECT_NE(result.code, 0) << words;
    EXPECT_NE(result.err.find("No space left on device"), std::string::npos)
        << words << ": " << result.err;
  }
}

TEST_F(Commands, RunsDrawsTheCurveAndKeepsTheConfigurationForThoseWhoAsk) {
  const ToolResult page = tool({"runs", "a"});
  EXPECT_NE(page.out.find("* training   o validation"), std::string::npos) << page.out;
  EXPECT_EQ(page.out.find("model.width ="), std::string::npos);
  const ToolResult whole = tool({"runs", "a", "--config"});
  EXPECT_NE(whole.out.find("model.width = 16"), std::string::npos);
  const auto json = nlohmann::json::parse(tool({"runs", "a", "--json"}).out);
  EXPECT_EQ(json.at("curve").at("training").at("loss").size(), 40U);
  EXPECT_EQ(json.at("curve").at("validation").at("step"), nlohmann::json({20, 40}));
  EXPECT_EQ(tool({"runs", "--config"}).code, 2);
}

TEST_F(Commands, ConfigShowsWhatHoldsAndWhereItComesFrom) {
  std::ofstream(folder->path() / "mine.toml") << "seed = 7\n";
  const ToolResult text =
      tool({"config", "textgen", "preset=small", "optimizer.beta1=0.8", "--config", "mine.toml"});
  ASSERT_EQ(text.code, 0) << text.err;
  const std::string shown = on_one_line(text.out);
  for (const char* part :
       {"optimizer.lr=0.003 ", "from preset small; the default is 0.001", "optimizer.beta1=0.8 ",
        "from the command line; the default is 0.9", "from mine.toml, line 1; the default is 42"})
    EXPECT_NE(shown.find(part), std::string::npos) << part << text.out;
  const auto json =
      nlohmann::json::parse(tool({"config", "textgen", "preset=small", "--json"}).out);
  for (const auto& option : json.at("options"))
    if (option.at("key") == "optimizer.lr") {
      EXPECT_EQ(option.at("value"), 0.003);
      EXPECT_EQ(option.at("source"), "preset");
      EXPECT_EQ(option.at("where"), "small");
    }
}

TEST_F(Commands, AnExtendedRunSaysThatItsRateJumps) {
  std::filesystem::create_directories(folder->path() / "elsewhere");
  std::filesystem::copy(run(), folder->path() / "elsewhere" / "longer",
                        std::filesystem::copy_options::recursive);
  const ToolResult result =
      tool({"resume", "elsewhere/longer", "stop.steps=80", "--devices", "cpu:1"});
  ASSERT_EQ(result.code, 0) << result.err;
  const std::string said = on_one_line(result.err);
  EXPECT_NE(said.find("the learning rate jumps from"), std::string::npos) << result.err;
  EXPECT_NE(said.find("schedule.kind=constant"), std::string::npos) << result.err;
}

TEST_F(Commands, RunsListsAndShows) {
  const auto list = nlohmann::json::parse(tool({"runs", "--json"}).out);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].at("name"), "a");
  EXPECT_EQ(list[0].at("state"), "finished");
  EXPECT_EQ(list[0].at("step"), 40);
  EXPECT_NE(tool({"runs", "a"}).out.find("step 40"), std::string::npos);
  EXPECT_NE(tool({"runs"}).out.find("finished"), std::string::npos);
}

TEST_F(Commands, PlanForDevicesThatAreNotThere) {
  const ToolResult result =
      tool({"plan", "textgen", "--devices", "8xH100", "--json", "batch.global=32", "precision=bf16",
            "data.path=" + (folder->path() / "corpus.txt").string(), "stop.steps=10"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto plan = nlohmann::json::parse(result.out);
  EXPECT_EQ(plan.at("batch").at("world_size"), 8);
  EXPECT_EQ(plan.at("batch").at("global"), 32);
  EXPECT_DOUBLE_EQ(plan.at("compute").at("peak_flops"), 8 * 989.4e12);
  EXPECT_EQ(plan.at("compute").at("mfu_unknown"), "");
}

TEST_F(Commands, PlanSaysWhichPrecisionAndWhy) {
  using Words = std::vector<std::string>;
  const auto precision = [&](const std::string& devices, const Words& options = {}) {
    Words words{"plan", "textgen", "--devices", devices, "--json", "data.path=synthetic"};
    words.insert(words.end(), options.begin(), options.end());
    const ToolResult result = run_tool(words, folder->path());
    EXPECT_EQ(result.code, 0) << result.err;
    return nlohmann::json::parse(result.out);
  };
  const nlohmann::json h100 = precision("8xH100"), t4 = precision("2xT4"), cpu = precision("cpu:2");
  EXPECT_EQ(h100.at("precision").at("type"), "bf16");
  EXPECT_EQ(h100.at("precision").at("why"), "all GPUs have it natively");
  EXPECT_DOUBLE_EQ(h100.at("compute").at("peak_flops"), 8 * 989.4e12);
  EXPECT_EQ(t4.at("precision").at("type"), "fp16");
  EXPECT_DOUBLE_EQ(t4.at("compute").at("peak_flops"), 2 * 65e12);
  EXPECT_EQ(cpu.at("precision").at("type"), "fp32");
  const nlohmann::json tf32 = precision("8xH100", {"precision=fp32", "matmul.tf32=true"});
  EXPECT_EQ(tf32.at("precision").at("tf32"), true);
  EXPECT_DOUBLE_EQ(tf32.at("compute").at("peak_flops"), 4 * 989.4e12);
}

TEST_F(Commands, PlanKnowsNoUtilisationOfFp32WhereTf32IsForced) {
  const ToolResult result = run_tool({"plan", "textgen", "--devices", "2xH100", "--json",
                                      "precision=fp32", "data.path=synthetic", "stop.steps=10"},
                                     folder->path(), {{"NVIDIA_TF32_OVERRIDE", "1"}});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto compute = nlohmann::json::parse(result.out).at("compute");
  EXPECT_EQ(compute.at("mfu_unknown"), "the variable NVIDIA_TF32_OVERRIDE forces TF32");
}

TEST_F(Commands, ConfigTomlIsAcceptedAgain) {
  const ToolResult toml = tool({"config", "textgen", "--toml", "optimizer.lr=0.5"});
  ASSERT_EQ(toml.code, 0) << toml.err;
  std::ofstream(folder->path() / "c.toml") << toml.out;
  const ToolResult json = tool({"config", "textgen", "--json", "--config", "c.toml"});
  ASSERT_EQ(json.code, 0) << json.err;
  EXPECT_NE(json.out.find("0.5"), std::string::npos);
}

TEST_F(Commands, DamagedNewestCheckpointIsSaidAndTheOneBeforeItUsed) {
  std::filesystem::copy(run(), folder->path() / "runs" / "hurt",
                        std::filesystem::copy_options::recursive);
  const auto hurt = folder->path() / "runs" / "hurt";
  {
    std::fstream file(hurt / "checkpoints/step-000000040/model.safetensors",
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-5, std::ios::end);
    file.put('\x55');
  }
  const ToolResult result = tool({"resume", "hurt", "stop.steps=50", "--devices", "cpu:1"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.err.find("step 40"), std::string::npos) << result.err;
  const std::size_t said = result.err.find("damaged");
  EXPECT_NE(said, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("damaged", said + 1), std::string::npos) << result.err;
  EXPECT_EQ(newest_good(hurt / "checkpoints")->step, 50);
}

// Spoils the weights of every checkpoint, or of the newest.
void damage(const std::filesystem::path& run, bool all) {
  for (const CheckpointInfo& info : list_checkpoints(run / "checkpoints", false)) {
    if (!all && info.step != list_checkpoints(run / "checkpoints", false).back().step) continue;
    std::fstream file(info.path / "model.safetensors",
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-5, std::ios::end);
    file.put('\x55');
  }
}

TEST_F(Commands, ReadersSayThatTheyPassOverADamagedCheckpoint) {
  const auto hurt = folder->path() / "runs" / "hurt2";
  std::filesystem::copy(run(), hurt, std::filesystem::copy_options::recursive);
  damage(hurt, false);
  for (const char* command : {"evaluate", "predict"}) {
    const ToolResult result = tool({command, "hurt2", "--devices", "cpu:1"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.err.find("damaged checkpoint: step-000000040: model.safetensors"),
              std::string::npos)
        << result.err;
  }
  damage(hurt, true);
  const ToolResult none = tool({"evaluate", "hurt2", "--devices", "cpu:1"});
  EXPECT_EQ(none.code, 2) << none.err;
  EXPECT_NE(none.err.find("error: run hurt2 has damaged checkpoints only"), std::string::npos)
      << none.err;
  const ToolResult resumed = tool({"resume", "hurt2", "--devices", "cpu:1"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  const std::size_t said = resumed.err.find("checkpoint step-000000040 is damaged");
  EXPECT_LT(said, resumed.err.find("starting from the beginning")) << resumed.err;
}

TEST_F(Commands, ARunGoesOnFromAnotherFolderAndWhereItsTextHasMoved) {
  const auto here = folder->path() / "here", there = folder->path() / "there";
  std::filesystem::create_directory(here);
  std::filesystem::create_directory(there);
  testing::write_corpus(here / "text.txt", 9000);
  std::vector<std::string> words{"train",     "textgen", "--name",      "wander",
                                 "--devices", "cpu:1",   "stop.steps=4"};
  for (const std::string& option : testing::tiny("text.txt")) words.push_back(option);
  ASSERT_EQ(run_tool(words, here).code, 0);
  const std::string wander = (here / "runs/wander").string();
  const ToolResult elsewhere =
      run_tool({"resume", wander, "stop.steps=6", "--devices", "cpu:1"}, there);
  ASSERT_EQ(elsewhere.code, 0) << elsewhere.err;
  std::filesystem::rename(here / "text.txt", there / "text.txt");
  EXPECT_EQ(run_tool({"resume", wander, "stop.steps=8", "--devices", "cpu:1"}, there).code, 2);
  const ToolResult moved = run_tool(
      {"resume", wander, "stop.steps=8", "--devices", "cpu:1", "data.path=text.txt"}, there);
  EXPECT_EQ(moved.code, 0) << moved.err;
  std::filesystem::rename(there / "text.txt", there / "again.txt");
  const ToolResult evaluated =
      run_tool({"evaluate", wander, "--devices", "cpu:1", "data.path=again.txt"}, there);
  EXPECT_EQ(evaluated.code, 0) << evaluated.err;
}

TEST_F(Commands, PredictAsJsonIsOneObject) {
  const ToolResult result =
      tool({"predict", "a", "the ", "predict.tokens=20", "--devices", "cpu:1", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const std::string text = nlohmann::json::parse(result.out).at("output");
  EXPECT_NE(text.find("the "), std::string::npos);
}

TEST_F(Commands, SayThatThereIsNoBestWithoutAnEvaluation) {
  std::vector<std::string> words{"train",  "textgen",  "--devices",          "cpu:1",
                                 "--name", "unjudged", "data.valid_share=0", "stop.steps=2"};
  for (const std::string& option : testing::tiny(folder->path() / "corpus.txt"))
    words.push_back(option);
  ASSERT_EQ(tool(words).code, 0);
  const auto predict = [](const char* run) {
    const ToolResult result =
        tool({"predict", run, "predict.tokens=3", "--best", "--devices", "cpu:1"});
    EXPECT_EQ(result.code, 0) << result.err;
    return result.err;
  };
  const std::string note =
      "no checkpoint of the run was evaluated: taking the newest in place of the best";
  EXPECT_NE(predict("unjudged").find(note), std::string::npos);
  EXPECT_EQ(predict("a").find(note), std::string::npos);
  // One that was evaluated, but is not whole.
  const std::filesystem::path checkpoints = folder->path() / "runs/unjudged/checkpoints";
  const auto newest = newest_good(checkpoints);
  ASSERT_TRUE(newest.has_value());
  const std::filesystem::path judged = checkpoints / checkpoint_name(1);
  std::filesystem::copy(newest->path, judged);
  Manifest manifest = parse_manifest(read_file(judged / manifest_name));
  manifest.step = 1;
  manifest.metrics = {{"selection", 0.5}};
  write_file_atomic(judged / manifest_name, to_text(manifest));
  std::string weights = read_file(judged / "model.safetensors");
  weights.back() = static_cast<char>(~weights.back());
  write_file_atomic(judged / "model.safetensors", weights);
  const std::string damaged =
      "each checkpoint of the run that was evaluated is damaged: taking the newest in place of the "
      "best";
  EXPECT_NE(predict("unjudged").find(damaged), std::string::npos);
  const ToolResult exported = tool({"export", "unjudged", "--best", "--out", "unjudged.model"});
  EXPECT_NE(exported.err.find(damaged), std::string::npos) << exported.err;
  std::filesystem::remove_all(judged);
}

TEST_F(Commands, PredictEndsQuietlyWhenItsReaderLeaves) {
  const ToolResult result =
      testing::ToolProcess({"bash", "-c",
                            "set -o pipefail; " + testing::program_in_shell("lockstep") +
                                " predict a predict.tokens=100000 --devices cpu:1 | head -c 20"},
                           folder->path())
          .wait();
  EXPECT_EQ(result.code, 141) << result.err;
  EXPECT_EQ(result.out.size(), 20U);
  EXPECT_EQ(result.err, "");
}

// A predict that would go on for hours, once it has said something, in a folder of its own.
testing::ToolProcess start_predict(const std::filesystem::path& run, const std::string& name) {
  const auto own = run.parent_path().parent_path() / name;
  std::filesystem::create_directory(own);
  testing::ToolProcess process({testing::program("lockstep"), "predict", run.string(),
                                "predict.tokens=1000000000", "--devices", "cpu:1"},
                               own);
  const auto out = own / "stdout.txt";
  for (int i = 0; i < 1000 && (!std::filesystem::exists(out) || read_file(out).empty()); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return process;
}

TEST_F(Commands, PredictFailsWithItsRank) {
  testing::ToolProcess process = start_predict(run(), "killed");
  for (const pid_t rank : testing::ranks_of(process.pid())) kill(rank, SIGKILL);
  const ToolResult result = process.wait();
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_NE(result.err.find("killed by signal 9"), std::string::npos) << result.err;
}

TEST_F(Commands, PredictIsInterruptedByTheFirstSignal) {
  testing::ToolProcess process = start_predict(run(), "interrupted");
  kill(process.pid(), SIGINT);
  EXPECT_EQ(process.wait().code, 130);
}

TEST_F(Commands, StopAfterIsForOneStartOnly) {
  const ToolResult first = tool({"resume", "a", "--into", "short", "stop.steps=1000000",
                                 "stop.after=1s", "log.every_steps=1000000", "--devices", "cpu:1"});
  ASSERT_EQ(first.code, 75) << first.err;
  const RunDir made = RunDir::open("short", folder->path() / "runs");
  const auto step = newest_good(made.checkpoints())->step;
  EXPECT_NE(tool({"runs", "short"}).out.find(std::to_string(step) + "/1000000"), std::string::npos);
  const ToolResult second =
      tool({"resume", "short", "stop.steps=" + std::to_string(step + 5), "--devices", "cpu:1"});
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(made.record().at("config").at("stop.after"), 0);
}

TEST_F(Commands, ResumeFindsTheRunWhereAConfigFileSays) {
  std::filesystem::create_directory(folder->path() / "elsewhere");
  std::filesystem::copy(run(), folder->path() / "elsewhere/c",
                        std::filesystem::copy_options::recursive);
  std::ofstream(folder->path() / "root.toml") << "[run]\nroot = \"elsewhere\"\n";
  const ToolResult result =
      tool({"resume", "c", "--config", "root.toml", "stop.steps=42", "--devices", "cpu:1"});
  EXPECT_EQ(result.code, 0) << result.err;
}

TEST_F(Commands, ARoundedBatchStaysThoughThePresetIsNamedAgain) {
  std::ofstream(folder->path() / "preset.toml") << "preset = \"small\"\n";
  const auto train = [](const std::string& steps) {
    std::vector<std::string> words{"train",   "textgen",  "--config", "preset.toml", "--name",
                                   "rounded", "--resume", "auto",     steps};
    for (const std::string& option : testing::tiny(folder->path() / "corpus.txt"))
      if (!option.starts_with("batch.")) words.push_back(option);
    words.insert(words.end(), {"--devices", steps == "stop.steps=2" ? "cpu:3" : "cpu:1"});
    return tool(words);
  };
  const ToolResult first = train("stop.steps=2"), second = train("stop.steps=4");
  ASSERT_EQ(first.code, 0) << first.err;
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_NE(first.err.find("the effective batch is 9, not the default 8"), std::string::npos)
      << first.err;
  EXPECT_NE(second.err.find("global batch   9 = "), std::string::npos) << second.err;
}

TEST_F(Commands, ResumeIntoANewRunLeavesTheOldOneAlone) {
  const std::string before = read_file(run() / "events.jsonl");
  const double started = RunDir::open("a", folder->path() / "runs").record().at("started");
  const ToolResult result =
      tool({"resume", "a", "--into", "b", "stop.steps=45", "--devices", "cpu:1"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(read_file(run() / "events.jsonl"), before);
  EXPECT_EQ(newest_good(folder->path() / "runs/b/checkpoints")->step, 45);
  const nlohmann::json record = RunDir::open("b", folder->path() / "runs").record();
  EXPECT_EQ(record.at("starts").size(), 1U);
  EXPECT_GT(record.at("started").get<double>(), started);
}

TEST_F(Commands, TrainWithResumeAutoGoesStraightToThenWhereAllIsDone) {
  std::vector<std::string> words{"train",    "textgen", "--name",        "a",
                                 "--resume", "auto",    "--devices",     "cpu:1",
                                 "--then",   "predict", "stop.steps=40", "predict.tokens=5"};
  for (const std::string& option : testing::tiny(folder->path() / "corpus.txt"))
    words.push_back(option);
  const ToolResult result = tool(words);
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_FALSE(result.out.empty());
  EXPECT_NE(result.err.find("has finished"), std::string::npos);
}

TEST_F(Commands, TrainWithResumeAutoRefusesOtherDataWhereAllIsDone) {
  testing::write_corpus(folder->path() / "longer.txt", 60'000);
  for (const char* name : {"longer.txt", "missing.txt"}) {
    std::vector<std::string> words{"train", "textgen",   "--name", "a",      "--resume",
                                   "auto",  "--devices", "cpu:1",  "--then", "predict"};
    for (const std::string& option : testing::tiny(folder->path() / name)) words.push_back(option);
    const ToolResult result = tool(words);
    EXPECT_EQ(result.code, 2) << name << result.err;
    EXPECT_EQ(result.out, "") << "nothing is predicted";
    EXPECT_NE(result.err.find("--resume auto goes on with the run a: "), std::string::npos)
        << result.err;
    EXPECT_NE(result.err.find("to begin another: --name NEW"), std::string::npos) << result.err;
  }
}

// As in a notebook session that brings back the runs, but not the data.
TEST_F(Commands, TrainWithResumeAutoPredictsWhereTheDataOfAFinishedRunAreGone) {
  const std::filesystem::path corpus = folder->path() / "corpus.txt";
  const std::filesystem::path away = folder->path() / "away.txt";
  std::vector<std::string> words{"train",    "textgen", "--name",          "a",
                                 "--resume", "auto",    "--devices",       "cpu:1",
                                 "--then",   "predict", "predict.tokens=5"};
  for (const std::string& option : testing::tiny(corpus)) words.push_back(option);
  std::filesystem::rename(corpus, away);
  words.push_back("stop.steps=40");
  const ToolResult predicts = tool(words);
  words.erase(words.begin() + 8, words.begin() + 11);
  const ToolResult is_done = tool(words);
  std::filesystem::rename(away, corpus);
  EXPECT_EQ(predicts.code, 0) << predicts.err;
  EXPECT_FALSE(predicts.out.empty());
  EXPECT_NE(predicts.err.find("warning: the data are not compared with those of the run a: "),
            std::string::npos)
      << predicts.err;
  EXPECT_EQ(is_done.code, 0) << is_done.err;
  EXPECT_EQ(is_done.err.find("warning: the data"), std::string::npos) << is_done.err;
}

// A share to validate on has no effect beside data.valid_path, so that giving it would be an error.
TEST_F(Commands, AShareThatRepeatsTheRunsOwnIsNoChange) {
  testing::write_corpus(folder->path() / "valid.txt", 3000);
  std::vector<std::string> words{
      "train",     "textgen", "--name",       "repeated",
      "--devices", "cpu:1",   "stop.steps=2", "data.valid_path=valid.txt"};
  for (const std::string& option : testing::tiny(folder->path() / "corpus.txt"))
    words.push_back(option);
  ASSERT_EQ(tool(words).code, 0);
  const nlohmann::json config =
      RunDir::open("repeated", folder->path() / "runs").record().at("config");
  const std::string share = "data.valid_share=" + config.at("data.valid_share").dump();
  const ToolResult result = tool({"resume", "repeated", "stop.steps=4", share,
                                  "data.valid_path=valid.txt", "--devices", "cpu:1"});
  EXPECT_EQ(result.code, 0) << result.err;
}

TEST_F(Commands, QuotaStopsWithACheckpointAndExitCode75) {
  std::vector<std::string> words{
      "train",        "textgen", "--name", "quota", "--devices", "cpu:1", "stop.steps=1000000",
      "stop.after=1s"};
  for (const std::string& option : testing::tiny(folder->path() / "corpus.txt"))
    words.push_back(option);
  const ToolResult result = tool(words);
  EXPECT_EQ(result.code, 75) << result.err;
  EXPECT_NE(result.err.find("stop.after"), std::string::npos) << result.err;
  EXPECT_TRUE(newest_good(folder->path() / "runs/quota/checkpoints"));
}

// As the suite's run a, with more.
std::vector<std::string> plan_words(const std::filesystem::path& folder,
                                    const std::vector<std::string>& more) {
  std::vector<std::string> words{"plan", "textgen", "stop.steps=4000", "eval.every_steps=1000"};
  for (const std::string& option : testing::tiny(folder / "corpus.txt")) words.push_back(option);
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_F(Commands, PlanSaysHowLongItTakesByARunOfTheSameModel) {
  const ToolResult text = tool(plan_words(folder->path(), {"--devices", "cpu:2", "stop.after=9h"}));
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_NE(on_one_line(text.out).find("4 evaluations of "), std::string::npos) << text.out;
  EXPECT_NE(on_one_line(text.out).find("as in run "), std::string::npos) << text.out;
  EXPECT_NE(on_one_line(text.out).find("fits into stop.after = 9h: "), std::string::npos);
  const auto forecast = [&](const std::vector<std::string>& more) {
    const ToolResult result = tool(plan_words(folder->path(), more));
    EXPECT_EQ(result.code, 0) << result.err;
    return nlohmann::json::parse(result.out).at("forecast");
  };
  EXPECT_GT(forecast({"--devices", "cpu:2", "--json"}).at("step_s"), 0);
  EXPECT_TRUE(forecast({"--devices", "cpu:4", "--json"}).is_null()) << "nothing ran on four";
  EXPECT_TRUE(forecast({"--devices", "cpu:2", "model.feed_forward=48", "--json"}).is_null());
  EXPECT_EQ(forecast({"--devices", "4xH100", "--json"}).at("source"), "peaks");
}

TEST_F(Commands, PlanTakesTheWordsOfATraining) {
  const auto planned = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--devices", "cpu:2", "--then", "evaluate,predict"});
    const ToolResult result = tool(plan_words(folder->path(), more));
    EXPECT_EQ(result.code, 0) << result.err;
    return on_one_line(result.err + result.out);
  };
  EXPECT_NE(planned({"--resume", "auto", "--name", "a"}).find("the plan of run a, which goes on "),
            std::string::npos);
  EXPECT_EQ(planned({"--resume", "auto", "--name", "new"}).find("goes on from"), std::string::npos)
      << "there is none of that name";
  EXPECT_EQ(tool(plan_words(folder->path(), {"--resume", "always"})).code, 2);
}

TEST_F(Commands, APlanOfARunThatIsOverForecastsNoTraining) {
  std::vector<std::string> words{"plan", "textgen",   "--name", "a",      "--resume",
                                 "auto", "--devices", "cpu:2",  "--json", "stop.steps=40"};
  for (const std::string& option : testing::tiny(folder->path() / "corpus.txt"))
    words.push_back(option);
  const ToolResult result = tool(words);
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.err.find("nothing of it is left to train"), std::string::npos) << result.err;
  EXPECT_TRUE(nlohmann::json::parse(result.out).at("forecast").is_null()) << result.out;
}

TEST_F(Commands, PlanComparesGpusInATable) {
  const ToolResult table = tool(plan_words(folder->path(), {"--table"}));
  ASSERT_EQ(table.code, 0) << table.err;
  for (const char* words : {"Tesla T4", "A100", "H100", "peaks",
                            "P100: Tesla P100-PCIE-16GB is too old: its compute capability is 6.0"})
    EXPECT_NE(table.out.find(words), std::string::npos) << words << "\n" << table.out;
  EXPECT_EQ(tool(plan_words(folder->path(), {"--table", "--measure"})).code, 2);
  EXPECT_EQ(tool(plan_words(folder->path(), {"--table", "schedule.warmup=-1"})).code, 2);
}

TEST_F(Commands, PlanTriesTheModelForTenSeconds) {
  if (!testing::has_turn(4)) GTEST_SKIP() << testing::in_another_tenth;
  const ToolResult result = tool(plan_words(
      folder->path(), {"--measure", "--devices", "cpu:1", "model.feed_forward=24", "--json"}));
  ASSERT_EQ(result.code, 0) << result.err;
  const nlohmann::json forecast = nlohmann::json::parse(result.out).at("forecast");
  EXPECT_EQ(forecast.at("source"), "trial");
  EXPECT_GT(forecast.at("evaluation_s"), 0);
  const ToolResult later =
      tool(plan_words(folder->path(), {"--devices", "cpu:1", "model.feed_forward=24"}));
  EXPECT_NE(on_one_line(later.out).find("from a trial"), std::string::npos) << later.out;
}

// Options of the run `name` in the suite's folder, with the tiny model.
std::vector<std::string> train_words(const std::filesystem::path& folder, const std::string& name,
                                     const std::vector<std::string>& more) {
  std::vector<std::string> words{"train", "textgen", "--devices", "cpu:1", "--name", name};
  for (const std::string& option : testing::tiny(folder / "corpus.txt")) words.push_back(option);
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_F(Commands, ASpentBudgetTrainsNotOneStepMore) {
  const ToolResult first =
      tool(train_words(folder->path(), "spent", {"stop.steps=1000000", "stop.budget=1s"}));
  ASSERT_EQ(first.code, 75) << first.err;
  EXPECT_NE(first.err.find("go on with: lockstep resume runs/spent stop.budget="),
            std::string::npos)
      << first.err;
  EXPECT_EQ(first.err.find("runs/spent stop.budget=1s"), std::string::npos) << "it is raised";
  const auto step = newest_good(folder->path() / "runs/spent/checkpoints")->step;
  // A step or two may fit into the rest of the same budget, if the first start expected a slower
  // end.
  const ToolResult again = tool({"resume", "spent", "--devices", "cpu:2", "stop.budget=500ms"});
  EXPECT_EQ(again.code, 75) << again.err;
  EXPECT_NE(again.err.find("go on with: lockstep resume runs/spent stop.budget="),
            std::string::npos)
      << again.err;
  EXPECT_EQ(again.err.find("runs/spent stop.budget=500ms"), std::string::npos) << "it is raised";
  EXPECT_NE(again.err.find("stop.budget = 500ms is spent"), std::string::npos) << again.err;
  EXPECT_EQ(newest_good(folder->path() / "runs/spent/checkpoints")->step, step);
  const ToolResult more = tool({"resume", "spent", "--devices", "cpu:1", "stop.budget=1h",
                                "stop.steps=" + std::to_string(step + 2)});
  EXPECT_EQ(more.code, 0) << more.err;
}

TEST_F(Commands, ThenEvaluatePrintsWhatEvaluatePrints) {
  const ToolResult trained =
      tool(train_words(folder->path(), "then", {"stop.steps=4", "--then", "evaluate"}));
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(trained.out, tool({"evaluate", "then", "--devices", "cpu:1"}).out);
  EXPECT_NE(trained.out.find("bits_per_byte"), std::string::npos) << trained.out;
}

TEST_F(Commands, TheBestCheckpointIsChosenByAFlag) {
  for (const char* command : {"evaluate", "predict"})
    for (const char* word : {"checkpoint=best", "ckpt_path=best", "CHECKPOINT=best"}) {
      const ToolResult result = tool({command, "a", word, "--devices", "cpu:1"});
      EXPECT_EQ(result.code, 2) << result.err;
      EXPECT_NE(result.err.find("hint: write --best\n"), std::string::npos) << result.err;
    }
}

TEST_F(Commands, AFinishedRunNamesTheOptionsThatChangeNothing) {
  ASSERT_EQ(tool(train_words(folder->path(), "over", {"stop.steps=2", "optimizer.lr=0.001"})).code,
            0);
  const ToolResult same = tool(train_words(
      folder->path(), "over", {"stop.steps=2", "optimizer.lr=0.001", "--resume", "auto"}));
  ASSERT_EQ(same.code, 0) << same.err;
  EXPECT_EQ(same.err.find("without effect"), std::string::npos) << same.err;
  const nlohmann::json batch =
      nlohmann::json::parse(read_file(folder->path() / "runs/over/run.json"))["plan"]["batch"];
  const ToolResult planned =
      tool(train_words(folder->path(), "over",
                       {"stop.steps=2", "optimizer.lr=0.001", "--resume", "auto",
                        "batch.micro=" + std::to_string(batch["micro"].get<int>())}));
  ASSERT_EQ(planned.code, 0) << planned.err;
  EXPECT_EQ(planned.err.find("without effect"), std::string::npos) << "it is the run's batch";
  const ToolResult other = tool(train_words(
      folder->path(), "over", {"stop.steps=2", "optimizer.lr=0.002", "--resume", "auto"}));
  ASSERT_EQ(other.code, 0) << other.err;
  EXPECT_NE(other.err.find("without effect, because nothing is left to train: optimizer.lr=0.002;"),
            std::string::npos)
      << other.err;
}

TEST_F(Commands, ResumeAutoGoesFurtherThanAFinishedRunWhenAsked) {
  ASSERT_EQ(tool(train_words(folder->path(), "further", {"stop.steps=4"})).code, 0);
  const ToolResult further =
      tool(train_words(folder->path(), "further", {"stop.steps=6", "--resume", "auto"}));
  ASSERT_EQ(further.code, 0) << further.err;
  EXPECT_EQ(newest_good(folder->path() / "runs/further/checkpoints")->step, 6);
}

TEST_F(Commands, LaunchGivesTorchrunsEnvironment) {
  const ToolResult result = tool({"launch", "--devices", "cpu:2", "--", "sh", "-c",
                                  "echo rank $RANK of $WORLD_SIZE at $MASTER_ADDR"});
  EXPECT_EQ(result.code, 0);
  const std::string all = result.out + result.err;
  EXPECT_NE(all.find("rank 0 of 2 at 127.0.0.1"), std::string::npos) << all;
  EXPECT_NE(all.find("rank 1 of 2 at 127.0.0.1"), std::string::npos) << all;
}

TEST_F(Commands, LaunchTakesTheFirstWordThatIsNoFlagForTheProgram) {
  const ToolResult result = tool({"launch", "--devices", "cpu:2", "sh", "-c",
                                  "echo rank $RANK has $*", "sh", "--devices", "--", "a=b", "-h"});
  EXPECT_EQ(result.code, 0) << result.err;
  for (const char* line : {"[0] rank 0 has --devices -- a=b -h", "[1] rank 1 has --devices -- a=b"})
    EXPECT_NE(result.out.find(line), std::string::npos) << result.out;
}

TEST_F(Commands, PredictTakesThePromptFromAPipe) {
  const std::string predict = testing::program_in_shell("lockstep") + " predict a ";
  const std::string few = " predict.tokens=3 --devices cpu:1";
  const auto shell = [](const std::string& line) {
    return testing::ToolProcess({"bash", "-c", line}, folder->path()).wait();
  };
  const ToolResult piped = shell("echo 'every model' | " + predict + few);
  ASSERT_EQ(piped.code, 0) << piped.err;
  EXPECT_TRUE(piped.out.starts_with("every model")) << piped.out;
  EXPECT_EQ(piped.out,
            tool({"predict", "a", "every model", "predict.tokens=3", "--devices", "cpu:1"}).out);
  EXPECT_TRUE(shell("echo 'every model' | " + predict + "-" + few).out.starts_with("every model"));
  EXPECT_TRUE(shell("echo no | " + predict + "device" + few).out.starts_with("device"));
  const ToolResult named = shell("echo no | " + predict + "predict.prompt=trains" + few);
  EXPECT_TRUE(named.out.starts_with("trains")) << named.out;
}

TEST_F(Commands, APromptMayLookLikeAFlagOrAnOption) {
  for (const char* prompt : {"--and", "a = e", "-h"}) {
    const ToolResult result =
        tool({"predict", "a", "predict.tokens=3", "--devices", "cpu:1", "--", prompt});
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_TRUE(result.out.starts_with(prompt)) << result.out;
  }
}

TEST_F(Commands, RunRootNamesTheFolderOfRunsOnEveryCommand) {
  const auto there = folder->path() / "other root";
  std::filesystem::create_directory(there);
  std::filesystem::copy(run(), there / "moved", std::filesystem::copy_options::recursive);
  const std::string root = "run.root=other root";
  EXPECT_NE(tool({"runs", root}).out.find("moved"), std::string::npos);
  EXPECT_NE(tool({"runs", "moved", root}).out.find("step 40"), std::string::npos);
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"evaluate", "moved", "--devices", "cpu:1"},
           {"predict", "moved", "the", "--devices", "cpu:1"},
           {"resume", "moved", "stop.steps=41", "--devices", "cpu:1"}}) {
    std::vector<std::string> with = words;
    with.push_back(root);
    const ToolResult result = tool(with);
    EXPECT_EQ(result.code, 0) << words[0] << result.err;
    EXPECT_EQ(tool(words).code, 2) << words[0];
  }
  for (const char* command : {"runs", "evaluate", "predict"}) {
    const ToolResult old = tool({command, "moved", "--root", "other root"});
    EXPECT_EQ(old.code, 2);
    EXPECT_NE(old.err.find("hint: write run.root=DIR"), std::string::npos) << old.err;
  }
}

TEST_F(Commands, RunCacheNamesTheFolderOfPreparedData) {
  const std::filesystem::path runs = folder->path() / "small-disk";
  std::vector<std::string> words{"train",
                                 "textgen",
                                 "--devices",
                                 "cpu:1",
                                 "--name",
                                 "cached",
                                 "run.root=" + runs.string(),
                                 "run.cache=large-disk/cache",
                                 "stop.steps=2"};
  for (const std::string& option : testing::tiny(folder->path() / "corpus.txt"))
    words.push_back(option);
  const ToolResult trained = tool(words);
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_TRUE(std::filesystem::exists(folder->path() / "large-disk/cache/textgen"));
  EXPECT_FALSE(std::filesystem::exists(runs / ".cache/textgen"));
  const ToolResult evaluated = tool({"evaluate", (runs / "cached").string(), "--devices", "cpu:1"});
  EXPECT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_FALSE(std::filesystem::exists(runs / ".cache/textgen")) << "the run knows its cache";
  EXPECT_FALSE(std::filesystem::exists(folder->path() / "large-disk/cache/CACHEDIR.TAG"))
      << "a backup would pass over what else lies there";

  // The disk is gone, and nothing can be made in its place.
  std::filesystem::remove_all(folder->path() / "large-disk");
  write_file_atomic(folder->path() / "large-disk", "");
  const ToolResult resumed =
      tool({"resume", (runs / "cached").string(), "stop.steps=4", "--devices", "cpu:1"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_TRUE(std::filesystem::exists(runs / ".cache/textgen"));
  std::replace(words.begin(), words.end(), std::string("cached"), std::string("refused"));
  const ToolResult refused = tool(words);
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_THAT(refused.err,
              ::testing::HasSubstr("hint: set run.cache to a folder that you can write to"));
}

TEST_F(Commands, ARunInAnotherFolderFindsItsCache) {
  std::vector<std::string> words{"train",  "textgen", "--devices",           "cpu:1",
                                 "--name", "moved",   "run.root=other-runs", "run.cache=far/cache"};
  for (const std::string& option : testing::tiny(folder->path() / "corpus.txt"))
    words.push_back(option);
  words.emplace_back("stop.steps=2");
  ASSERT_EQ(tool(words).code, 0);
  const ToolResult evaluated =
      testing::ToolProcess({testing::program("lockstep"), "evaluate",
                            (folder->path() / "other-runs/moved").string(), "--devices", "cpu:1"},
                           folder->path() / "far",
                           {{"XDG_CACHE_HOME", (folder->path() / "user").string()}})
          .wait();
  EXPECT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_FALSE(std::filesystem::exists(folder->path() / "user"));
}

TEST_F(Commands, ATableInAPipeIsNotCut) {
  const std::string name(100, 'n');
  std::filesystem::create_directory(folder->path() / "long");
  std::filesystem::copy(run(), folder->path() / "long" / name,
                        std::filesystem::copy_options::recursive);
  const ToolResult result =
      run_tool({"runs", "run.root=long"}, folder->path(), {{"COLUMNS", "40"}});
  for (const char* head : {"NAME", "RECIPE", "STATE", "STEP", "LOSS", "DEVICES", "AGE"})
    EXPECT_NE(result.out.find(head), std::string::npos) << head << "\n" << result.out;
  EXPECT_NE(result.out.find(name), std::string::npos);
  EXPECT_NE(result.out.find("2 x "), std::string::npos);
  const ToolResult options = tool({"config", "textgen"});
  EXPECT_NE(options.out.find("\n  optimizer.lr="), std::string::npos);
  for (const std::string& line : split(options.out, '\n'))
    if (line.starts_with("      "))
      EXPECT_THAT(trim(line), ::testing::StartsWith("from ")) << "meanings are not wrapped";
}

// Ranks as torchrun would start them, to their end.
void run_foreign(const TemporaryDirectory& folder, int world_size, const std::string& name,
                 const std::vector<std::string>& more) {
  std::vector<std::unique_ptr<testing::ToolProcess>> ranks;
  static int port = 20000 + getpid() % 12000;  // below those that the kernel hands out
  ++port;
  for (int rank = 0; rank < world_size; ++rank) {
    const auto own = folder.path() / ("rank" + std::to_string(rank));
    std::filesystem::create_directories(own);
    std::vector<std::string> words{testing::program("lockstep-worker"),
                                   "train",
                                   "textgen",
                                   "--devices=cpu",
                                   "--name",
                                   name,
                                   "run.root=" + (folder.path() / "runs").string()};
    for (const std::string& option : testing::tiny(folder.path() / "corpus.txt"))
      words.push_back(option);
    words.insert(words.end(), more.begin(), more.end());
    ranks.push_back(std::make_unique<testing::ToolProcess>(
        words, own,
        std::map<std::string, std::string>{{"RANK", std::to_string(rank)},
                                           {"LOCAL_RANK", std::to_string(rank)},
                                           {"WORLD_SIZE", std::to_string(world_size)},
                                           {"LOCAL_WORLD_SIZE", std::to_string(world_size)},
                                           {"MASTER_ADDR", "127.0.0.1"},
                                           {"MASTER_PORT", std::to_string(port)}}));
  }
  for (auto& rank : ranks) {
    const ToolResult result = rank->wait();
    EXPECT_EQ(result.code, 0) << result.err;
  }
  const RunDir made = RunDir::open(name, folder.path() / "runs");
  EXPECT_EQ(made.state(), RunState::finished);
  EXPECT_EQ(made.record().at("plan").at("batch").at("world_size"), world_size);
}

TEST_F(Commands, WorkersOfAForeignWorldMakeOneRunTogether) {
  run_foreign(*folder, 2, "foreign", {"stop.steps=20"});
}

TEST_F(Commands, WorkersOfAForeignWorldResumeOnAnotherNumberOfRanksAndKnowTheEnd) {
  run_foreign(*folder, 2, "onward", {"stop.steps=10"});
  ASSERT_EQ(tool({"resume", "onward", "stop.steps=12", "--devices", "cpu:1"}).code, 0);
  RunDir::open("onward", folder->path() / "runs").write_state(RunState::stopped, "test");
  run_foreign(*folder, 3, "onward", {"stop.steps=20", "--resume=auto"});
  const auto checkpoint = newest_good(folder->path() / "runs/onward/checkpoints");
  EXPECT_EQ(checkpoint->step, 20);
  run_foreign(*folder, 3, "onward", {"--resume=auto"});
}

// What each file of a run holds, but for the log of who looked.
std::map<std::string, std::string> contents(const std::filesystem::path& run) {
  std::map<std::string, std::string> all;
  for (const char* name : {"run.json", "state.json", "lock"}) all[name] = read_file(run / name);
  return all;
}

TEST_F(Commands, ASecondJobOfAForeignWorldLeavesTheRunOfTheFirstAlone) {
  const auto start = [&](const std::string& out, const std::vector<std::string>& more, int port) {
    const std::filesystem::path own = folder->path() / out;
    std::filesystem::create_directories(own);
    std::vector<std::string> words{testing::program("lockstep-worker"),
                                   "train",
                                   "textgen",
                                   "--devices=cpu",
                                   "--name",
                                   "shared",
                                   "run.root=" + (folder->path() / "runs").string()};
    for (const std::string& option : testing::tiny(folder->path() / "corpus.txt"))
      words.push_back(option);
    words.insert(words.end(), more.begin(), more.end());
    return testing::ToolProcess(words, own,
                                {{"RANK", "0"},
                                 {"LOCAL_RANK", "0"},
                                 {"WORLD_SIZE", "1"},
                                 {"LOCAL_WORLD_SIZE", "1"},
                                 {"MASTER_ADDR", "127.0.0.1"},
                                 {"MASTER_PORT", std::to_string(port)}});
  };
  testing::ToolProcess first =
      start("first", {"stop.steps=1000000"}, 20000 + static_cast<int>(getpid() % 5000));
  const auto run = folder->path() / "runs" / "shared";
  for (int i = 0; i < 3000 && (!std::filesystem::exists(run / "events.jsonl") ||
                               read_events(run / "events.jsonl").size() < 3);
       ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  // A checkpoint under way, on a file system that locks no folders.
  const auto writing = run / "checkpoints" / ".tmp-step-000999999-1";
  std::filesystem::create_directories(writing);
  const auto before = contents(run);
  const ToolResult second =
      start("second", {"--resume=auto", "stop.steps=20"}, 26000 + static_cast<int>(getpid() % 5000))
          .wait();
  EXPECT_NE(second.code, 0);
  EXPECT_NE(second.err.find("is in use by process " + std::to_string(first.pid())),
            std::string::npos)
      << second.err;
  EXPECT_EQ(contents(run), before);
  EXPECT_TRUE(std::filesystem::exists(writing));
  kill(first.pid(), SIGTERM);
  EXPECT_EQ(first.wait().code, 75);
  EXPECT_EQ(RunDir::open("shared", folder->path() / "runs").state(), RunState::stopped);
}

// A `git` that takes its time, so that a signal comes while a run is made.
class InTheMaking : public ::testing::Test {
 protected:
  InTheMaking() {
    testing::write_corpus(folder.path() / "corpus.txt", 9000);
    const auto git = folder.path() / "bin" / "git";
    std::filesystem::create_directories(git.parent_path());
    std::ofstream(git) << "#!/bin/sh\n: > '" << (folder.path() / "begun").string()
                       << "'\nwhile [ ! -e '" << (folder.path() / "go").string()
                       << "' ]; do sleep 0.05; done\nexit 1\n";
    std::filesystem::permissions(git, std::filesystem::perms::owner_all);
  }
  std::vector<std::string> words(const std::string& program) const {
    std::vector<std::string> all{program, "train", "textgen", "--devices", "cpu:1", "--name", "a"};
    for (const std::string& option : testing::tiny(folder.path() / "corpus.txt"))
      if (!option.starts_with("stop.")) all.push_back(option);
    all.push_back("stop.steps=3");
    return all;
  }
  // Once the run is being made.
  testing::ToolProcess start() const {
    testing::ToolProcess tool(words(testing::program("lockstep")), folder.path(),
                              {{"PATH", (folder.path() / "bin").string() + ":/usr/bin:/bin"}});
    for (int i = 0; i < 3000 && !std::filesystem::exists(folder.path() / "begun"); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return tool;
  }
  int entries_of_runs() const {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "runs"))
      count += entry.path().filename() != ".cache";
    return count;
  }

  TemporaryDirectory folder;
};

TEST_F(InTheMaking, AnInterruptLeavesNothing) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    std::filesystem::remove(folder.path() / "begun");
    std::filesystem::remove(folder.path() / "go");
    testing::ToolProcess tool = start();
    kill(tool.pid(), number);
    std::ofstream(folder.path() / "go") << "";
    const ToolResult result = tool.wait();
    EXPECT_EQ(result.code, 130) << result.err;
    EXPECT_NE(result.err.find("nothing is left of it"), std::string::npos) << result.err;
    EXPECT_EQ(entries_of_runs(), 0) << number;
  }
}

TEST_F(InTheMaking, AKillLeavesNoRunAndTheNameFree) {
  testing::ToolProcess tool = start();
  kill(tool.pid(), SIGKILL);
  std::ofstream(folder.path() / "go") << "";
  tool.wait();
  EXPECT_EQ(entries_of_runs(), 1);
  EXPECT_EQ(run_tool({"runs"}, folder.path()).out, "");
  const ToolResult again =
      testing::ToolProcess(words(testing::program("lockstep")), folder.path()).wait();
  EXPECT_EQ(again.code, 0) << again.err;
}

// A run of 2 ranks that would never end, once it has trained a step or two.
testing::ToolProcess start_endless(const TemporaryDirectory& folder, const std::string& name) {
  std::vector<std::string> words{
      testing::program("lockstep"), "train", "textgen", "--name", name, "--devices", "cpu:2",
      "stop.steps=1000000"};
  for (const std::string& option : testing::tiny(folder.path() / "corpus.txt"))
    words.push_back(option);
  testing::ToolProcess process(words, folder.path());
  const auto events = folder.path() / "runs" / name / "events.jsonl";
  for (int i = 0; i < 1000 && (!std::filesystem::exists(events) || read_events(events).size() < 3);
       ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return process;
}

TEST_F(Commands, ADyingRankEndsTheRunWithItsName) {
  testing::ToolProcess process = start_endless(*folder, "dying");
  const std::vector<pid_t> ranks = testing::ranks_of(process.pid());
  ASSERT_GE(ranks.size(), 2U);
  const auto begin = std::chrono::steady_clock::now();
  kill(ranks[1], SIGKILL);
  const ToolResult result = process.wait();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(8));
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("rank 1 on cpu:1"), std::string::npos) << result.err;
  EXPECT_NE(kill(ranks[0], 0), 0);
  EXPECT_EQ(RunDir::open("dying", folder->path() / "runs").state(), RunState::failed);
}

TEST_F(Commands, OnlyLoopbackIsListenedOn) {
  testing::ToolProcess process = start_endless(*folder, "listen");
  std::set<std::string> inodes;
  for (const pid_t pid : testing::ranks_of(process.pid()))
    for (const auto& fd :
         std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd")) {
      std::error_code error;
      const std::string target = std::filesystem::read_symlink(fd.path(), error).string();
      if (target.starts_with("socket:[")) inodes.insert(target.substr(8, target.size() - 9));
    }
  int listeners = 0;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream rows(table);
    std::string line;
    while (std::getline(rows, line)) {
      std::istringstream fields(line);
      std::string index, local, remote, state, skip, inode;
      fields >> index >> local >> remote >> state;
      for (int i = 0; i < 5; ++i) fields >> skip;
      fields >> inode;
      if (state != "0A" || !inodes.contains(inode)) continue;
      ++listeners;
      EXPECT_TRUE(local.starts_with("0100007F:")) << line;
    }
  }
  EXPECT_GE(listeners, 2);  // Gloo's, of both ranks
  kill(process.pid(), SIGINT);
  EXPECT_EQ(process.wait().code, 75);
}

TEST_F(Commands, AHangUpStopsTheRunAndIsNamed) {
  testing::ToolProcess process = start_endless(*folder, "hung");
  kill(process.pid(), SIGHUP);
  EXPECT_EQ(process.wait().code, 75);
  EXPECT_EQ(RunDir::open("hung", folder->path() / "runs").state_reason(), "SIGHUP");
}

}  // namespace
}  // namespace lockstep
