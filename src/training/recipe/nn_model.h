// Turns a torch::nn::Module into a Model.
#pragma once

#include "training/recipe/recipe.h"

#include <torch/nn/module.h>

#include <memory>
#include <utility>
#include <vector>

namespace lockstep {

// Parameters and buffers have the names that the module gives them. Parameters with two or more
// dimensions have weight decay. Parameters without requires_grad are frozen. A parameter that is
// registered under several names is listed under each of them (recipe.h). Embeddings and heads are
// not marked, but a derived class may mark them (Parameter::use).
template <class Module>
class NnModel : public Model {
 public:
  explicit NnModel(std::shared_ptr<Module> module) : module_(std::move(module)) {}
  Module& module() { return *module_; }

  std::vector<Parameter> parameters() override {
    std::vector<Parameter> all;
    for (const auto& entry : module_->named_parameters())
      all.push_back({entry.key(), entry.value(), entry.value().dim() >= 2});
    return all;
  }
  std::vector<NamedTensor> buffers() override {
    std::vector<NamedTensor> all;
    for (const auto& entry : module_->named_buffers()) all.push_back({entry.key(), entry.value()});
    return all;
  }
  void train(bool on) override { module_->train(on); }

 private:
  std::shared_ptr<Module> module_;
};

}  // namespace lockstep
