// Training whose files are watched, harmed, or lost with the power.
#pragma once

#include "checkout_paths.h"
#include "fakes/tool.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/events/samples.h"
#include "runtime/run/folder/run_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

using Words = std::vector<std::string>;

class AttackedRun : public ::testing::Test {
 protected:
  static constexpr std::int64_t total_steps = 16;

  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "a sanitizer must be loaded first";
#endif
    std::filesystem::create_directories(runs);
  }
  Words train(const std::string& name, const Words& more = {}) const {
    Words words{testing::program("lockstep"),
                "train",
                "faulty",
                "--plugin",
                std::string(LOCKSTEP_BUILD_DIR) + "/tests/libfaulty-plugin.so",
                "--devices",
                "cpu:2",
                "--name",
                name,
                "run.root=" + runs.string(),
                "stop.steps=" + std::to_string(total_steps),
                "batch.global=48",
                "checkpoint.every_steps=2",
                "checkpoint.keep=2",
                "eval.every_steps=8",
                "data.threads=1",
                "run.record_samples=true"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  Words resume(const std::string& name, const Words& more = {}) const {
    Words words{testing::program("lockstep"), "resume", (runs / name).string(), "--devices",
                "cpu:2"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  // files: what fakes/watched_files.cpp is to do.
  testing::ToolResult run(const Words& words, const std::string& files = "",
                          const std::string& trace = "", std::filesystem::path below = {}) const {
    if (below.empty()) below = runs;
    return testing::ToolProcess(words, folder.path(), watched(files, trace, below)).wait();
  }
  static std::map<std::string, std::string> watched(const std::string& files,
                                                    const std::string& trace,
                                                    const std::filesystem::path& below) {
    return {{"LD_PRELOAD", testing::preloadable("tests/libwatched-files.so")},
            {"LOCKSTEP_TEST_FILES_BELOW", below.string()},
            {"LOCKSTEP_TEST_FILES_TRACE", trace},
            {"LOCKSTEP_TEST_FILES", files}};
  }
  // The newest checkpoint that the run's events, as they are now, call saved; -1: none.
  static std::int64_t reported(const std::filesystem::path& run) {
    std::int64_t newest = -1;
    if (!std::filesystem::exists(run / "events.jsonl")) return newest;
    for_each_line(run / "events.jsonl", [&](const std::string& line) {
      const nlohmann::json event = parse_object(line);
      if (text_or(event, "kind", "") == "checkpoint")
        newest = std::max(newest, integer_or(event, "step", -1));
    });
    return newest;
  }
  static std::string weights(const std::filesystem::path& run) {
    const auto newest = newest_good(run / "checkpoints");
    return newest ? read_file(newest->path / "model.safetensors") : "";
  }
  // The same run without an attack, in the folder of this test, trained once for all tests of the
  // process.
  void train_whole() {
    static const TemporaryDirectory kept;
    const std::filesystem::path trained = kept.path() / "whole";
    if (!std::filesystem::exists(trained)) {
      const testing::ToolResult whole = run(train("whole"));
      ASSERT_EQ(whole.code, 0) << whole.err;
      std::filesystem::copy(runs / "whole", trained, std::filesystem::copy_options::recursive);
    }
    if (!std::filesystem::exists(runs / "whole"))
      std::filesystem::copy(trained, runs / "whole", std::filesystem::copy_options::recursive);
    whole_samples = effective_samples(runs / "whole");
    whole_weights = weights(runs / "whole");
    ASSERT_EQ(whole_samples.size(), static_cast<std::size_t>(total_steps));
  }
  void expect_whole(const std::string& name) const {
    const auto newest = newest_good(runs / name / "checkpoints");
    ASSERT_TRUE(newest);
    EXPECT_EQ(newest->step, total_steps);
    EXPECT_EQ(effective_samples(runs / name), whole_samples);
    EXPECT_EQ(weights(runs / name), whole_weights);
  }

  TemporaryDirectory folder;
  std::filesystem::path runs = std::filesystem::canonical(folder.path()) / "runs";
  std::vector<std::vector<std::int64_t>> whole_samples;
  std::string whole_weights;
};

}  // namespace lockstep
