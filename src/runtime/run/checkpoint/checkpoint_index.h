// Checkpoints as files: which exist, and whether they are whole. No tensors here.
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
  double time = 0;                   // unix seconds when it was written
  nlohmann::json metrics = nullptr;  // of the evaluation at that step; may be null
  std::string damage{};              // empty = good; otherwise the damage, in words
};

// Returns the checkpoints, oldest first. thorough: also verifies checksums (reads everything);
// otherwise sizes only. Temporary folders of interrupted writes are not listed.
std::vector<CheckpointInfo> list_checkpoints(const std::filesystem::path& checkpoints,
                                             bool thorough);

// The newest checkpoint that passes every check. Calls `skipped` for each newer one that does not.
std::optional<CheckpointInfo> newest_good(
    const std::filesystem::path& checkpoints,
    const std::function<void(const CheckpointInfo&)>& skipped = {});

// Seconds that the run had trained over all its starts, which stop.budget counts; 0: unknown.
double elapsed_s(const CheckpointInfo& checkpoint);

// Whether it was evaluated, so that it can be the best.
bool is_evaluated(const CheckpointInfo& checkpoint);

// The checkpoint with the best evaluation ("selection" in its metrics, less is better) among those
// that pass every check. damaged: gets those that do not pass.
std::optional<CheckpointInfo> best_good(const std::filesystem::path& checkpoints,
                                        std::vector<CheckpointInfo>& damaged);

// The checkpoint for predicting and evaluating: the best if requested and known, otherwise the
// newest good one. skipped: gets the damaged ones that were skipped.
std::optional<CheckpointInfo> checkpoint_to_read(const std::filesystem::path& checkpoints,
                                                 bool best, std::vector<CheckpointInfo>& skipped);
// Throws Error that says why there is none.
[[noreturn]] void throw_no_checkpoint(const std::string& run,
                                      const std::vector<CheckpointInfo>& skipped);

// Deletes leftovers of killed writers under temporary names, and restores a checkpoint that such a
// writer had moved aside to replace it. Call it only with the run locked. Folders of living writers
// stay, and so do folders that hold anything but a checkpoint's files. Folders that cannot be
// deleted stay too.
void remove_leftovers(const std::filesystem::path& checkpoints);

// Deletes a checkpoint. Readers find it whole or not at all. Throws Error, also if its folder holds
// a file that is not a checkpoint's. That checkpoint stays.
void remove_checkpoint(const CheckpointInfo& checkpoint);

}  // namespace lockstep
