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
// Without `commit`, the destructor removes the temporary folder. checkpoint_index.h lists complete
// checkpoints and removes leftovers of a kill.
class CheckpointWriter {
 public:
  CheckpointWriter(const std::filesystem::path& checkpoints, std::int64_t step);  // throws Error
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  // Appends bytes to a file of the checkpoint and updates its checksum. Throws Error, such as for a
  // full disk. After that, only the destructor may be called. Not thread-safe.
  void append(const std::string& file, const void* data, std::size_t bytes);
  // metrics: copied into the manifest, so that listing checkpoints needs no other file. Replaces an
  // existing checkpoint of the same step. Throws Error.
  CheckpointInfo commit(const nlohmann::json& metrics);

  // A hook for tests, for the whole process. It is called before every write, and may throw to
  // simulate a full disk.
  static std::function<void(const std::filesystem::path&, std::size_t)> fault;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lockstep
