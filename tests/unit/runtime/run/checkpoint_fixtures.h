// A folder of small checkpoints, and ways to harm them.
#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "run_fixtures.h"
#include "runtime/run/checkpoint/checkpoint_index.h"
#include "runtime/run/checkpoint/checkpoint_writer.h"

namespace lockstep {

class CheckpointsTest : public ::testing::Test {
 protected:
  ~CheckpointsTest() override { CheckpointWriter::fault = {}; }

  static std::string content(std::int64_t step, int generation) {
    return "weights of step " + std::to_string(step) + ", " + std::to_string(generation) +
           std::string(2000, 'w');
  }
  CheckpointInfo write(std::int64_t step, int generation = 0,
                       const nlohmann::json& metrics = nullptr) {
    CheckpointWriter writer(folder, step);
    const std::string weights = content(step, generation);
    writer.append("model.safetensors", weights.data(), 100);
    writer.append("optimizer.safetensors", "state", 5);
    writer.append("model.safetensors", weights.data() + 100, weights.size() - 100);
    writer.append("state.json", "{}", 2);
    return writer.commit(metrics);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
  std::optional<std::int64_t> newest() const {
    const auto found = newest_good(folder);
    return found ? std::optional(found->step) : std::nullopt;
  }

  TemporaryDirectory temporary;
  std::filesystem::path folder = temporary.path() / "checkpoints";
};

inline const char* const checkpoint_files[] = {"model.safetensors", "optimizer.safetensors",
                                               "state.json", "manifest.json"};

}  // namespace lockstep
