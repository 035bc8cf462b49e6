// Where a new run's first weights may come from: a run, a checkpoint's folder, a folder or a file
// of other programs. Files and names; no tensors here.
#pragma once

#include "run/torch_file.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep {

struct WeightSource {
  std::string what;  // for messages: "checkpoint step-000000100 of the run a"
  std::vector<std::filesystem::path> files;
  // A checkpoint's average of the weights: what it holds counts in place of the others; or empty.
  std::filesystem::path average;
};

// from: a run (its newest good checkpoint, or with `best` the one whose evaluation was best), a
// checkpoint's folder, one with model.safetensors or pytorch_model.bin, in pieces or not, or with a
// single index of pieces or file of weights, or such a file. average: takes a checkpoint's, where
// it has one. Reads checkpoints and exports whole, to be sure that they are not damaged. Throws
// Error.
WeightSource find_weight_source(const std::filesystem::path& from, bool best, bool average);

// As the record of a run holds it: {"what", "files": [{"path", "bytes", "xxh3"}], "average"}.
// hashed: reads the files whole for "xxh3".
nlohmann::json to_json(const WeightSource& source, bool hashed);
// The inverse. Throws Error for a file that is not there, or of other bytes: its size, and where
// "xxh3" is recorded all of it.
WeightSource weight_source_from_json(const nlohmann::json& json);

struct SourceTensor {
  StoredTensor stored;
  std::filesystem::path file;
  bool is_alias = false;  // another name for one of the others
};

// All tensors of a source under all their names. Throws Error.
std::vector<SourceTensor> read_source(const WeightSource& source);

}  // namespace lockstep
