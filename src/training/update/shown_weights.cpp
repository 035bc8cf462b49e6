#include "training/update/shown_weights.h"

#include "core/base/check.h"
#include "training/update/gather_shards.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>

#include <exception>

namespace lockstep {
namespace {

// Needs no other rank and allocates nothing, so it works in an error path too.
void show_own_shards(ParameterStorage& storage) {
  if (storage.low_precision())
    storage.cast_weights();
  else
    storage.point_at(storage.master());
}

bool ends_with_all_ranks(const ParameterStorage& storage) {
  return storage.low_precision() && storage.sharing() != nullptr;
}

}  // namespace

ShownWeights::ShownWeights(ParameterStorage& storage, const at::Tensor& weights)
    : storage_(storage), exceptions_(std::uncaught_exceptions()) {
  const at::NoGradGuard no_grad;
  const bool low = storage.low_precision();
  if (!low && storage.sharing() == nullptr) {
    storage.point_at(weights);
    return;
  }
  const at::Tensor shown = low ? storage.weights() : at::empty_like(storage.master());
  for (const Shard& shard : storage.own())
    shown.narrow(0, shard.begin, shard.size())
        .copy_(storage.range(weights, shard, shard.begin, shard.end));
  gather_shards(storage, shown);
  if (!low) storage.point_at(shown);
}

void ShownWeights::end() {
  show_own_shards(storage_);
  if (ends_with_all_ranks(storage_)) gather_shards(storage_, storage_.weights());
  ended_ = true;
}

ShownWeights::~ShownWeights() {
  if (ended_) return;
  LOCKSTEP_CHECK(std::uncaught_exceptions() > exceptions_ || !ends_with_all_ranks(storage_));
  try {
    show_own_shards(storage_);
  } catch (const std::exception&) {
    // The device has failed before, and the exception in progress reports that.
  }
}

}  // namespace lockstep
