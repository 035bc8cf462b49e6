// Tensors as safetensors files.
#pragma once

#include "runtime/run/checkpoint/checkpoint_writer.h"
#include "runtime/run/formats/torch_file.h"
#include "training/parameters/model_parameters.h"

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

// Appends one safetensors file to a checkpoint. Tensors must be on the CPU. They must be dense, but
// may be permuted in memory. Files hold them contiguous, in the order of their shape. A tensor with
// two names is written once, under the first. The others go into the file's metadata as {other:
// first}, as Python's safetensors.torch.save_model does.
void write_tensors(CheckpointWriter& writer, const std::string& file,
                   const std::vector<std::pair<std::string, at::Tensor>>& tensors,
                   const std::vector<Alias>& aliases = {});

// All tensors of a file, memory-mapped. The mapping lives as long as any of its tensors. Do not
// write to the tensors. Throws Error on malformed files or dtypes that ATen lacks.
std::map<std::string, at::Tensor> map_tensors(const std::filesystem::path& file);

// Converts a dtype name of safetensors ("BF16") to ATen's type. Returns nothing for types that ATen
// lacks. FP8 is read, and never saved.
std::optional<at::ScalarType> stored_dtype(const std::string& name);
std::string dtype_name(at::ScalarType dtype);  // throws Error for types that files lack

// Tensors in several files. Each file is mapped once, for as long as this object or a tensor lives.
class StoredFiles {
 public:
  StoredFiles();
  ~StoredFiles();
  // Returns a view into the file. Returns a copy if the tensor's alignment does not suit the
  // processor or if the tensor is negated. `stored` must have a dtype of ATen and no fault. Do not
  // write to the result. Throws Error if the file is shorter than when the tensor was found.
  at::Tensor tensor(const std::filesystem::path& file, const StoredTensor& stored);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Returns the further names in the file's metadata, each with the name of the tensor that it refers
// to.
std::map<std::string, std::string> read_aliases(const std::filesystem::path& file);

}  // namespace lockstep
