// Copies flat buffers to the host, also for ranks that share the update.
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

// The copy of one buffer: whole, or bucket after bucket. Empty on ranks that only contribute their
// shards.
class FlatCopy {
 public:
  bool empty() const { return chunks_.empty(); }
  // Each trained parameter's part of the buffer, on the CPU, under prefix + name. Waits for the
  // copy.
  std::vector<std::pair<std::string, at::Tensor>> tensors(const ParameterStorage& storage,
                                                          const std::string& prefix) const;

 private:
  friend class FlatCopier;
  struct Chunk {
    std::size_t bucket = 0;          // 0 for a whole buffer
    std::unique_ptr<Download> copy;  // [elements], or [ranks, n] with each rank's shard
  };
  std::vector<at::Tensor> buckets(const ParameterStorage& storage) const;
  std::vector<Chunk> chunks_;  // those of one bucket follow each other
};

// Ranks that share the update each make one, and then call `copy` for the same buffers in the same
// order. Each bucket's shards are gathered through one buffer on the device. It is as large as the
// largest bucket if all ranks have the memory for it, and smaller otherwise. If any rank still runs
// out of memory, the gathers match nevertheless, and rank 0's copies are unusable.
class FlatCopier {
 public:
  // keep: whether this rank wants the copies.
  FlatCopier(const ParameterStorage& storage, Backend& backend, bool keep);
  // flat: f32 [elements], or [own_elements] where ranks share.
  FlatCopy copy(const at::Tensor& flat);
  // Runs another copy. Lack of memory in `function` counts as a failure like any other here.
  // Returns true if there was none.
  bool attempt(const std::function<void()>& function);
  // Why copies are missing; empty if none is.
  const std::string& failure() const { return failure_; }

 private:
  void find_staging();
  void gather(FlatCopy& copy, const at::Tensor& flat, std::size_t bucket, const Shard& shard);
  void keep(FlatCopy& copy, std::size_t bucket, const at::Tensor& tensor);

  const ParameterStorage& storage_;
  Backend& backend_;
  bool keep_;
  at::Tensor staging_;  // f32; undefined if ranks do not share, or nothing is to be gathered
  std::string failure_;
};

}  // namespace lockstep
