// Lists a run's checkpoints and checks whether their files are complete. Reads no tensors.
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
  double time = 0;                   // unix seconds at which the checkpoint was written
  nlohmann::json metrics = nullptr;  // metrics of the evaluation at that step; may be null
  std::string damage{};  // describes the damage of its files; empty if they are undamaged
};

// Returns the checkpoints, oldest first. If `thorough` is true, reads all files to verify their
// checksums. If false, verifies only their sizes. Temporary folders of interrupted writes are not
// listed.
std::vector<CheckpointInfo> list_checkpoints(const std::filesystem::path& checkpoints,
                                             bool thorough);

// The newest checkpoint whose files have the right sizes and checksums. Calls `skipped` for each
// newer, damaged one.
std::optional<CheckpointInfo> newest_good(
    const std::filesystem::path& checkpoints,
    const std::function<void(const CheckpointInfo&)>& skipped = {});

// Seconds that the run had trained until this checkpoint, including the time before the run was
// resumed. The option stop.budget limits this time. 0 if unknown.
double elapsed_s(const CheckpointInfo& checkpoint);

// Whether the checkpoint was evaluated, so that it can be the best one.
bool is_evaluated(const CheckpointInfo& checkpoint);

// The undamaged checkpoint with the best evaluation, which is the one with the lowest "selection"
// in its metrics. Verifies all checksums. damaged: receives the damaged checkpoints.
std::optional<CheckpointInfo> best_good(const std::filesystem::path& checkpoints,
                                        std::vector<CheckpointInfo>& damaged);

// The checkpoint for prediction and evaluation. If `best` is true, it is the result of best_good.
// If `best` is false, or best_good returns nothing, it is the result of newest_good. skipped:
// receives the damaged checkpoints.
std::optional<CheckpointInfo> checkpoint_to_read(const std::filesystem::path& checkpoints,
                                                 bool best, std::vector<CheckpointInfo>& skipped);
// Throws Error that says why checkpoint_to_read returned nothing. skipped: the damaged checkpoints
// that it reported.
[[noreturn]] void throw_no_checkpoint(const std::string& run,
                                      const std::vector<CheckpointInfo>& skipped);

// Removes the temporary folders of checkpoint writers that were killed. Restores a checkpoint that
// such a writer had moved aside and did not replace. The caller must hold the run's lock. Temporary
// folders stay if their writer is alive, if they contain other files, or if they cannot be deleted.
void remove_leftovers(const std::filesystem::path& checkpoints);

// Deletes a checkpoint. Other processes see it complete or not at all. Throws Error if it cannot be
// deleted. If its folder has a file that CheckpointWriter does not write, throws Error and deletes
// nothing.
void remove_checkpoint(const CheckpointInfo& checkpoint);

}  // namespace lockstep
