// Observes which parameters each block of the model uses in steps that run without a CUDA graph.
#pragma once

#include "training/parameters/parameter_storage.h"
#include "training/plan/update_plan.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep {

// The observer counts references to the autograd nodes that accumulate the parameters' gradients.
// So these nodes must be kept alive, which Reducer does. If a recipe keeps an autograd graph
// between steps, a parameter may seem to be used earlier than it is. All calls must come from one
// thread.
class BlockObserver {
 public:
  // `storage` must outlive this object.
  explicit BlockObserver(const ParameterStorage& storage) : storage_(storage) {}

  void begin_forward();
  // Call it when a block begins (StepContext::block). parameters: the parameters that the block
  // uses.
  void see(std::int64_t block, const std::vector<at::Tensor>& parameters);
  const BlockUse& use() const { return use_; }  // observed in all forward passes so far

 private:
  std::vector<std::int64_t> count_uses() const;

  const ParameterStorage& storage_;
  BlockUse use_;
  // The number of uses of each parameter when the first forward pass began.
  std::vector<std::int64_t> uses_;
};

}  // namespace lockstep
