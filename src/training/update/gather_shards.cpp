// Starts an all-gather for each bucket. All of them are in progress together.
#include "training/update/gather_shards.h"

#include "training/distributed/process_group.h"

#include <ATen/core/grad_mode.h>

#include <memory>
#include <vector>

namespace lockstep {

void gather_shards(const ParameterStorage& storage, const at::Tensor& flat) {
  if (storage.sharing() == nullptr) return;
  const at::NoGradGuard no_grad;
  std::vector<std::unique_ptr<Pending>> pending;
  for (const Bucket& bucket : storage.buckets())
    pending.push_back(
        storage.sharing()->gather_shards(flat.narrow(0, bucket.begin, bucket.end - bucket.begin)));
  for (const auto& bucket : pending) bucket->wait();
}

}  // namespace lockstep
