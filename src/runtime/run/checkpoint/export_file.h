// Exports a trained model as one safetensors file, with the run's record in the metadata.
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

// The contents of an export besides its tensors. The tensors are those of a checkpoint's
// model.safetensors: weights, frozen parameters and buffers under the model's own names. Trained
// ones are in f32. The metadata has the other names of tensors, and these keys:
//   lockstep.record    JSON: what setup_to_json makes of a run
//   lockstep.step      the step of the checkpoint
//   lockstep.average   "true" if weights and buffers are averages over the training
//   lockstep.file.F    the file RUN/recipe/F, in base64
//   lockstep.checksum  XXH3-128 of the whole file, computed with 0 in place of these 32 digits
struct Exported {
  nlohmann::json record;
  std::int64_t step = 0;
  bool average = false;
  std::map<std::string, std::string> files;  // contents by name
};

// Returns the files in and below `folder`, which is RUN/recipe. Links are left out. Returns none if
// the folder is missing. Throws Error if a file cannot be read or cannot be exported, or if one of
// the `required` names is missing.
std::map<std::string, std::string> kept_files(const std::filesystem::path& folder,
                                              const std::vector<std::string>& required);

// Writes a checkpoint's tensors, or their average if `exported.average` is true. The file gets its
// name only once it is complete and durable. Throws Error.
void write_export(const std::filesystem::path& file, const CheckpointInfo& checkpoint,
                  const Exported& exported);

// Writes weights for other programs: only the tensors whose names match a pair, under the pair's
// new names. The first matching pair is used. Tensors with several names are stored once, as in
// checkpoints. Returns the number of tensors. Throws Error, also if a pair matches no tensor, or if
// two tensors would get one name.
std::size_t write_renamed(const std::filesystem::path& file, const CheckpointInfo& checkpoint,
                          bool average, const std::vector<NamePair>& names);

// Reads and checks the whole file. Throws Error if it is not a safetensors file, not an export, or
// damaged.
Exported read_export(const std::filesystem::path& file);

// Throws Error if a safetensors file names its own checksum but does not have it. A file without a
// checksum passes.
void check_export(const std::filesystem::path& file);

// These two read only the step, or the checksum, of a file that was checked before.
std::int64_t step_of_export(const std::filesystem::path& file);
std::string checksum_of_export(const std::filesystem::path& file);

}  // namespace lockstep
