// The source of a new run's first weights: a run, a checkpoint's folder, or a folder or file of
// another program. It deals only with files and names, not with tensors.
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
  // A file with the averaged weights of a checkpoint, which replace those tensors. May be empty.
  std::filesystem::path average;
};

// Finds the weights in `from`, which may be one of these:
// - a run: its newest good checkpoint, or with `best` the one with the best evaluation
// - the folder of a checkpoint
// - a folder with model.safetensors or pytorch_model.bin, sharded or not, or with a single shard
//   index or weight file
// - a shard index or weight file
//
// average: uses the averaged weights of a checkpoint if it has them. Reads checkpoints and exports
// completely, to verify their checksums. Throws Error.
WeightSource find_weight_source(const std::filesystem::path& from, bool best, bool average);

// The form in a run's record: {"what", "files": [{"path", "bytes", "xxh3"}], "average"}. hashed:
// reads the files completely to compute "xxh3".
nlohmann::json to_json(const WeightSource& source, bool hashed);
// The inverse. Throws Error if a file is missing or has changed. It compares the size, and the hash
// if "xxh3" is recorded.
WeightSource weight_source_from_json(const nlohmann::json& json);

struct SourceTensor {
  StoredTensor stored;
  std::filesystem::path file;
  bool is_alias = false;  // another name for a tensor of the list
};

// Lists all tensors of a source, under all their names. Throws Error.
std::vector<SourceTensor> read_source(const WeightSource& source);

}  // namespace lockstep
