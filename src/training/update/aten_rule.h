// The part that rules by ATen's fused optimizers share.
#pragma once

#include "training/update/optimizer_rule.h"

#include <ATen/core/grad_mode.h>

#include <utility>
#include <vector>

namespace lockstep {

class AtenRule : public OptimizerRule {
 public:
  // options outlive it.
  AtenRule(const TrainOptions& options, UpdateNumbers numbers)
      : options_(options), numbers_(std::move(numbers)) {}

  void set_groups(std::vector<UpdateGroup> groups) final { groups_ = std::move(groups); }

  void update(std::size_t group) final {
    const at::NoGradGuard no_grad;
    for (UpdateRanges& ranges : groups_[group]) {
      update_weights(ranges);
      for (std::size_t i = 0; i < ranges.working.size(); ++i)
        ranges.working[i].copy_(ranges.weights[i]);
    }
  }

 protected:
  // The weights and states of these ranges; the working copy follows.
  virtual void update_weights(UpdateRanges& ranges) = 0;

  const TrainOptions& options_;
  UpdateNumbers numbers_;

 private:
  std::vector<UpdateGroup> groups_;
};

}  // namespace lockstep
