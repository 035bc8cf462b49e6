// Writes tensors to safetensors files and reads them.
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

// Adds one safetensors file to a checkpoint. The tensors must be on the CPU. They may have any
// strides; the file holds them contiguous. A tensor with several names is written once, under its
// first name. The file's metadata holds {other name: first name}, as Python's
// safetensors.torch.save_model writes it.
void write_tensors(CheckpointWriter& writer, const std::string& file,
                   const std::vector<std::pair<std::string, at::Tensor>>& tensors,
                   const std::vector<Alias>& aliases = {});

// Returns all tensors of a file, memory-mapped. The mapping exists as long as any of its tensors.
// Do not write to the tensors. Throws Error if the file is malformed or has a dtype that ATen
// lacks.
std::map<std::string, at::Tensor> map_tensors(const std::filesystem::path& file);

// Converts a dtype name of safetensors, such as "BF16", to ATen's dtype. Returns nothing if ATen
// lacks the dtype. FP8 tensors can be read, but cannot be saved.
std::optional<at::ScalarType> stored_dtype(const std::string& name);
std::string dtype_name(at::ScalarType dtype);  // throws Error if the dtype cannot be saved

// Reads tensors from several files. Each file is mapped once. The mapping exists as long as this
// object or any tensor of the file.
class StoredFiles {
 public:
  StoredFiles();
  ~StoredFiles();
  // Returns a view into the mapped file. If the tensor is not aligned in the file or is stored
  // negated, returns a copy. `stored` must have no fault. Do not write to the result. Throws Error
  // in these cases: the file cannot be opened, the file is shorter than when `stored` was read, or
  // ATen lacks the dtype.
  at::Tensor tensor(const std::filesystem::path& file, const StoredTensor& stored);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Returns {other name: first name} for all tensors with several names, from the file's metadata.
std::map<std::string, std::string> read_aliases(const std::filesystem::path& file);

}  // namespace lockstep
