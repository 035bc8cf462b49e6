// Restores a model and its optimizer from checkpoints.
#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "planning/options/optimizers.h"
#include "runtime/run/events/json_lines.h"
#include "training/checkpoint/contents.h"
#include "training/checkpoint/snapshot.h"
#include "training/checkpoint/tensor_file.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {
namespace {

// The tensors of a file, with all their names.
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

// Calls `function` for each trained parameter with its tensor in the file, in the model's order.
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

// The names of all states that an optimizer of this kind may keep.
std::set<std::string> possible_states(OptimizerKind kind) {
  TrainOptions options;
  options.optimizer.kind = kind;
  options.optimizer.momentum = 0.9;  // without momentum, sgd has no state
  std::set<std::string> names;
  for (const OptimizerState& state : optimizer_states(options)) names.insert(state.name);
  return names;
}

// The kinds of optimizers that may have written the file. They keep all of its states, and as few
// others as possible.
std::vector<std::string> kinds_of(const File& file) {
  std::set<std::string> saved;
  for (const auto& [name, tensor] : file.tensors) saved.insert(name.substr(0, name.find('.')));
  std::vector<std::string> kinds;
  std::size_t fewest = 0;
  for (const auto& [kind, word] : EnumNames<OptimizerKind>::value) {
    const std::set<std::string> states = possible_states(kind);
    if (!std::includes(states.begin(), states.end(), saved.begin(), saved.end())) continue;
    if (!kinds.empty() && states.size() > fewest) continue;
    if (states.size() < fewest) kinds.clear();
    fewest = states.size();
    kinds.emplace_back(word);
  }
  return kinds;
}

std::string name_of(OptimizerKind kind) {
  for (const auto& [value, word] : EnumNames<OptimizerKind>::value)
    if (value == kind) return word;
  LOCKSTEP_CHECK(false);
}

const char* const weights_alone =
    "; for the weights alone begin a new run with init.from=RUN or init.from=CHECKPOINT";

// Throws Error if another kind of optimizer has written the file.
void require_kind(OptimizerKind kind, const File& file) {
  const std::vector<std::string> saved = kinds_of(file);
  const std::string own = name_of(kind);
  if (std::find(saved.begin(), saved.end(), own) != saved.end()) return;
  throw Error(cat(file.path.string(), " holds the state of another optimizer",
                  saved.empty() ? "" : cat(" (optimizer.kind=", join(saved, " or "), ")"),
                  ", not that of ", own),
              cat("resume with the optimizer.kind that the run was started with", weights_alone));
}

// Throws Error unless the file has this state of the parameter. The error says whether the model
// differs, or only which parameters each rule updates.
void require_state(const StateBuffer& state, const Parameter& parameter, const File& file,
                   const Trained& trained) {
  const std::string name = state.name() + "." + parameter.name;
  if (file.look_up(name) != file.tensors.end()) return;
  for (const StateBuffer& other : trained.optimizer->states())
    if (file.look_up(other.name() + "." + parameter.name) != file.tensors.end())
      throw Error(cat(file.path.string(),
                      " divides the parameters otherwise between Muon and "
                      "AdamW: it has ",
                      other.name(), " of ", parameter.name, ", but no ", state.name()),
                  cat("resume with the model that the run was started with, in which the same "
                      "parameters are embeddings and heads",
                      weights_alone));
  file.find(name, parameter.tensor.sizes());  // throws, because the model differs
}

// Restores all states of the parameters that have them. If one is missing, throws Error before
// anything changes.
void restore_states(const File& file, const Trained& trained) {
  const ParameterStorage& storage = trained.storage;
  const auto for_each_state = [&](const auto& function) {
    for (const StateBuffer& state : trained.optimizer->states())
      for (std::size_t i = 0; i < storage.parameters().size(); ++i)
        if (state.has(i)) function(state, i, storage.parameters()[i]);
  };
  require_kind(trained.optimizer->kind(), file);
  for_each_state([&](const StateBuffer& state, std::size_t, const Parameter& parameter) {
    require_state(state, parameter, file, trained);
  });
  for_each_state([&](const StateBuffer& state, std::size_t i, const Parameter& parameter) {
    state.fill(i, file.find(state.name() + "." + parameter.name, parameter.tensor.sizes()));
  });
}

void restore_optimizer(const File& file, const nlohmann::json& state, const Trained& trained) {
  // If the file's optimizer kept no state, as SGD without momentum, all states stay zero.
  if (!file.tensors.empty()) restore_states(file, trained);
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
