// Tensors as safetensors files.
#pragma once

#include "run/checkpoint_index.h"

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

// Appends one safetensors file to a checkpoint. Tensors: contiguous, on the CPU.
void write_tensors(CheckpointWriter& writer, const std::string& file,
                   const std::vector<std::pair<std::string, at::Tensor>>& tensors);

// All tensors of a file, memory-mapped (the map lives as long as any tensor of it; do not write to
// them). Throws Error on malformed files or dtypes that ATen lacks.
std::map<std::string, at::Tensor> map_tensors(const std::filesystem::path& file);

}  // namespace lockstep
