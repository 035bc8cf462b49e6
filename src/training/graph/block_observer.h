// Observes in eager steps which parameters each block of the model uses.
#pragma once

#include "training/parameters/parameter_storage.h"
#include "training/plan/update_plan.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep {

// Counts references to the autograd nodes that accumulate the parameters' gradients. So something
// must keep these nodes alive (Reducer does). If a recipe keeps an autograd graph between steps, a
// parameter may seem to be used earlier than it is. One thread.
class BlockObserver {
 public:
  explicit BlockObserver(const ParameterStorage& storage) : storage_(storage) {}  // outlives it

  void begin_forward();
  // A block begins (StepContext::block). `parameters`: those that the block names.
  void see(std::int64_t block, const std::vector<at::Tensor>& parameters);
  const BlockUse& use() const { return use_; }  // as seen in all forward passes so far

 private:
  std::vector<std::int64_t> count_uses() const;

  const ParameterStorage& storage_;
  BlockUse use_;
  std::vector<std::int64_t> uses_;  // uses by parameter when the first forward pass began
};

}  // namespace lockstep
