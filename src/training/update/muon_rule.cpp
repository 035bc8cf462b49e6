// Muon for matrices, and AdamW for all other parameters. Sources:
// https://kellerjordan.github.io/posts/muon/, and arXiv:2502.16982 for the rate of match_rms_adamw.
#include "core/base/check.h"
#include "ops/muon/muon.h"
#include "training/update/muon_matrices.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lockstep {
namespace {

class PreparedMuon : public PreparedUpdate {
 public:
  // rest: AdamW's update of the other parameters; null if there are none.
  PreparedMuon(std::shared_ptr<const PreparedUpdate> matrices,
               std::shared_ptr<const PreparedUpdate> rest, std::vector<bool> has_matrices,
               std::vector<bool> has_rest)
      : matrices_(std::move(matrices)),
        rest_(std::move(rest)),
        has_matrices_(std::move(has_matrices)),
        has_rest_(std::move(has_rest)) {}

  void begin() const override {
    matrices_->begin();
    if (rest_ != nullptr) rest_->begin();
  }

  void update(std::size_t group) const override {
    if (has_matrices_[group]) matrices_->update(group);
    if (has_rest_[group]) rest_->update(group);
  }

  // A sparse parameter is always updated by AdamW.
  std::optional<DeferredRows> deferred_rows(std::size_t group) const override {
    return has_rest_[group] && !has_matrices_[group] ? rest_->deferred_rows(group) : std::nullopt;
  }

 private:
  std::shared_ptr<const PreparedUpdate> matrices_, rest_;
  std::vector<bool> has_matrices_, has_rest_;  // by group
};

class MuonRule : public OptimizerRule {
 public:
  MuonRule(std::unique_ptr<OptimizerRule> matrices, std::unique_ptr<OptimizerRule> adamw)
      : matrices_(std::move(matrices)), adamw_(std::move(adamw)) {}

  std::shared_ptr<const PreparedUpdate> prepare(std::vector<UpdateGroup> groups,
                                                const at::Tensor& /*dirty*/) override {
    std::vector<UpdateGroup> own(groups.size()), rest(groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (UpdateRanges& ranges : groups[g])
        (ranges.matrices ? own : rest)[g].push_back(std::move(ranges));
    const auto filled = [](const std::vector<UpdateGroup>& some) {
      std::vector<bool> is_filled;
      for (const UpdateGroup& group : some) is_filled.push_back(!group.empty());
      return is_filled;
    };
    const std::vector<bool> has_matrices = filled(own), has_rest = filled(rest);
    std::shared_ptr<const PreparedUpdate> prepared;
    if (std::find(has_rest.begin(), has_rest.end(), true) != has_rest.end())
      prepared = adamw_->prepare(std::move(rest), {});
    return std::make_shared<PreparedMuon>(matrices_->prepare(std::move(own), {}),
                                          std::move(prepared), has_matrices, has_rest);
  }

  bool defers() const override { return matrices_->defers(); }

 private:
  std::unique_ptr<OptimizerRule> matrices_, adamw_;
};

}  // namespace

double muon_rate_factor(const TrainOptions& options, std::int64_t rows, std::int64_t columns) {
  const auto high = static_cast<double>(rows), wide = static_cast<double>(columns);
  switch (options.optimizer.muon_adjust_lr) {
    case MuonAdjustLr::match_rms_adamw:
      return 0.2 * std::sqrt(std::max(high, wide));
    case MuonAdjustLr::original:
      return std::sqrt(std::max(1.0, high / wide));
  }
  LOCKSTEP_CHECK(false);
}

std::unique_ptr<OptimizerRule> make_muon_rule(const TrainOptions& options,
                                              const UpdateNumbers& numbers, at::Device device) {
  const bool by_kernels = device.is_cuda() && cuda_muon().weights != nullptr;
  return std::make_unique<MuonRule>(
      by_kernels ? make_muon_by_kernels(options, numbers) : make_muon_by_aten(options, numbers),
      make_adam_rule(options, numbers, device));
}

}  // namespace lockstep
