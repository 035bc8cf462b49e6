// A trained model as one safetensors file, with the run's facts in the metadata.
#pragma once

#include "planning/options/parameter_rules.h"
#include "runtime/run/checkpoint/checkpoint_index.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep {

// The tensors are those of a checkpoint's model.safetensors: weights, frozen parameters and buffers
// under the model's own names, trained ones in f32. Metadata, besides the other names of tensors:
//   lockstep.record    JSON: what setup_to_json makes of a run
//   lockstep.step      of the checkpoint
//   lockstep.average   "true" if weights and buffers are averages over the training
//   lockstep.file.F    the file RUN/recipe/F, in base64
//   lockstep.checksum  XXH3-128 of the whole file, these 32 digits being 0
struct Exported {
  nlohmann::json record;
  std::int64_t step = 0;
  bool average = false;
  std::map<std::string, std::string> files;  // contents by name
};

// The files below RUN/recipe, which is `folder`, without links; none if the folder is missing.
// Throws Error for an unreadable file, and if one of the `required` names is missing.
std::map<std::string, std::string> kept_files(const std::filesystem::path& folder,
                                              const std::vector<std::string>& required);

// Writes a checkpoint's tensors, or their average if `exported.average`. The file gets its name
// only once it is whole and on the disk. Throws Error.
void write_export(const std::filesystem::path& file, const CheckpointInfo& checkpoint,
                  const Exported& exported);

// For other programs: writes only the tensors whose names match a pair, under the pair's new names.
// The first matching pair counts. Tensors with several names are written as in checkpoints. Returns
// the number of tensors. Throws Error, also for a pair that matches none, and for two tensors of
// one name.
std::size_t write_renamed(const std::filesystem::path& file, const CheckpointInfo& checkpoint,
                          bool average, const std::vector<NamePair>& names);

// Reads and checks everything. Throws Error if it is not a safetensors file, not an export, or
// damaged.
Exported read_export(const std::filesystem::path& file);

// Throws Error for a safetensors file that names its own checksum but has another.
void check_export(const std::filesystem::path& file);

// Both read only the step, or the checksum, of a file that was checked before.
std::int64_t step_of_export(const std::filesystem::path& file);
std::string checksum_of_export(const std::filesystem::path& file);

}  // namespace lockstep
