// Writes a checkpoint's files so that it exists whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "runtime/run/checkpoint/checkpoint_index.h"

namespace lockstep {

// Writes files into a temporary folder beside the other checkpoints. `commit` makes them durable,
// and visible together under the checkpoint's own name. It writes the manifest (sizes, XXH3-128
// checksums) last, calls fsync for all, renames the folder, and calls fsync for its parent. The
// destructor without `commit` removes the temporary folder. checkpoint_index.h finds checkpoints
// that are whole, and mends what a kill left.
class CheckpointWriter {
 public:
  CheckpointWriter(const std::filesystem::path& checkpoints, std::int64_t step);  // throws Error
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // Appends bytes to a file of the checkpoint and updates its checksum. Throws Error (no space, …);
  // after that only the destructor may be called. Not thread-safe.
  void append(const std::string& file, const void* data, std::size_t bytes);
  // metrics: copied into the manifest, so that listing needs no other file. An existing checkpoint
  // of the same step is replaced.
  CheckpointInfo commit(const nlohmann::json& metrics);

  // Test hook: called before every write; may throw to simulate a full disk. Process-wide.
  static std::function<void(const std::filesystem::path&, std::size_t)> fault;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep
