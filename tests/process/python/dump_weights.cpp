// Writes what init.from finds as one safetensors file: dump-weights SOURCE OUT.safetensors.
#include "core/base/error.h"
#include "runtime/run/checkpoint/weight_source.h"
#include "runtime/run/formats/safetensors.h"
#include "training/checkpoint/tensor_file.h"

#include <fstream>
#include <iostream>

namespace lockstep {
namespace {

void dump_weights(const std::filesystem::path& from, const std::filesystem::path& out) {
  std::vector<TensorEntry> entries;
  std::vector<at::Tensor> tensors;
  StoredFiles files;
  for (const SourceTensor& tensor : read_source(find_weight_source(from, false, false))) {
    const StoredTensor& stored = tensor.stored;
    if (tensor.is_alias) continue;
    if (stored.fault != nullptr)
      throw Error(stored.name + " " + stored.fault->what, stored.fault->hint);
    entries.push_back({.name = stored.name, .dtype = stored.dtype, .shape = stored.shape});
    tensors.push_back(files.tensor(tensor.file, stored).contiguous());
  }
  std::ofstream file(out, std::ios::binary);
  file << make_header(entries, {});
  for (const at::Tensor& tensor : tensors)
    file.write(static_cast<const char*>(tensor.const_data_ptr()),
               static_cast<std::streamsize>(tensor.nbytes()));
}

}  // namespace
}  // namespace lockstep

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    lockstep::dump_weights(argv[1], argv[2]);
  } catch (const lockstep::Error& error) {
    std::cerr << "error: " << error.what() << "\n\nhint: " << error.hint() << "\n";
    return 1;
  }
  return 0;
}
