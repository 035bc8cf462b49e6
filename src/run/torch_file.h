// Files of torch.save (pytorch_model.bin, .pt, .pth): which tensors they hold, and where. Nothing
// in them is executed (run/pickle.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "run/pickle_names.h"

namespace lockstep {

// A tensor in a file, its elements wherever strides say.
struct StoredTensor {
  std::string name;
  std::string dtype;  // as safetensors calls it: "F32", "BF16", …
  std::vector<std::int64_t> shape{}, strides{};
  std::uint64_t begin = 0;  // byte in the file of element 0
  std::uint64_t bytes = 0;  // from there to the end of the last element; 0 without elements
  bool negated = false;     // its elements are the negatives of what is stored
  // Why it cannot be taken (it is sparse, …): then there is nothing of it but its name.
  const TensorFault* fault = nullptr;
};

struct TorchFile {
  std::vector<StoredTensor> tensors;  // in the order of the state dict
  std::string inside;                 // the key that the state dict lies under; "": under none
};

// A state dict as torch.save writes it, since torch 1.6 (a zip archive) or before: under the key
// "state_dict", "model_state_dict" or "model" of a dict, whatever lies beside it, or else by
// itself. What it holds beside tensors is passed over. Throws Error, saying what is wrong but not
// with which file.
TorchFile read_torch_file(std::istream& in, std::uint64_t file_bytes);
// The same, naming the file.
TorchFile read_torch_file(const std::filesystem::path& file);

}  // namespace lockstep
