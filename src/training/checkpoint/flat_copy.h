// Copies flat buffers to the host. Also works for ranks that share the update.
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

// The copy of one buffer: whole, or bucket after bucket. Empty on ranks that only contribute their
// shards. A copy of a state holds only the parameters that have this state.
class FlatCopy {
 public:
  bool empty() const { return chunks_.empty(); }
  std::int64_t elements() const;  // number held, padding included; waits for the copy
  // Returns the part of each trained parameter that this copy holds, on the CPU, under prefix +
  // name. Waits for the copy.
  std::vector<std::pair<std::string, at::Tensor>> tensors(const ParameterStorage& storage,
                                                          const std::string& prefix) const;

 private:
  friend class FlatCopier;
  struct Chunk {
    std::size_t bucket = 0;          // 0 for a whole buffer
    std::unique_ptr<Download> copy;  // [elements], or [ranks, n] with each rank's shard
  };
  struct Place {  // where a parameter begins
    std::size_t bucket = 0;
    std::int64_t begin = 0;
  };
  std::vector<at::Tensor> buckets() const;
  std::vector<Chunk> chunks_;                 // chunks of one bucket follow each other
  std::vector<std::optional<Place>> places_;  // by parameter; nothing: the parameter is not in this
                                              // copy
};

// Each rank that shares the update makes one copier. All of these ranks then call `copy` for the
// same buffers in the same order. Each bucket's shards are gathered through one buffer on the
// device. This buffer is as large as the largest bucket if all ranks have the memory for that, and
// smaller otherwise. If a rank still runs out of memory, the ranks nevertheless call the same
// gathers, but rank 0's copies are unusable.
class FlatCopier {
 public:
  // keep: whether this rank wants the copies.
  FlatCopier(const ParameterStorage& storage, Backend& backend, bool keep);
  // flat: f32 [elements], or [own_elements] where ranks share.
  FlatCopy copy(const at::Tensor& flat);
  // Ranks that share the update gather only the buckets in which a parameter has the state.
  FlatCopy copy(const StateBuffer& state);
  // Runs `function`, which copies something else. If it runs out of memory, this counts as a
  // failure of the copier. Returns true if memory sufficed.
  bool attempt(const std::function<void()>& function);
  // Why copies are missing; empty if none is.
  const std::string& failure() const { return failure_; }

 private:
  void find_staging();
  // Gathers the buckets for which takes(bucket) is true, the same buckets on all ranks. read(shard,
  // begin, end, out) writes this rank's elements [begin, end) to `out`.
  using Read = std::function<void(const Shard&, std::int64_t, std::int64_t, const at::Tensor&)>;
  FlatCopy gather_buckets(const std::function<bool(const Bucket&)>& takes, const Read& read);
  void gather(FlatCopy& copy, std::size_t bucket, const Shard& shard, const Read& read);
  std::vector<std::optional<FlatCopy::Place>> places(bool in_buckets) const;
  void keep(FlatCopy& copy, std::size_t bucket, const at::Tensor& tensor);

  const ParameterStorage& storage_;
  Backend& backend_;
  bool keep_;
  at::Tensor staging_;  // f32; undefined if ranks do not share, or nothing is to be gathered
  std::string failure_;
};

}  // namespace lockstep
