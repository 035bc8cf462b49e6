// Implements the part that all update rules based on ATen's optimizers share.
#pragma once

#include "training/update/optimizer_rule.h"

#include <ATen/core/grad_mode.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace lockstep {

// Updates the weights and states of some ranges, but not the working copy (UpdateRanges::working).
using UpdateByAten = std::function<void(const UpdateRanges&)>;

class PreparedByAten : public PreparedUpdate {
 public:
  PreparedByAten(std::vector<UpdateGroup> groups, UpdateByAten update)
      : groups_(std::move(groups)), update_(std::move(update)) {}

  void update(std::size_t group) const override {
    const at::NoGradGuard no_grad;
    for (const UpdateRanges& ranges : groups_[group]) {
      update_(ranges);
      for (std::size_t i = 0; i < ranges.working.size(); ++i)
        ranges.working[i].copy_(ranges.weights[i]);
    }
  }

 private:
  std::vector<UpdateGroup> groups_;
  UpdateByAten update_;
};

class AtenRule : public OptimizerRule {
 public:
  explicit AtenRule(UpdateByAten update) : update_(std::move(update)) {}
  std::shared_ptr<const PreparedUpdate> prepare(std::vector<UpdateGroup> groups,
                                                const at::Tensor& /*dirty*/) override {
    return std::make_shared<PreparedByAten>(std::move(groups), update_);
  }

 private:
  UpdateByAten update_;
};

}  // namespace lockstep
