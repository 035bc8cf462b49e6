// A trained model as one file: safetensors, with what a run knows of it in the metadata.
#pragma once

#include "plan/parameter_rules.h"
#include "run/checkpoint_index.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep {

// The tensors are those of a checkpoint's model.safetensors: weights, frozen parameters and buffers
// under the model's own names, trained ones in f32. Metadata, beside the other names of tensors:
//   lockstep.record    JSON: what setup_to_json makes of a run
//   lockstep.step      of the checkpoint
//   lockstep.average   "true" where weights and buffers are averages over the training
//   lockstep.file.F    the file RUN/recipe/F, in base64
//   lockstep.checksum  XXH3-128 of the whole file, these 32 digits being 0
struct Exported {
  nlohmann::json record;
  std::int64_t step = 0;
  bool average = false;
  std::map<std::string, std::string> files;  // what they hold, by name
};

// The files below RUN/recipe, which is `folder`, links aside; none where there is no such folder.
// Throws Error for what cannot be read, and where one of these names is missing.
std::map<std::string, std::string> kept_files(const std::filesystem::path& folder,
                                              const std::vector<std::string>& required);

// Writes a checkpoint's tensors, those of its average where `exported.average`. The file gets its
// name when it is whole and on the disk. Throws Error.
void write_export(const std::filesystem::path& file, const CheckpointInfo& checkpoint,
                  const Exported& exported);

// For other programs: the tensors whose names fit a pair, under the pair's new names, and nothing
// else; the first pair that fits counts. Tensors with several names as in checkpoints. Returns how
// many tensors there are. Throws Error: also for a pair that fits none, and for two tensors of one
// name.
std::size_t write_renamed(const std::filesystem::path& file, const CheckpointInfo& checkpoint,
                          bool average, const std::vector<NamePair>& names);

// Reads and checks everything. Throws Error: no safetensors file, no export, damaged.
Exported read_export(const std::filesystem::path& file);

// Throws Error for a safetensors file that names a checksum of its own and has another.
void check_export(const std::filesystem::path& file);

// The step alone, and the checksum, of a file that was checked.
std::int64_t step_of_export(const std::filesystem::path& file);
std::string checksum_of_export(const std::filesystem::path& file);

}  // namespace lockstep
