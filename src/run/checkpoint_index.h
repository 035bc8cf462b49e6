// Checkpoints as files: names, manifests, damage, retention. No tensors here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
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

// Deletes what killed writers left under temporary names, and puts back a checkpoint that one had
// moved aside to replace it. Only with the run locked. Leaves living writers' folders alone; what
// cannot be deleted stays.
void remove_leftovers(const std::filesystem::path& checkpoints);

// Deletes one at once for readers: it is gone or whole, never damaged. Throws Error.
void remove_checkpoint(const CheckpointInfo& checkpoint);

struct Retention {
  std::int64_t keep = 4;      // newest
  double keep_every_s = 0;    // and one each such time; 0 = none
  std::string best_metric{};  // and the best by this; empty = none
  bool lower_is_better = true;
};

// Which to delete, given all good ones oldest first. Never the newest. Damaged ones in `all`
// neither count nor are deleted. Pure, and stable: applying it again to what is left deletes
// nothing more.
std::vector<CheckpointInfo> to_delete(const std::vector<CheckpointInfo>& all,
                                      const Retention& rule);

// Writes files under a temporary name beside `final_path`, then makes them durable and visible at
// once: manifest (sizes, XXH3-128 checksums) last, fsync of all, rename, fsync of the parent.
// A destructor without `commit` removes the temporary folder.
class CheckpointWriter {
 public:
  CheckpointWriter(const std::filesystem::path& checkpoints, std::int64_t step);  // throws Error
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // Appends bytes to a file of the checkpoint; checksums as it goes. Throws Error (no space, …);
  // after that only the destructor may be called. Not thread-safe.
  void append(const std::string& file, const void* data, std::size_t bytes);
  // metrics: copied into the manifest so that listing needs no other file. An existing checkpoint
  // of the same step is replaced.
  CheckpointInfo commit(const nlohmann::json& metrics);

  // Test hook: called before every write, may throw to play a full disk; process-wide.
  static std::function<void(const std::filesystem::path&, std::size_t)> fault;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep
