// Creates the parameters of an encoder, and keeps them in the order of their creation.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "training/recipe/recipe.h"

namespace lockstep::dimabsa {

// Weight and bias of a linear layer or a layer norm.
struct Affine {
  at::Tensor weight, bias;
};

class Weights {
 public:
  explicit Weights(std::uint64_t seed) : seed_(seed) {}

  at::Tensor matrix(const std::string& name, std::int64_t rows, std::int64_t columns);
  // Makes an embedding of `rows` rows.
  at::Tensor table(const std::string& name, std::int64_t rows, std::int64_t columns);
  // Makes a bias of zeros.
  at::Tensor bias(const std::string& name, std::int64_t size);
  Affine linear(const std::string& name, std::int64_t out, std::int64_t in);
  Affine norm(const std::string& name, std::int64_t width);
  const std::vector<Parameter>& all() const { return all_; }

 private:
  at::Tensor keep(std::string name, at::Tensor tensor, bool decay);

  std::uint64_t seed_;
  std::vector<Parameter> all_;
};

}  // namespace lockstep::dimabsa
