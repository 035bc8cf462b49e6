// The source of a new run's initial weights: a run, a checkpoint's folder, or a folder or file of
// another program. This header deals only with files and names, not with tensors.
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
  // The file with the averaged weights of a checkpoint. They replace the tensors of the same names.
  // Empty if averages are not used.
  std::filesystem::path average;
};

// Finds the weights in `from`, which may be one of these:
// - a run: its newest undamaged checkpoint, or with `best` the one with the best evaluation
// - the folder of a checkpoint
// - a folder with model.safetensors or pytorch_model.bin, sharded or not
// - a folder with exactly one shard index or weight file, or such a file itself
//
// average: uses the averaged weights of a checkpoint if it has them. Reads checkpoints and exports
// completely, to verify their checksums. Throws Error if it finds no weights, or if they are
// damaged.
WeightSource find_weight_source(const std::filesystem::path& from, bool best, bool average);

// The source as run.json records it: {"what", "files": [{"path", "bytes", "xxh3"}], "average"}.
// hashed: reads the files completely to compute "xxh3"; if false, "xxh3" is left out.
nlohmann::json to_json(const WeightSource& source, bool hashed);
// The inverse of to_json. Throws Error if a file is missing, if its size differs, or if "xxh3" is
// recorded and its hash differs.
WeightSource weight_source_from_json(const nlohmann::json& json);

struct SourceTensor {
  StoredTensor stored;
  std::filesystem::path file;
  bool is_alias = false;  // the name is another name of a tensor that is also in the list
};

// Lists all tensors of a source, under all their names. Throws Error if a file cannot be read, or
// if two files have a tensor of the same name.
std::vector<SourceTensor> read_source(const WeightSource& source);

}  // namespace lockstep
