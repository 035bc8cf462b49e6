// A model of matrices that muon updates beside what it leaves to AdamW, with weights and gradients
// that f32 holds exactly, so that tests and Python's torch begin with the same bits.
#pragma once

#include "training/update/optimizer.h"

#include <ATen/Version.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::testing {

// ((factor i + shift) mod modulus - half) / scale.
inline at::Tensor sawtooth(at::IntArrayRef sizes, std::int64_t factor, std::int64_t shift,
                           std::int64_t modulus, double scale) {
  at::Tensor made = at::empty(sizes, at::kFloat);
  float* const values = made.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < made.numel(); ++i)
    values[i] = static_cast<float>(
        static_cast<double>((factor * i + shift) % modulus - modulus / 2) / scale);
  return made;
}

class MatricesModel : public Model {
 public:
  MatricesModel() {
    add("words", {40, 6}, ParameterUse::embedding);
    add("square", {6, 6});
    add("tall", {9, 4});
    add("bias", {9});
    add("wide", {4, 9});
    add("larger", {20, 12});
    add("filter", {2, 2, 3, 3});
    add("head", {5, 6}, ParameterUse::head);
  }
  std::vector<Parameter> parameters() override { return all_; }

 private:
  void add(const char* name, const std::vector<std::int64_t>& sizes,
           ParameterUse use = ParameterUse::usual) {
    const auto number = static_cast<std::int64_t>(all_.size());
    at::Tensor made = sawtooth(sizes, 37, 5 * number, 101, 64).requires_grad_(true);
    all_.push_back({.name = name, .tensor = made, .decay = made.dim() > 1, .use = use});
  }
  std::vector<Parameter> all_;
};

// The gradient of parameter `number` in a step.
inline at::Tensor made_gradient(at::IntArrayRef sizes, std::int64_t step, std::size_t number) {
  return sawtooth(sizes, 53, 17 * step + 29 * static_cast<std::int64_t>(number), 127, 32);
}

// Gives every parameter its gradient, times `scale`, and makes an update.
inline void take_made_step(ParameterStorage& storage, GradientBuffers& gradients,
                           Optimizer& optimizer, std::int64_t step, double scale = 1) {
  constexpr double rates[] = {1.0 / 64, 1.0 / 32, 1.0 / 128};
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < storage.parameters().size(); ++i)
    storage.view(gradients.flat(), i)
        .copy_(made_gradient(storage.parameters()[i].tensor.sizes(), step, i).mul(scale));
  optimizer.step(rates[step % 3]);
}

struct MuonCase {
  MuonAdjustLr rate = MuonAdjustLr::match_rms_adamw;
  bool nesterov = true;
};
inline const std::vector<MuonCase> muon_cases{{MuonAdjustLr::match_rms_adamw, true},
                                              {MuonAdjustLr::match_rms_adamw, false},
                                              {MuonAdjustLr::original, true},
                                              {MuonAdjustLr::original, false}};

struct MuonOptions : TrainOptions {
  explicit MuonOptions(const MuonCase& one = {}) {
    precision = Precision::fp32;
    optimizer.kind = OptimizerKind::muon;
    optimizer.muon_adjust_lr = one.rate;
    optimizer.muon_nesterov = one.nesterov;
    optimizer.weight_decay = 0.1;
    optimizer.clip = 0;
  }
};

inline std::vector<std::int32_t> bits_of(const at::Tensor& values) {
  const at::Tensor row = values.detach().to(at::kFloat).contiguous().view({-1}).view(at::kInt);
  const auto* const first = row.const_data_ptr<std::int32_t>();
  return {first, first + row.numel()};
}

// Weights and momentum of each matrix after three steps, as bits of f32: {"weights", "momentum"},
// each by name.
inline nlohmann::json bits_of_muon(const MuonCase& one) {
  const MuonOptions options(one);
  MatricesModel model;
  ParameterStorage storage(model.parameters(), at::kCPU, at::kFloat);
  GradientBuffers gradients(storage);
  Optimizer optimizer(options, gradients);
  for (std::int64_t step = 0; step < 3; ++step) take_made_step(storage, gradients, optimizer, step);
  const StateBuffer& momentum = optimizer.states().front();
  nlohmann::json bits;
  for (std::size_t i = 0; i < storage.parameters().size(); ++i) {
    if (!momentum.has(i)) continue;
    const std::string& name = storage.parameters()[i].name;
    bits["weights"][name] = bits_of(storage.view(storage.master(), i));
    bits["momentum"][name] =
        bits_of(momentum.flat().narrow(0, *momentum.place(i), storage.places()[i].elements));
  }
  return bits;
}

// The bits also stand on the processor: its instructions, and how it multiplies in bf16.
inline nlohmann::json machine_of_muon() {
  const at::Tensor factor = sawtooth({20, 12}, 37, 0, 101, 64).to(at::kBFloat16);
  return {{"capability", at::get_cpu_capability()},
          {"product", bits_of(at::mm(factor, factor.t()))}};
}

}  // namespace lockstep::testing
