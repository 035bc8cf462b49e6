// Exports a trained model as one safetensors file, with the run's record (run.json) in the
// metadata.
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
// parameters are in f32. If a tensor has several names, the metadata has its other names. The
// metadata also has these keys:
//   lockstep.record    JSON: the run's record, as setup_to_json makes it
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

// Returns the files in and below `folder`, which is RUN/recipe. Links are left out. Returns no
// files if the folder is missing. Throws Error if a file cannot be read or exported, or if a name
// in `required` is missing.
std::map<std::string, std::string> kept_files(const std::filesystem::path& folder,
                                              const std::vector<std::string>& required);

// Writes a checkpoint's tensors, or their averages if `exported.average` is true. The file gets its
// name only once it is complete and durable. Throws Error if reading or writing fails.
void write_export(const std::filesystem::path& file, const CheckpointInfo& checkpoint,
                  const Exported& exported);

// Writes weights for other programs. Only tensors whose names match a pair of `names` are written,
// under the new name that the first matching pair gives. A tensor with several names is stored
// once, as in checkpoints. Returns the number of tensors. Throws Error if a pair matches no tensor,
// if two tensors would get the same name, or if reading or writing fails.
std::size_t write_renamed(const std::filesystem::path& file, const CheckpointInfo& checkpoint,
                          bool average, const std::vector<NamePair>& names);

// Reads and checks the whole file. Throws Error if it is not a safetensors file, not an export, or
// damaged.
Exported read_export(const std::filesystem::path& file);

// Throws Error if the metadata of a safetensors file has a lockstep.checksum that differs from the
// file's checksum. A file without lockstep.checksum is accepted.
void check_export(const std::filesystem::path& file);

// These two functions return the step and the checksum in the metadata. They do not check the file,
// so the caller must have checked it before.
std::int64_t step_of_export(const std::filesystem::path& file);
std::string checksum_of_export(const std::filesystem::path& file);

}  // namespace lockstep
