// Creates parameters under the names in Hugging Face's files.
#include "recipes/dimabsa/encoder/weights.h"

#include <utility>

#include "training/parameters/initial_values.h"

namespace lockstep::dimabsa {
namespace {

constexpr double deviation = 0.02;

}  // namespace

at::Tensor Weights::keep(std::string name, at::Tensor tensor, bool decay) {
  all_.push_back({.name = std::move(name), .tensor = tensor, .decay = decay});
  return tensor;
}

at::Tensor Weights::matrix(const std::string& name, std::int64_t rows, std::int64_t columns) {
  const auto number = static_cast<std::int64_t>(all_.size());
  return keep(name + ".weight", normal_parameter({rows, columns}, deviation, seed_, number), true);
}

at::Tensor Weights::table(const std::string& name, std::int64_t rows, std::int64_t columns) {
  at::Tensor made = matrix(name, rows, columns);
  all_.back().use = ParameterUse::embedding;
  return made;
}

at::Tensor Weights::bias(const std::string& name, std::int64_t size) {
  return keep(name + ".bias", constant_parameter({size}, 0), false);
}

Affine Weights::linear(const std::string& name, std::int64_t out, std::int64_t in) {
  Affine made{.weight = matrix(name, out, in), .bias = {}};
  made.bias = bias(name, out);
  return made;
}

Affine Weights::norm(const std::string& name, std::int64_t width) {
  Affine made{.weight = keep(name + ".weight", constant_parameter({width}, 1), false), .bias = {}};
  made.bias = bias(name, width);
  return made;
}

}  // namespace lockstep::dimabsa
