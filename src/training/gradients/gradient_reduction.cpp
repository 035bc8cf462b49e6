#include "training/gradients/gradient_reduction.h"

#include "training/gradients/exact_reducer.h"

#include <optional>

namespace lockstep {
namespace {

class BucketReduction : public GradientReduction {
 public:
  BucketReduction(GradientBuffers& gradients, Reducer& reducer)
      : gradients_(gradients), reducer_(reducer) {}

  void begin_step(std::int64_t /*accumulation*/) override { gradients_.begin_step(); }
  void begin_backward(bool last) override {
    if (last) reducer_.arm();
  }
  void end_backward(bool last) override {
    if (last)
      gradients_.zero_fill_missing();
    else
      gradients_.place();
  }
  void skip_rest() override {
    gradients_.drop();
    reducer_.skip_rest();
  }
  void finish(const Reducer::Summed& summed) override {
    gradients_.place();
    reducer_.flush();
    gradients_.place();  // overlaps with the collectives
    reducer_.wait(summed);
    gradients_.set_reduced();
  }
  void reset() override {
    gradients_.abandon();
    reducer_.reset();
  }

 private:
  GradientBuffers& gradients_;
  Reducer& reducer_;
};

class ExactReduction : public GradientReduction {
 public:
  ExactReduction(GradientBuffers& gradients, ProcessGroup& group)
      : gradients_(gradients), group_(group) {}

  void begin_step(std::int64_t accumulation) override {
    gradients_.begin_step();
    if (!tree_) tree_.emplace(gradients_, group_, accumulation);
  }
  void begin_backward(bool /*last*/) override {}
  void end_backward(bool last) override {
    gradients_.place();
    tree_->push();
    if (!last) gradients_.zero();
  }
  void skip_rest() override {
    gradients_.drop();
    tree_->skip_rest();
  }
  void finish(const Reducer::Summed& /*summed*/) override {
    tree_->finish();
    gradients_.set_reduced();
  }
  void reset() override {
    gradients_.abandon();
    if (tree_) tree_->reset();
  }

 private:
  GradientBuffers& gradients_;
  ProcessGroup& group_;
  std::optional<ExactReducer> tree_;  // set from the first step on
};

}  // namespace

std::unique_ptr<GradientReduction> make_bucket_reduction(GradientBuffers& gradients,
                                                         Reducer& reducer) {
  return std::make_unique<BucketReduction>(gradients, reducer);
}

std::unique_ptr<GradientReduction> make_exact_reduction(GradientBuffers& gradients,
                                                        ProcessGroup& group) {
  return std::make_unique<ExactReduction>(gradients, group);
}

}  // namespace lockstep
