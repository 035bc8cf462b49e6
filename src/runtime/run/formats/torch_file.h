// Lists the tensors in a file of torch.save (pytorch_model.bin, .pt, .pth), and where their bytes
// are. No code in the file is executed (runtime/run/formats/pickle.h).
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
  std::uint64_t bytes = 0;  // bytes from `begin` to the end of the last element; 0 without elements
  bool negated = false;     // the elements are the negatives of the stored ones
  // Why the tensor cannot be used, for example because it is sparse. Only its name is then set.
  // Null if the tensor can be used.
  const TensorFault* fault = nullptr;
};

struct TorchFile {
  std::vector<StoredTensor> tensors;  // in the order of the state dict
  std::string inside;  // the key under which the state dict lies; empty if it is the whole file
};

// Reads a state dict that torch.save wrote, in the zip format since torch 1.6 or in the older one.
// The state dict may be the whole file, or lie in a dict under the key "state_dict",
// "model_state_dict", "model", "model_state" or "network_weights" (nnU-Net). Entries that are not
// tensors are skipped. Throws Error if the file is damaged or has another format; the message does
// not name the file.
TorchFile read_torch_file(std::istream& in, std::uint64_t file_bytes);
// The same for a path. The message of the Error names the file.
TorchFile read_torch_file(const std::filesystem::path& file);

}  // namespace lockstep
