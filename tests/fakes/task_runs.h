// Runs of a plugin's recipes by the real tool; by default those of
// tests/process/tasks/tasks_plugin.cpp.
#pragma once

#include "checkout_paths.h"
#include "fakes/events_of.h"
#include "fakes/tool.h"
#include "runtime/run/events/samples.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep::testing {

class TaskRuns : public ::testing::Test {
 protected:
  using Words = std::vector<std::string>;
  explicit TaskRuns(const std::string& library = "tasks-plugin")
      : plugin(std::string(LOCKSTEP_BUILD_DIR) + "/tests/lib" + library + ".so") {}

  Words train_words(const std::string& recipe, const std::string& name, const std::string& devices,
                    const Words& more) const {
    Words words{"train",     recipe,   "--plugin",
                plugin,      "--name", name,
                "--devices", devices,  "run.record_samples=true"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  ToolResult train(const std::string& recipe, const std::string& name, const std::string& devices,
                   const Words& more) const {
    return run_tool(train_words(recipe, name, devices, more), folder.path());
  }
  std::filesystem::path run(const std::string& name) const { return folder.path() / "runs" / name; }
  std::vector<nlohmann::json> events(const std::string& name, const std::string& kind) const {
    return events_of(run(name) / "events.jsonl", kind);
  }
  // A step that a resume repeats stands for the one before.
  std::map<std::int64_t, nlohmann::json> steps(const std::string& name) const {
    std::map<std::int64_t, nlohmann::json> all;
    for (const nlohmann::json& event : events(name, "step")) all[event.at("step")] = event;
    return all;
  }
  void expect_same_curve(const std::string& name, const std::string& whole,
                         double tolerance = 2e-4) const {
    EXPECT_TRUE(effective_samples(run(name)) == effective_samples(run(whole))) << name;
    const auto these = steps(name), those = steps(whole);
    ASSERT_EQ(these.size(), those.size());
    for (const auto& [step, event] : those) {
      const nlohmann::json& other = these.at(step);
      for (const char* key : {"loss", "grad_norm"})
        EXPECT_NEAR(other.at(key).get<double>(), event.at(key).get<double>(),
                    tolerance * event.at(key).get<double>())
            << key << " of step " << step << " of " << name;
    }
  }

  const TemporaryDirectory folder;
  const std::string plugin;
  // Ragged rows, two terms, a frozen part, and statistics over 12 rows.
  const Words of_sync{"norm.statistics=sync", "norm.rows=12",           "train.freeze=trunk.*",
                      "batch.global=24",      "schedule.kind=constant", "precision=fp32"};
};

}  // namespace lockstep::testing
