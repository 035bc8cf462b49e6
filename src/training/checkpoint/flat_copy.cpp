#include "training/checkpoint/flat_copy.h"

#include "backends/out_of_memory.h"
#include "training/checkpoint/host_copy.h"
#include "training/distributed/process_group.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include <algorithm>

namespace lockstep {
namespace {

// The fewest elements of a rank's shard to gather at once. With fewer, a gather would take far too
// long.
constexpr std::int64_t smallest_chunk = 1 << 14;

}  // namespace

std::int64_t FlatCopy::elements() const {
  std::int64_t elements = 0;
  for (const Chunk& chunk : chunks_) elements += chunk.copy->get().numel();
  return elements;
}

std::vector<at::Tensor> FlatCopy::buckets() const {
  // counts places too, because parameters without elements may lie in buckets without chunks
  std::size_t count = 0;
  for (const std::optional<Place>& place : places_)
    if (place) count = std::max(count, place->bucket + 1);
  for (const Chunk& chunk : chunks_) count = std::max(count, chunk.bucket + 1);
  std::vector<std::vector<at::Tensor>> parts(count);
  for (const Chunk& chunk : chunks_) parts[chunk.bucket].push_back(chunk.copy->get());
  std::vector<at::Tensor> buckets;
  for (const auto& of_bucket : parts) {
    if (of_bucket.empty())
      buckets.push_back(at::empty({0}));
    else
      buckets.push_back((of_bucket.size() == 1 ? of_bucket[0] : at::cat(of_bucket, 1)).view({-1}));
  }
  return buckets;
}

std::vector<std::pair<std::string, at::Tensor>> FlatCopy::tensors(const ParameterStorage& storage,
                                                                  const std::string& prefix) const {
  const std::vector<at::Tensor> buckets = this->buckets();
  std::vector<std::pair<std::string, at::Tensor>> tensors;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (!places_[i]) continue;
    const at::Tensor row =
        buckets[places_[i]->bucket].narrow(0, places_[i]->begin, storage.places()[i].elements);
    tensors.emplace_back(prefix + storage.parameters()[i].name, storage.shaped(row, i));
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

// Finds the size of the staging buffer. All ranks get the same size, or all get no buffer.
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

void FlatCopier::gather(FlatCopy& copy, std::size_t bucket, const Shard& shard, const Read& read) {
  ProcessGroup& group = *storage_.sharing();
  const std::int64_t most = staging_.numel() / group.size();
  for (std::int64_t begin = shard.begin; begin < shard.end; begin += most) {
    const std::int64_t end = std::min(begin + most, shard.end);
    const at::Tensor all = staging_.narrow(0, 0, (end - begin) * group.size());
    const at::Tensor rows = all.view({group.size(), end - begin});
    read(shard, begin, end, rows[group.rank()]);
    group.gather_shards(all)->wait();
    keep(copy, bucket, rows);
  }
}

// Returns where each parameter begins, in the whole buffer or in its bucket.
std::vector<std::optional<FlatCopy::Place>> FlatCopier::places(bool in_buckets) const {
  std::vector<std::optional<FlatCopy::Place>> places(storage_.parameters().size());
  for (std::size_t b = 0; b < storage_.buckets().size(); ++b) {
    const Bucket& bucket = storage_.buckets()[b];
    for (const std::int64_t p : bucket.parameters) {
      const auto i = static_cast<std::size_t>(p);
      places[i] = {.bucket = in_buckets ? b : 0,
                   .begin = storage_.places()[i].begin - (in_buckets ? bucket.begin : 0)};
    }
  }
  return places;
}

FlatCopy FlatCopier::gather_buckets(const std::function<bool(const Bucket&)>& takes,
                                    const Read& read) {
  FlatCopy copy;
  copy.places_ = places(/*in_buckets=*/true);
  if (!staging_.defined()) return copy;
  for (std::size_t b = 0; b < storage_.own().size(); ++b)
    if (takes(storage_.buckets()[b])) gather(copy, b, storage_.own()[b], read);
  return copy;
}

FlatCopy FlatCopier::copy(const at::Tensor& flat) {
  if (flat.numel() != storage_.elements())
    return gather_buckets(
        [](const Bucket&) { return true; },
        [&](const Shard& shard, std::int64_t begin, std::int64_t end, const at::Tensor& out) {
          out.copy_(storage_.range(flat, shard, begin, end));
        });
  FlatCopy copy;
  copy.places_ = places(/*in_buckets=*/false);
  keep(copy, 0, flat);
  return copy;
}

FlatCopy FlatCopier::copy(const StateBuffer& state) {
  if (state.is_of_all()) return copy(state.flat());
  FlatCopy copy;
  if (storage_.sharing() == nullptr) {
    for (std::size_t i = 0; i < storage_.parameters().size(); ++i) {
      const std::optional<std::int64_t> begin = state.place(i);
      copy.places_.push_back(begin ? std::optional(FlatCopy::Place{.bucket = 0, .begin = *begin})
                                   : std::nullopt);
    }
    keep(copy, 0, state.flat());
    return copy;
  }
  copy = gather_buckets([&](const Bucket& bucket) { return state.has_any(bucket); },
                        [&](const Shard&, std::int64_t begin, std::int64_t end,
                            const at::Tensor& out) { state.read(begin, end, out); });
  for (std::size_t i = 0; i < copy.places_.size(); ++i)
    if (!state.has(i)) copy.places_[i].reset();
  return copy;
}

}  // namespace lockstep
