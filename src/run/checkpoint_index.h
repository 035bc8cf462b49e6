// Checkpoints as files: which there are, and whether they are whole. No tensors here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// checkpoints/step-000001234/{model.safetensors, optimizer.safetensors, state.json, manifest.json}
struct CheckpointInfo {
  std::filesystem::path path{};
  std::int64_t step = 0;
  std::uint64_t size_bytes = 0;
  double time = 0;                   // unix seconds it was written
  nlohmann::json metrics = nullptr;  // of the evaluation that went with it; may be null
  std::string damage{};              // empty = good; else what is wrong, in words
};

// Oldest first. thorough: also checks checksums (reads everything); otherwise sizes only.
// Temporary folders of interrupted writes are not listed.
std::vector<CheckpointInfo> list_checkpoints(const std::filesystem::path& checkpoints,
                                             bool thorough);

// The newest that passes every check. Calls `skipped` for each newer one that does not.
std::optional<CheckpointInfo> newest_good(
    const std::filesystem::path& checkpoints,
    const std::function<void(const CheckpointInfo&)>& skipped = {});

// Among those that pass every check, the one whose evaluation ("selection" in its metrics, where
// less is better) was best. damaged gets those that do not pass.
std::optional<CheckpointInfo> best_good(const std::filesystem::path& checkpoints,
                                        std::vector<CheckpointInfo>& damaged);

// What predicts and evaluates: the best where that is asked for and one is known, else the newest
// good one. skipped gets the damaged ones that were passed over.
std::optional<CheckpointInfo> checkpoint_to_read(const std::filesystem::path& checkpoints,
                                                 bool best, std::vector<CheckpointInfo>& skipped);
// Where there is none, says why.
[[noreturn]] void throw_no_checkpoint(const std::string& run,
                                      const std::vector<CheckpointInfo>& skipped);

// Deletes what killed writers left under temporary names, and puts back a checkpoint that one had
// moved aside to replace it. Only with the run locked. Leaves living writers' folders alone, and
// those that hold anything but a checkpoint's files; what cannot be deleted stays.
void remove_leftovers(const std::filesystem::path& checkpoints);

// Deletes one at once for readers: it is gone or whole, never damaged. Throws Error, also where
// its folder holds anything that is no file of a checkpoint: such a one stays.
void remove_checkpoint(const CheckpointInfo& checkpoint);

}  // namespace lockstep
