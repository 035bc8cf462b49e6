// Writes a checkpoint's files so that the checkpoint exists completely or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "runtime/run/checkpoint/checkpoint_index.h"

namespace lockstep {

// Writes files into a temporary folder next to the other checkpoints. `commit` makes them durable
// and gives the folder its final name:
// 1. It writes the manifest (sizes, XXH3-128 checksums) last.
// 2. It calls fsync for all files and for the folder.
// 3. It renames the folder, and calls fsync for its parent.
//
// Without `commit`, the destructor removes the temporary folder. If the process is killed, the
// folder stays until remove_leftovers (checkpoint_index.h) removes it.
class CheckpointWriter {
 public:
  // throws Error if the folder cannot be created
  CheckpointWriter(const std::filesystem::path& checkpoints, std::int64_t step);
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // Appends bytes to a file of the checkpoint and updates its checksum. Throws Error if writing
  // fails, for example because the disk is full. After an Error, only the destructor may be called.
  // Not thread-safe.
  void append(const std::string& file, const void* data, std::size_t bytes);
  // Completes the checkpoint, as described above. Replaces an existing checkpoint of the same step.
  // metrics: copied into the manifest, so that listing checkpoints reads no other file. Throws
  // Error if writing fails.
  CheckpointInfo commit(const nlohmann::json& metrics);

  // A hook for tests. It is called before every write of every writer in the process. It may throw
  // to simulate a full disk.
  static std::function<void(const std::filesystem::path&, std::size_t)> fault;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep
