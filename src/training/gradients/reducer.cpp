// Gradient hooks, the count of gradients that are ready, and the all-reduces.
#include "training/gradients/reducer.h"

#include "core/base/check.h"
#include "runtime/launch/watch/heartbeat.h"
#include "training/gradients/sparse_all_gather.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

namespace lockstep {

struct Reducer::State {
  GradientBuffers& gradients;
  ParameterStorage& storage;
  ProcessGroup& group;
  const std::vector<Bucket>& buckets;
  std::vector<std::size_t> bucket_of;  // by parameter
  // by parameter; tied tensors that share memory count separately
  std::vector<std::size_t> leaf_count;
  // by parameter: the leaves whose gradients arrived since arm()
  std::vector<std::set<const at::TensorImpl*>> arrived;
  std::vector<std::int64_t> missing;  // by bucket: the parameters whose gradients are incomplete
  struct Sent {
    at::Tensor range;  // a view of flat()
    std::unique_ptr<Pending> pending;
  };
  std::vector<Sent> sent;
  SparseAllGather rows;
  std::vector<std::size_t> sent_whole;  // parameters that were sent as a whole
  std::size_t next = 0;                 // the first bucket that was not sent
  bool armed = false;
  bool flushed = false;  // flush() was called since arm()
  int early = 0;

  State(GradientBuffers& gradients_in, ProcessGroup& group_in)
      : gradients(gradients_in),
        storage(gradients.storage()),
        group(group_in),
        buckets(storage.buckets()),
        rows(gradients, group) {
    bucket_of.resize(storage.parameters().size());
    for (std::size_t b = 0; b < buckets.size(); ++b)
      for (const std::int64_t p : buckets[b].parameters) bucket_of[static_cast<std::size_t>(p)] = b;
  }

  void arm() {
    LOCKSTEP_CHECK(!armed);
    armed = true;
    flushed = false;
    next = 0;
    early = 0;
    arrived.assign(bucket_of.size(), {});
    sent_whole.clear();
    missing.clear();
    for (const Bucket& bucket : buckets)
      missing.push_back(static_cast<std::int64_t>(bucket.parameters.size()));
  }

  void on_gradient(std::size_t parameter, const at::TensorImpl* leaf) {
    beat();
    gradients.take(parameter);
    if (!armed || group.size() == 1 || !arrived[parameter].insert(leaf).second) return;
    if (arrived[parameter].size() < leaf_count[parameter]) return;
    --missing[bucket_of[parameter]];
    while (next < buckets.size() && missing[next] == 0) {
      fire(next);
      ++early;
    }
  }

  // The buffer in which the ranks reduce gradients.
  const at::Tensor& flat() const {
    return gradients.sums().defined() ? gradients.sums() : gradients.flat();
  }

  void fire(std::size_t b) {
    const at::NoGradGuard no_grad;
    const Bucket& bucket = buckets[b];
    std::vector<Sent> parts;
    std::vector<std::size_t> whole, tables;
    std::int64_t begin = bucket.begin;
    // in the order of their places in memory
    for (std::size_t k = 0; k < bucket.parameters.size(); ++k) {
      const auto p = static_cast<std::size_t>(bucket.parameters[k]);
      if (!rows.takes(p)) {
        if (gradients[p].is_sparse()) gradients[p].mark_dirty();  // other ranks may add rows
        whole.push_back(p);
        continue;
      }
      add_part(begin, storage.places()[p].begin, parts);
      rows.prepare(p);
      tables.push_back(p);
      const bool is_last = k + 1 == bucket.parameters.size();
      begin = is_last ? bucket.end
                      : storage.places()[static_cast<std::size_t>(bucket.parameters[k + 1])].begin;
    }
    add_part(begin, bucket.end, parts);
    const std::size_t first = sent.size(), last = first + parts.size();
    std::move(parts.begin(), parts.end(), std::back_inserter(sent));
    try {
      gradients.run_behind([this, first, last, whole, tables] {
        gradients.reduce_buffer().round(whole);
        for (std::size_t i = first; i < last; ++i) send(sent[i]);
        for (const std::size_t p : tables) rows.send(p);
      });
    } catch (...) {
      sent.resize(first);
      throw;
    }
    sent_whole.insert(sent_whole.end(), whole.begin(), whole.end());
    next = b + 1;  // set last: if memory ran out before, the bucket is sent again
  }

  // Adds elements [begin, end) of the flat buffer as a part.
  void add_part(std::int64_t begin, std::int64_t end, std::vector<Sent>& parts) const {
    if (begin < end) parts.push_back({.range = flat().narrow(0, begin, end - begin)});
  }

  void send(Sent& part) {
    part.pending = storage.sharing() != nullptr ? group.reduce_scatter(part.range)
                                                : group.all_reduce(part.range);
  }

  void reset() {
    armed = flushed = false;
    sent.clear();
  }

  void flush() {
    LOCKSTEP_CHECK(armed || flushed);
    while (group.size() > 1 && next < buckets.size()) fire(next);
    armed = false;
    flushed = true;
  }

  void wait(const Summed& summed) {
    const at::NoGradGuard no_grad;
    // Hands over parts that become smaller, so that little work is left after the last bucket.
    std::int64_t begin = 0, end = 0, left = 0;
    for (const Sent& one : sent) left += one.range.numel();
    const auto hand_over = [&] {
      if (summed && begin < end) summed(flat().narrow(0, begin, end - begin));
      begin = end;
    };
    for (const Sent& one : sent) {
      one.pending->wait();
      const std::int64_t next = one.range.storage_offset() - flat().storage_offset();
      if (next != end) {  // a table that is sent as rows lies in between
        hand_over();
        begin = next;
      }
      end = next + one.range.numel();
      left -= one.range.numel();
      if (3 * left <= end - begin) hand_over();
    }
    hand_over();
    gradients.reduce_buffer().widen(sent_whole, gradients.plan());
    for (const std::size_t table : rows.finish())
      if (summed)
        summed(gradients.flat().narrow(0, storage.places()[table].begin,
                                       storage.places()[table].elements));
    sent.clear();  // cleared last: if memory ran out before, the parts are waited for again
  }
};

namespace {

// Runs after a backward pass has added up a parameter's gradient. It also runs if autograd has
// nothing to add, because operations wrote into the gradient buffer themselves.
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

Reducer::Reducer(GradientBuffers& gradients, ProcessGroup& group, ReducePrecision precision)
    : state_(std::make_shared<State>(gradients, group)) {
  const ParameterStorage& storage = gradients.storage();
  if (precision == ReducePrecision::bf16 && group.size() > 1) gradients.reduce_buffer().allocate();
  for (std::size_t i = 0; i < storage.parameters().size(); ++i) {
    std::size_t leaves = 0;
    for (const at::Tensor& handle : storage.places()[i].handles) {
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
void Reducer::wait(const Summed& summed) { state_->wait(summed); }
void Reducer::reset() { state_->reset(); }
SparseAllGather& Reducer::rows() { return state_->rows; }
int Reducer::buckets_fired_early() const { return state_->early; }

}  // namespace lockstep
