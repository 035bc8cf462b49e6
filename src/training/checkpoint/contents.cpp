#include "training/checkpoint/contents.h"

namespace lockstep {
namespace {

// Returns the name of the first of `buffers` that is this tensor, or "".
std::string first_name(const std::vector<NamedTensor>& buffers, const at::Tensor& tensor) {
  for (const NamedTensor& buffer : buffers)
    if (buffer.tensor.is_same(tensor)) return buffer.name;
  return "";
}

}  // namespace

std::vector<NamedTensor> unique_buffers(const Trained& trained) {
  std::vector<NamedTensor> unique;
  for (const NamedTensor& buffer : trained.buffers)
    if (first_name(unique, buffer.tensor).empty()) unique.push_back(buffer);
  return unique;
}

std::vector<Alias> parameter_aliases(const ParameterStorage& storage, const std::string& prefix) {
  std::vector<Alias> aliases;
  for (const Alias& alias : storage.aliases())
    aliases.push_back({prefix + alias.name, prefix + alias.of});
  return aliases;
}

std::vector<Alias> buffer_aliases(const Trained& trained) {
  std::vector<Alias> aliases;
  for (const NamedTensor& buffer : trained.buffers)
    if (const std::string first = first_name(trained.buffers, buffer.tensor); first != buffer.name)
      aliases.push_back({buffer.name, first});
  return aliases;
}

}  // namespace lockstep
