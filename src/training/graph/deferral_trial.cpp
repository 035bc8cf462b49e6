#include "training/graph/deferral_trial.h"

#include "ops/gradient_buffer/deferred_sparse_update.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

namespace lockstep {
namespace {

// Hides the weights of all groups except the first. Until they are shown, the model computes with
// other values. The destructor shows them all. The version counters of the parameters do not
// change.
class HiddenWeights {
 public:
  HiddenWeights(const ParameterStorage& storage, const UpdatePlan& plan)
      : storage_(storage),
        plan_(plan),
        flat_(storage.weights().variable_data()),
        kept_(storage.low_precision() ? storage.master() : flat_.clone()) {
    for (std::size_t i = 0; i < plan.parameters.size(); ++i)
      if (plan.parameters[i].group > 0) hide(i);
  }
  ~HiddenWeights() {
    for (std::size_t i = 0; i < plan_.parameters.size(); ++i)
      if (plan_.parameters[i].group > shown_) show_parameter(i);
  }
  HiddenWeights(const HiddenWeights&) = delete;
  HiddenWeights& operator=(const HiddenWeights&) = delete;

  // The substitute values have a similar size. An operation that reads them gives other results.
  // But a loss with assertions about its input (binary_cross_entropy, multinomial) still runs. On a
  // GPU a failed assertion would end the process.
  void hide(std::size_t i) {
    const at::Tensor kept = range(kept_, i);
    range(flat_, i).copy_(kept).neg_().add_(kept.abs().mean()).add_(0.01);
  }
  void show_parameter(std::size_t i) { range(flat_, i).copy_(range(kept_, i)); }
  // Shows all groups up to and including `group`.
  void show(std::size_t group) {
    for (; shown_ < group; ++shown_)
      for (std::size_t i = 0; i < plan_.parameters.size(); ++i)
        if (plan_.parameters[i].group == shown_ + 1) show_parameter(i);
  }

 private:
  at::Tensor range(const at::Tensor& flat, std::size_t i) const {
    return flat.narrow(0, storage_.places()[i].begin, storage_.places()[i].elements);
  }

  const ParameterStorage& storage_;
  const UpdatePlan& plan_;
  at::Tensor flat_, kept_;  // in low precision, the master weights serve as kept_
  std::size_t shown_ = 0;
};

// Shows a sparse parameter only to operations that announce their reads, and counts these reads.
class WatchedReads : public DeferredSparseUpdate {
 public:
  WatchedReads(HiddenWeights& hidden, GradientBuffers& gradients, std::size_t parameter)
      : hidden_(hidden), gradients_(gradients), parameter_(parameter) {
    gradients[parameter].set_deferred_update(this);
  }
  ~WatchedReads() override { gradients_[parameter_].set_deferred_update(nullptr); }
  WatchedReads(const WatchedReads&) = delete;
  WatchedReads& operator=(const WatchedReads&) = delete;

  std::optional<DeferredRows> begin_read(bool computes) override {
    hidden_.show_parameter(parameter_);
    ++reads_;
    computes_ = computes || gradients_.flat().is_cpu();
    return std::nullopt;
  }
  void end_read() override { hidden_.hide(parameter_); }
  bool is_read_once() const { return reads_ == 1 && computes_; }

 private:
  HiddenWeights& hidden_;
  GradientBuffers& gradients_;
  std::size_t parameter_;
  int reads_ = 0;
  bool computes_ = false;
};

}  // namespace

DeferralTrial try_deferral(const UpdatePlan& plan, GradientBuffers& gradients,
                           const std::function<at::Tensor(const BeforeBlock&)>& forward) {
  const at::Tensor expected = forward([](std::int64_t) {});
  at::Tensor found;
  DeferralTrial trial;
  {
    HiddenWeights hidden(gradients.storage(), plan);
    std::vector<std::unique_ptr<WatchedReads>> sparse;
    for (std::size_t group = plan.block_groups; group < plan.groups; ++group)
      sparse.push_back(
          std::make_unique<WatchedReads>(hidden, gradients, plan.sparse_parameter(group)));
    found = forward([&](std::int64_t block) { hidden.show(plan.group_of_block(block)); });
    trial.reads_sparse_once = std::all_of(sparse.begin(), sparse.end(),
                                          [](const auto& one) { return one->is_read_once(); });
  }
  trial.waits_for_blocks = found.equal(expected);
  return trial;
}

}  // namespace lockstep
