// Tensors as safetensors files.
#pragma once

#include "engine/model_parameters.h"
#include "run/checkpoint_writer.h"
#include "run/torch_file.h"

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
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

// Between the names of safetensors ("BF16") and ATen's types; nothing for those that ATen lacks.
// FP8 is read, and never saved.
std::optional<at::ScalarType> stored_dtype(const std::string& name);
std::string dtype_name(at::ScalarType dtype);  // throws Error for those that files lack

// Tensors anywhere in files, which are mapped once each, for as long as this or a tensor lives.
class StoredFiles {
 public:
  StoredFiles();
  ~StoredFiles();
  // A view into the file, or a copy where it does not lie as the processor needs it or is negated;
  // of a dtype that ATen has, and without a fault. Do not write to it. Throws Error if the file is
  // shorter than it was when the tensor was found.
  at::Tensor tensor(const std::filesystem::path& file, const StoredTensor& stored);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Other names in the file's metadata, each with the tensor that it stands for.
std::map<std::string, std::string> read_aliases(const std::filesystem::path& file);

}  // namespace lockstep
