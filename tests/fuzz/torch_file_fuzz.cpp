// A file of torch.save. Every element of an accepted tensor must lie in the file.
#include "fuzz.h"

#include <sstream>

#include "runtime/run/formats/safetensors.h"
#include "runtime/run/formats/torch_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  std::istringstream file{std::string(fuzz::text_of(data, size))};
  TorchFile found;
  if (!fuzz::accepts([&] { found = read_torch_file(file, size); })) return 0;
  for (const StoredTensor& tensor : found.tensors) {
    LOCKSTEP_CHECK((tensor.fault == nullptr) == !tensor.dtype.empty());
    if (tensor.fault != nullptr) continue;
    LOCKSTEP_CHECK(tensor.begin <= size && tensor.bytes <= size - tensor.begin);
    LOCKSTEP_CHECK(tensor.shape.size() == tensor.strides.size());
    unsigned __int128 last = 0;
    bool empty = false;
    for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
      LOCKSTEP_CHECK(tensor.shape[d] >= 0 && tensor.strides[d] >= 0);
      empty = empty || tensor.shape[d] == 0;
      if (tensor.shape[d] > 0)
        last += static_cast<unsigned __int128>(tensor.shape[d] - 1) *
                static_cast<unsigned __int128>(tensor.strides[d]);
    }
    if (!empty) LOCKSTEP_CHECK((last + 1) * dtype_bytes(tensor.dtype) == tensor.bytes);
  }
  return 0;
}
