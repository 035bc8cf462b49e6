// Sources of a new run's first weights: a run, a checkpoint's folder, a folder or a file of other
// programs. Only files and names; no tensors here.
#pragma once

#include "runtime/run/formats/torch_file.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lockstep {

struct WeightSource {
  std::string what;  // for messages: "checkpoint step-000000100 of the run a"
  std::vector<std::filesystem::path> files;
  // A file with a checkpoint's average of the weights, which replaces those tensors; or empty.
  std::filesystem::path average;
};

// from: one of these. A run: its newest good checkpoint, or with `best` the one with the best
// evaluation. A checkpoint's folder. A folder with model.safetensors or pytorch_model.bin, sharded
// or not, or with a single shard index or weight file. Such a file itself. average: uses a
// checkpoint's average if it has one. Reads checkpoints and exports whole, to be sure that they are
// not damaged. Throws Error.
WeightSource find_weight_source(const std::filesystem::path& from, bool best, bool average);

// As stored in a run's record: {"what", "files": [{"path", "bytes", "xxh3"}], "average"}. hashed:
// reads the files whole for "xxh3".
nlohmann::json to_json(const WeightSource& source, bool hashed);
// The inverse. Throws Error if a file is missing or has changed: its size, and if "xxh3" is
// recorded, its bytes.
WeightSource weight_source_from_json(const nlohmann::json& json);

struct SourceTensor {
  StoredTensor stored;
  std::filesystem::path file;
  bool is_alias = false;  // another name for a tensor of the list
};

// All tensors of a source, under all their names. Throws Error.
std::vector<SourceTensor> read_source(const WeightSource& source);

}  // namespace lockstep
