// Checkpoints back into a model.
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "runtime/run/events/json_lines.h"
#include "training/checkpoint/contents.h"
#include "training/checkpoint/snapshot.h"
#include "training/checkpoint/tensor_file.h"

#include <ATen/core/grad_mode.h>

#include <map>
#include <string>
#include <utility>

namespace lockstep {
namespace {

// The tensors of a file under all their names.
struct File {
  std::filesystem::path path;
  std::map<std::string, at::Tensor> tensors;
  std::map<std::string, std::string> aliases;

  explicit File(std::filesystem::path file)
      : path(std::move(file)), tensors(map_tensors(path)), aliases(read_aliases(path)) {}

  std::map<std::string, at::Tensor>::const_iterator look_up(const std::string& name) const {
    const auto alias = aliases.find(name);
    return tensors.find(alias == aliases.end() ? name : alias->second);
  }

  const at::Tensor& find(const std::string& name, at::IntArrayRef sizes) const {
    const auto found = look_up(name);
    if (found == tensors.end())
      throw Error(cat(path.string(), " is a checkpoint of another model: it has no ", name),
                  "resume with the options that the run was started with");
    if (found->second.sizes() != sizes)
      throw Error(cat(path.string(), " is a checkpoint of another model: ", name,
                      " must have shape ", sizes, ", but has ", found->second.sizes()),
                  "resume with the options that the run was started with");
    return found->second;
  }
};

// Each trained parameter's tensor of that name, in the model's order.
template <class Function>
void for_each(const ParameterStorage& storage, const std::string& prefix, const File& file,
              const Function& function) {
  for (std::size_t i = 0; i < storage.parameters().size(); ++i) {
    const Parameter& parameter = storage.parameters()[i];
    function(i, file.find(prefix + parameter.name, parameter.tensor.sizes()));
  }
}

void fill(const ParameterStorage& storage, const at::Tensor& flat, const std::string& prefix,
          const File& file) {
  for_each(storage, prefix, file,
           [&](std::size_t i, const at::Tensor& values) { storage.write(flat, i, values); });
}

void restore_model(const File& file, const Trained& trained) {
  ParameterStorage& storage = trained.storage;
  const std::vector<NamedTensor> buffers = unique_buffers(trained);
  const std::size_t known = storage.parameters().size() + storage.frozen().size() + buffers.size();
  if (file.tensors.size() != known)
    throw Error(cat(file.path.string(), " is a checkpoint of another model: it has ",
                    file.tensors.size(), " tensors, the model ", known),
                "resume with the options that the run was started with");
  for_each(storage, "", file,
           [&](std::size_t i, const at::Tensor& values) { storage.set_weights(i, values); });
  FrozenParameters& frozen = storage.frozen();
  for (std::size_t i = 0; i < frozen.size(); ++i)
    frozen.set(i, file.find(frozen.name(i), frozen.tensor(i).sizes()));
  for (const NamedTensor& buffer : buffers) {
    at::Tensor target = buffer.tensor;
    target.copy_(file.find(buffer.name, target.sizes()));
  }
}

// Restores it for the parameters that have it.
void restore_state(const StateBuffer& state, const File& file, const ParameterStorage& storage) {
  for (std::size_t i = 0; i < storage.parameters().size(); ++i) {
    const Parameter& parameter = storage.parameters()[i];
    if (!state.has(i)) continue;
    const std::string name = state.name() + "." + parameter.name;
    if (file.look_up(name) == file.tensors.end())
      throw Error(
          cat(file.path.string(), " holds the state of another optimizer: it has no ", name),
          "resume with the optimizer.kind that the run was started with");
    state.fill(i, file.find(name, parameter.tensor.sizes()));
  }
}

void restore_optimizer(const File& file, const nlohmann::json& state, const Trained& trained) {
  // A rule that kept nothing, as SGD without momentum, leaves the state of another at its zeros.
  if (!file.tensors.empty())
    for (const StateBuffer& one : trained.optimizer->states())
      restore_state(one, file, trained.storage);
  for (auto& [name, scalar] : trained.optimizer->scalar_state()) {
    at::Tensor target = scalar;
    if (state.contains("optimizer") && state["optimizer"].contains(name))
      target.fill_(state["optimizer"][name].get<double>());
  }
}

}  // namespace

nlohmann::json read_checkpoint_state(const CheckpointInfo& checkpoint) {
  const std::filesystem::path file = checkpoint.path / "state.json";
  nlohmann::json state = parse_object(read_file(file));
  if (state.is_discarded() || !state.contains("step") || !state["step"].is_number_integer())
    throw Error(cat(file.string(), " is damaged: it is no JSON object with a step"),
                "use an older checkpoint");
  return state;
}

bool restore_average(const CheckpointInfo& checkpoint, const ParameterStorage& storage,
                     const at::Tensor& flat, const std::vector<NamedTensor>& buffers) {
  const std::filesystem::path path = checkpoint.path / average_file;
  if (!std::filesystem::exists(path)) return false;
  const at::NoGradGuard no_grad;
  const File file(path);
  fill(storage, flat, "", file);
  for (const NamedTensor& buffer : buffers)
    if (file.tensors.contains(buffer.name))
      at::Tensor(buffer.tensor).copy_(file.find(buffer.name, buffer.tensor.sizes()));
  return true;
}

void restore_weights(const std::filesystem::path& file, const Trained& trained) {
  const at::NoGradGuard no_grad;
  restore_model(File(file), trained);
}

nlohmann::json restore(const CheckpointInfo& checkpoint, const Trained& trained) {
  const at::NoGradGuard no_grad;
  restore_model(File(checkpoint.path / model_file), trained);
  nlohmann::json state = read_checkpoint_state(checkpoint);
  if (trained.optimizer == nullptr) return state;
  restore_optimizer(File(checkpoint.path / optimizer_file), state, trained);
  if (WeightAverage* average = trained.optimizer->average())
    if (!restore_average(checkpoint, trained.storage, average->flat(), average->buffers()))
      average->restart();
  return state;
}

}  // namespace lockstep
