// Gradient hooks, readiness counting and the all-reduces.
#include "engine/reducer.h"

#include "base/check.h"
#include "launch/heartbeat.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <functional>
#include <set>
#include <utility>

namespace lockstep {

struct Reducer::State {
  Arena& arena;
  ProcessGroup& group;
  ReducePrecision precision;
  const std::vector<Bucket>& buckets;
  std::vector<std::size_t> bucket_of;   // by parameter
  std::vector<std::size_t> leaf_count;  // by parameter: more than one where it has two names
  std::vector<std::set<const at::TensorImpl*>> arrived;  // by parameter: its leaves, since arm
  std::vector<std::int64_t> missing;                     // by bucket
  std::vector<at::Tensor> staged;                        // by bucket, reduce_precision = bf16 only
  std::vector<std::unique_ptr<Pending>> pending;
  std::size_t next = 0;  // first bucket not fired
  bool armed = false;
  int early = 0;

  State(Arena& arena_in, ProcessGroup& group_in, ReducePrecision precision_in)
      : arena(arena_in), group(group_in), precision(precision_in), buckets(arena.buckets()) {
    bucket_of.resize(arena.parameters().size());
    for (std::size_t b = 0; b < buckets.size(); ++b)
      for (const std::int64_t p : buckets[b].parameters) bucket_of[static_cast<std::size_t>(p)] = b;
    staged.resize(buckets.size());
  }

  void arm() {
    LOCKSTEP_CHECK(!armed);
    armed = true;
    next = 0;
    early = 0;
    arrived.assign(bucket_of.size(), {});
    missing.clear();
    for (const Bucket& bucket : buckets)
      missing.push_back(static_cast<std::int64_t>(bucket.parameters.size()));
  }

  void on_gradient(std::size_t parameter, const at::TensorImpl* leaf) {
    beat();
    arena.take_gradient(parameter);
    if (!armed || group.size() == 1 || !arrived[parameter].insert(leaf).second) return;
    if (arrived[parameter].size() < leaf_count[parameter]) return;
    --missing[bucket_of[parameter]];
    while (next < buckets.size() && missing[next] == 0) {
      fire(next);
      ++early;
    }
  }

  void fire(std::size_t b) {
    const at::NoGradGuard no_grad;
    const Bucket& bucket = buckets[b];
    arena.place_gradients();
    at::Tensor range = arena.gradients().narrow(0, bucket.begin, bucket.end - bucket.begin);
    if (precision == ReducePrecision::bf16) range = staged[b] = range.to(at::kBFloat16);
    pending.push_back(arena.sharing() != nullptr ? group.reduce_scatter(range)
                                                 : group.all_reduce(range));
    next = b + 1;  // not before: what failed for lack of memory is to be sent again
  }

  void reset() {
    armed = false;
    pending.clear();
    for (at::Tensor& copy : staged) copy.reset();
  }

  void flush() {
    LOCKSTEP_CHECK(armed);
    while (group.size() > 1 && next < buckets.size()) fire(next);
    armed = false;
  }

  void wait() {
    const at::NoGradGuard no_grad;
    for (std::size_t b = 0; b < pending.size(); ++b) {
      pending[b]->wait();
      if (precision != ReducePrecision::bf16) continue;
      const Bucket& bucket = buckets[b];
      arena.gradients().narrow(0, bucket.begin, bucket.end - bucket.begin).copy_(staged[b]);
      staged[b].reset();
    }
    pending.clear();
  }
};

namespace {

// Runs after a backward pass has added up whatever it has for a parameter, even if that is nothing
// because operations wrote into the gradient buffer themselves.
class GradientHook : public torch::autograd::FunctionPostHook {
 public:
  explicit GradientHook(std::function<void()> arrived) : arrived_(std::move(arrived)) {}
  torch::autograd::variable_list operator()(const torch::autograd::variable_list& outputs,
                                            const torch::autograd::variable_list&) override {
    arrived_();
    return outputs;
  }

 private:
  std::function<void()> arrived_;
};

}  // namespace

Reducer::Reducer(Arena& arena, ProcessGroup& group, ReducePrecision precision)
    : state_(std::make_shared<State>(arena, group, precision)) {
  for (std::size_t i = 0; i < arena.parameters().size(); ++i) {
    std::size_t leaves = 0;
    for (const at::Tensor& handle : arena.handles(i)) {
      if (!handle.requires_grad()) continue;
      ++leaves;
      auto node = torch::autograd::impl::grad_accumulator(handle);
      const auto key = node->add_post_hook(
          std::make_unique<GradientHook>([state = state_, i, leaf = handle.unsafeGetTensorImpl()] {
            state->on_gradient(i, leaf);
          }));
      hooks_.emplace_back(std::move(node), key);
    }
    state_->leaf_count.push_back(leaves);
  }
}

Reducer::~Reducer() {
  for (const auto& [node, key] : hooks_) node->del_post_hook(key);
}

void Reducer::arm() { state_->arm(); }
void Reducer::skip_rest() {
  if (!state_->armed) state_->arm();
}
void Reducer::flush() { state_->flush(); }
void Reducer::wait() { state_->wait(); }
void Reducer::reset() { state_->reset(); }
int Reducer::buckets_fired_early() const { return state_->early; }

}  // namespace lockstep
