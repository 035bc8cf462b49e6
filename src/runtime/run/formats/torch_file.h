// Files of torch.save (pytorch_model.bin, .pt, .pth): which tensors they hold, and where. Nothing
// in them is executed (runtime/run/formats/pickle.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "runtime/run/formats/pickle_names.h"

namespace lockstep {

// A tensor in a file, with strided elements.
struct StoredTensor {
  std::string name;
  std::string dtype;  // the name in safetensors: "F32", "BF16", …
  std::vector<std::int64_t> shape{}, strides{};
  std::uint64_t begin = 0;  // offset of element 0 in the file, in bytes
  std::uint64_t bytes = 0;  // from there to the end of the last element; 0 without elements
  bool negated = false;     // the elements are the negatives of the stored ones
  // Why it cannot be used (it is sparse, …); then only its name is set.
  const TensorFault* fault = nullptr;
};

struct TorchFile {
  std::vector<StoredTensor> tensors;  // in the order of the state dict
  std::string inside;                 // the key of the state dict; "" if it is at the top
};

// Reads a state dict written by torch.save, in the format of torch 1.6 and later (a zip archive) or
// the older one. It may be under the key "state_dict", "model_state_dict", "model", "model_state"
// or "network_weights" (of nnU-Net) of a dict, or be the whole file. Entries that are not tensors
// are skipped. Throws Error that does not name the file.
TorchFile read_torch_file(std::istream& in, std::uint64_t file_bytes);
// The same, naming the file.
TorchFile read_torch_file(const std::filesystem::path& file);

}  // namespace lockstep
