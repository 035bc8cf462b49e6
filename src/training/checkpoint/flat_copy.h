// Copies flat buffers to the host. If the optimizer is sharded, the shards of all ranks are
// gathered.
#pragma once

#include "backends/backend.h"
#include "training/parameters/parameter_storage.h"
#include "training/update/state_buffer.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

// The copy of one flat buffer on the host, as a whole or in buckets. The copy is empty on ranks
// that only contribute their shards. A copy of an optimizer state holds only the parameters that
// have this state.
class FlatCopy {
 public:
  bool empty() const { return chunks_.empty(); }
  // Number of elements in this copy, with padding; waits for the copy.
  std::int64_t elements() const;
  // Returns each parameter in this copy as a CPU tensor, with the name prefix + parameter name.
  // Waits for the copy.
  std::vector<std::pair<std::string, at::Tensor>> tensors(const ParameterStorage& storage,
                                                          const std::string& prefix) const;

 private:
  friend class FlatCopier;
  struct Chunk {
    std::size_t bucket = 0;          // 0 for a whole buffer
    std::unique_ptr<Download> copy;  // [elements], or [ranks, n] with each rank's shard
  };
  struct Place {  // where a parameter begins in the copy
    std::size_t bucket = 0;
    std::int64_t begin = 0;
  };
  std::vector<at::Tensor> buckets() const;
  std::vector<Chunk> chunks_;  // in the order of buckets; a bucket may have several chunks
  // The place of each parameter, or nothing if the parameter is not in this copy.
  std::vector<std::optional<Place>> places_;
};

// Makes copies of flat buffers. If the optimizer is sharded, every rank makes a copier, and all
// ranks call `copy` for the same buffers in the same order. The shards of each bucket are gathered
// in a staging buffer on the device. This buffer has the size of the largest bucket if all ranks
// have the memory for it; otherwise it is smaller. If not even a small buffer fits, no rank
// gathers, and `failure` says why. If this rank later runs out of memory, it still takes part in
// all gathers, but its copies are incomplete.
class FlatCopier {
 public:
  // keep: whether this rank keeps the copies. Other ranks only contribute their shards.
  FlatCopier(const ParameterStorage& storage, Backend& backend, bool keep);
  // flat: f32 [elements], or f32 [own_elements] if the optimizer is sharded.
  FlatCopy copy(const at::Tensor& flat);
  // If the optimizer is sharded, only buckets in which some parameter has the state are gathered.
  FlatCopy copy(const StateBuffer& state);
  // Runs `function`. If `function` runs out of memory, sets `failure` and returns false; else
  // returns true. Other exceptions are not caught.
  bool attempt(const std::function<void()>& function);
  // Returns why copies are missing, or "" if no copy is missing.
  const std::string& failure() const { return failure_; }

 private:
  void find_staging();
  // Gathers the buckets for which takes(bucket) is true. These buckets must be the same on all
  // ranks. A call of read(shard, begin, end, out) must write this rank's elements [begin, end) to
  // `out`.
  using Read = std::function<void(const Shard&, std::int64_t, std::int64_t, const at::Tensor&)>;
  FlatCopy gather_buckets(const std::function<bool(const Bucket&)>& takes, const Read& read);
  void gather(FlatCopy& copy, std::size_t bucket, const Shard& shard, const Read& read);
  std::vector<std::optional<FlatCopy::Place>> places(bool in_buckets) const;
  void keep(FlatCopy& copy, std::size_t bucket, const at::Tensor& tensor);

  const ParameterStorage& storage_;
  Backend& backend_;
  bool keep_;
  at::Tensor staging_;  // f32; undefined if the optimizer is not sharded or memory ran out
  std::string failure_;
};

}  // namespace lockstep
