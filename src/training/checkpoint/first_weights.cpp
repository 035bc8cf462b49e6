#include "training/checkpoint/first_weights.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "training/checkpoint/tensor_file.h"
#include "training/gradients/not_finite.h"

#include <ATen/core/grad_mode.h>

#include <set>

namespace lockstep {
namespace {

WeightMatch match(const std::vector<ModelTensor>& model, const std::vector<SourceTensor>& tensors,
                  const Recipe& recipe, const TrainOptions& options, const WeightSource& source) {
  return match_weights(model, tensors, options, recipe.weight_names(), source.what);
}

void require_first_numbers(const ModelTensor& target, const std::string& what) {
  const bool good = target.is_buffer ? !has_nan(target.tensor) : is_finite(target.tensor);
  if (!good)
    throw Error(cat("the weights ", target.names.front(), " of ", what, " are not finite"),
                "take weights from before that");
}

nlohmann::json report(const WeightMatch& match, const WeightSource& source) {
  nlohmann::json json{{"from", source.what},
                      {"average", !source.average.empty()},
                      {"missing", match.missing},
                      {"other_shape", match.other_shape},
                      {"unexpected", match.unexpected},
                      {"converted", match.converted}};
  std::set<std::size_t> filled;
  for (const WeightMatch::Pair& pair : match.pairs) filled.insert(pair.model);
  json["tensors"] = filled.size();
  return json;
}

}  // namespace

std::vector<ModelTensor> tensors_of(Model& model) {
  const ModelParameters sorted = sort_parameters(model.parameters());
  std::vector<ModelTensor> all;
  for (const auto* list : {&sorted.trained, &sorted.frozen})
    for (const UniqueParameter& one : *list)
      all.push_back({.names = all_names(one.parameter.name, sorted.aliases),
                     .tensor = one.parameter.tensor.detach()});
  const std::size_t first_buffer = all.size();
  for (const NamedTensor& buffer : model.buffers()) {
    bool known = false;
    for (std::size_t i = first_buffer; i < all.size() && !known; ++i)
      if (all[i].tensor.is_same(buffer.tensor)) {
        all[i].names.push_back(buffer.name);
        known = true;
      }
    if (!known) all.push_back({.names = {buffer.name}, .tensor = buffer.tensor, .is_buffer = true});
  }
  return all;
}

nlohmann::json load_first_weights(Model& model, const Recipe& recipe, const TrainOptions& options,
                                  const WeightSource& source) {
  const at::NoGradGuard no_grad;
  std::vector<ModelTensor> targets = tensors_of(model);
  const std::vector<SourceTensor> tensors = read_source(source);
  const WeightMatch matched = match(targets, tensors, recipe, options, source);
  StoredFiles files;
  // for each filled tensor of the model: index of its source
  std::map<std::size_t, std::size_t> filled;
  for (const auto& [m, s] : matched.pairs) {
    ModelTensor& target = targets[m];
    const at::Tensor values =
        files.tensor(tensors[s].file, tensors[s].stored).reshape(target.tensor.sizes());
    if (const auto before = filled.find(m); before != filled.end()) {
      if (!values.to(target.tensor.scalar_type()).equal(target.tensor))
        throw Error(
            cat(tensors[before->second].stored.name, " and ", tensors[s].stored.name, " differ in ",
                source.what, ", but are one tensor in the model, ", target.names.front()),
            "leave one of them out by init.unexpected and init.map");
      continue;
    }
    target.tensor.copy_(values);
    filled[m] = s;
    require_first_numbers(target, source.what);
  }
  return report(matched, source);
}

void check_first_weights(Model& model, const Recipe& recipe, const TrainOptions& options,
                         const WeightSource& source) {
  match(tensors_of(model), read_source(source), recipe, options, source);
}

}  // namespace lockstep
