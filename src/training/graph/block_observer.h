// Which parameters each block of the model uses, seen in eager steps.
#pragma once

#include "training/parameters/parameter_storage.h"
#include "training/plan/update_plan.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep {

// Counts references to the nodes that end the parameters' gradients, so something must keep these
// (Reducer), and a recipe that keeps a graph between steps makes a parameter seem early. One
// thread.
class BlockObserver {
 public:
  explicit BlockObserver(const ParameterStorage& storage) : storage_(storage) {}  // outlives it

  void begin_forward();
  // A block begins (StepContext::block), for which `parameters` are named.
  void see(std::int64_t block, const std::vector<at::Tensor>& parameters);
  const BlockUse& use() const { return use_; }  // of all forward passes so far

 private:
  std::vector<std::int64_t> count_uses() const;

  const ParameterStorage& storage_;
  BlockUse use_;
  std::vector<std::int64_t> uses_;  // by parameter, when the first forward pass began
};

}  // namespace lockstep
