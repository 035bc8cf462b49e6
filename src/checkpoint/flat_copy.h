// Flat buffers on their way to the host, also of ranks that share the update.
#pragma once

#include "engine/backend.h"
#include "engine/parameter_storage.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

// The copy of one: whole, or bucket after bucket. Empty on ranks that only give their shards.
class FlatCopy {
 public:
  bool empty() const { return chunks_.empty(); }
  // Of each trained parameter its part, on the CPU, under prefix + name; waits for it.
  std::vector<std::pair<std::string, at::Tensor>> tensors(const ParameterStorage& storage,
                                                          const std::string& prefix) const;

 private:
  friend class FlatCopier;
  struct Chunk {
    std::size_t bucket = 0;          // of a whole buffer: 0
    std::unique_ptr<Download> copy;  // [elements], or [ranks, n] of each rank's shard
  };
  std::vector<at::Tensor> buckets(const ParameterStorage& storage) const;
  std::vector<Chunk> chunks_;  // those of one bucket one behind the other
};

// Ranks that share the update make one together, and then call `copy` for the same buffers in the
// same order: each bucket's shards are gathered through one buffer on the device, as large as the
// largest bucket where all ranks have the memory for it, smaller where one has not. Where memory
// runs out on any rank all the same, the gathers still match, and rank 0's copies are of no use.
class FlatCopier {
 public:
  // keep: whether this rank wants the copies.
  FlatCopier(const ParameterStorage& storage, Backend& backend, bool keep);
  // flat: f32 [elements], or [own_elements] where ranks share.
  FlatCopy copy(const at::Tensor& flat);
  // What else is to be copied: lack of memory in `function` is a failure like any other here. True
  // if there was none.
  bool attempt(const std::function<void()>& function);
  // Why copies are missing, in words; empty: none is.
  const std::string& failure() const { return failure_; }

 private:
  void find_staging();
  void gather(FlatCopy& copy, const at::Tensor& flat, std::size_t bucket, const Shard& shard);
  void keep(FlatCopy& copy, std::size_t bucket, const at::Tensor& tensor);

  const ParameterStorage& storage_;
  Backend& backend_;
  bool keep_;
  at::Tensor staging_;  // f32; undefined where no rank shares, or nothing is to be gathered
  std::string failure_;
};

}  // namespace lockstep
