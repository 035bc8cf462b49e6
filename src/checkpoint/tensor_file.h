// Tensors as safetensors files.
#pragma once

#include "engine/model_parameters.h"
#include "run/checkpoint_writer.h"

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

// Appends one safetensors file to a checkpoint. Tensors: on the CPU; dense in any order of their
// dimensions, and written in that of their shape. A tensor with two names is written once, under
// the first; the others go into the file's metadata as {other: first}, as Python's
// safetensors.torch.save_model does it.
void write_tensors(CheckpointWriter& writer, const std::string& file,
                   const std::vector<std::pair<std::string, at::Tensor>>& tensors,
                   const std::vector<Alias>& aliases = {});

// All tensors of a file, memory-mapped (the map lives as long as any tensor of it; do not write to
// them). Throws Error on malformed files or dtypes that ATen lacks.
std::map<std::string, at::Tensor> map_tensors(const std::filesystem::path& file);

// Other names in the file's metadata, each with the tensor that it stands for.
std::map<std::string, std::string> read_aliases(const std::filesystem::path& file);

}  // namespace lockstep
