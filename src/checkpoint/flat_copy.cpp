#include "checkpoint/flat_copy.h"

#include "checkpoint/host_copy.h"
#include "engine/out_of_memory.h"
#include "engine/process_group.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include <algorithm>

namespace lockstep {
namespace {

// Elements of a rank's shard: gathering less at once would take far too long.
constexpr std::int64_t smallest_chunk = 1 << 14;

}  // namespace

std::vector<at::Tensor> FlatCopy::buckets(const ParameterStorage& storage) const {
  std::vector<std::vector<at::Tensor>> parts(storage.buckets().size());
  for (const Chunk& chunk : chunks_) parts[chunk.bucket].push_back(chunk.copy->get());
  std::vector<at::Tensor> buckets;
  for (const auto& of_bucket : parts)
    if (!of_bucket.empty())
      buckets.push_back((of_bucket.size() == 1 ? of_bucket[0] : at::cat(of_bucket, 1)).view({-1}));
  return buckets;
}

std::vector<std::pair<std::string, at::Tensor>> FlatCopy::tensors(const ParameterStorage& storage,
                                                                  const std::string& prefix) const {
  const std::vector<at::Tensor> buckets = this->buckets(storage);
  const bool whole = buckets.size() == 1 && buckets[0].numel() == storage.elements();
  std::vector<std::pair<std::string, at::Tensor>> tensors(storage.parameters().size());
  for (std::size_t b = 0; b < storage.buckets().size(); ++b)
    for (const std::int64_t p : storage.buckets()[b].parameters) {
      const auto i = static_cast<std::size_t>(p);
      const std::int64_t begin =
          storage.places()[i].begin - (whole ? 0 : storage.buckets()[b].begin);
      const at::Tensor row = buckets[whole ? 0 : b].narrow(0, begin, storage.places()[i].elements);
      tensors[i] = {prefix + storage.parameters()[i].name, storage.shaped(row, i)};
    }
  return tensors;
}

FlatCopier::FlatCopier(const ParameterStorage& storage, Backend& backend, bool keep)
    : storage_(storage), backend_(backend), keep_(keep) {
  if (storage.sharing() != nullptr) find_staging();
}

bool FlatCopier::attempt(const std::function<void()>& function) {
  try {
    function();
    return true;
  } catch (const std::exception& error) {
    if (!is_out_of_memory(error)) throw;
  }
  failure_ = "memory ran out while the weights were copied to the host";
  return false;
}

// The same size on all ranks, or nothing on all.
void FlatCopier::find_staging() {
  ProcessGroup& group = *storage_.sharing();
  std::int64_t chunk = 0;
  for (const Shard& shard : storage_.own()) chunk = std::max(chunk, shard.size());
  for (;; chunk /= 4) {
    const bool got = attempt([&] {
      staging_ = retry_after_freeing(
          [&] { return at::empty({chunk * group.size()}, storage_.master().options()); },
          [&] { backend_.release_cached_memory(); });
    });
    if (group.all_agree(got)) {
      failure_.clear();
      return;
    }
    staging_.reset();
    if (chunk / 4 < smallest_chunk) break;
  }
  failure_ = "memory ran out on a rank while the weights were gathered";
}

void FlatCopier::keep(FlatCopy& copy, std::size_t bucket, const at::Tensor& tensor) {
  if (!keep_ || !failure_.empty()) return;
  attempt([&] { copy.chunks_.push_back({bucket, copy_to_host(backend_, tensor)}); });
}

void FlatCopier::gather(FlatCopy& copy, const at::Tensor& flat, std::size_t bucket,
                        const Shard& shard) {
  ProcessGroup& group = *storage_.sharing();
  const std::int64_t most = staging_.numel() / group.size();
  for (std::int64_t begin = shard.begin; begin < shard.end; begin += most) {
    const std::int64_t end = std::min(begin + most, shard.end);
    const at::Tensor all = staging_.narrow(0, 0, (end - begin) * group.size());
    const at::Tensor rows = all.view({group.size(), end - begin});
    rows[group.rank()].copy_(storage_.range(flat, shard, begin, end));
    group.gather_shards(all)->wait();
    keep(copy, bucket, rows);
  }
}

FlatCopy FlatCopier::copy(const at::Tensor& flat) {
  FlatCopy copy;
  if (flat.numel() == storage_.elements()) {
    keep(copy, 0, flat);
    return copy;
  }
  if (!staging_.defined()) return copy;
  for (std::size_t b = 0; b < storage_.own().size(); ++b) gather(copy, flat, b, storage_.own()[b]);
  return copy;
}

}  // namespace lockstep
