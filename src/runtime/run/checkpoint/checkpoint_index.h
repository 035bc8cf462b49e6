// Checkpoints as files: lists them and checks whether they are complete. It uses no tensors.
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
  double time = 0;                   // unix seconds at which it was written
  nlohmann::json metrics = nullptr;  // metrics of the evaluation at that step; may be null
  std::string damage{};              // describes the damage; empty if there is none
};

// Returns the checkpoints, oldest first. If `thorough` is true, verifies checksums, for which it
// reads all files. If false, verifies only sizes. Temporary folders of interrupted writes are not
// listed.
std::vector<CheckpointInfo> list_checkpoints(const std::filesystem::path& checkpoints,
                                             bool thorough);

// The newest checkpoint that passes every check. Calls `skipped` for each newer one that does not.
std::optional<CheckpointInfo> newest_good(
    const std::filesystem::path& checkpoints,
    const std::function<void(const CheckpointInfo&)>& skipped = {});

// Seconds that the run had trained in all its starts, which stop.budget limits. 0 if unknown.
double elapsed_s(const CheckpointInfo& checkpoint);

// Whether it was evaluated, so that it can be the best.
bool is_evaluated(const CheckpointInfo& checkpoint);

// The checkpoint with the best evaluation among those that pass every check. The best one has the
// lowest "selection" in its metrics. damaged: receives those that do not pass.
std::optional<CheckpointInfo> best_good(const std::filesystem::path& checkpoints,
                                        std::vector<CheckpointInfo>& damaged);

// The checkpoint for prediction and evaluation. If `best` is true, the best one; if there is none,
// or `best` is false, the newest good one. skipped: receives the damaged ones.
std::optional<CheckpointInfo> checkpoint_to_read(const std::filesystem::path& checkpoints,
                                                 bool best, std::vector<CheckpointInfo>& skipped);
// Throws Error with the reason why there is none.
[[noreturn]] void throw_no_checkpoint(const std::string& run,
                                      const std::vector<CheckpointInfo>& skipped);

// Removes leftovers of killed writers. Deletes their temporary folders. Restores a checkpoint that
// such a writer had moved aside and did not replace. The caller must hold the run's lock. Folders
// of living writers stay. Folders with any other files stay, and so do folders that cannot be
// deleted.
void remove_leftovers(const std::filesystem::path& checkpoints);

// Deletes a checkpoint. Readers find it complete or not at all. Throws Error, and keeps the
// checkpoint, if its folder holds a file that CheckpointWriter does not write.
void remove_checkpoint(const CheckpointInfo& checkpoint);

}  // namespace lockstep
