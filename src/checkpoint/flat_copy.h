// Flat buffers on their way to the host, also of ranks that share the update.
#pragma once

#include "engine/backend.h"
#include "engine/parameter_storage.h"
#include "engine/state_buffer.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

// The copy of one: whole, or bucket after bucket. Empty on ranks that only give their pieces. Of a
// state it holds those parameters that have it.
class FlatCopy {
 public:
  bool empty() const { return chunks_.empty(); }
  // The part of each trained parameter that it holds, on the CPU, under prefix + name; waits for
  // it.
  std::vector<std::pair<std::string, at::Tensor>> tensors(const ParameterStorage& storage,
                                                          const std::string& prefix) const;

 private:
  friend class FlatCopier;
  struct Chunk {
    std::size_t bucket = 0;          // of a whole buffer: 0
    std::unique_ptr<Download> copy;  // [elements], or [ranks, n] of each rank's piece
  };
  struct Place {  // where a parameter begins
    std::size_t bucket = 0;
    std::int64_t begin = 0;
  };
  std::vector<at::Tensor> buckets() const;
  std::vector<Chunk> chunks_;                 // those of one bucket one behind the other
  std::vector<std::optional<Place>> places_;  // by parameter; nothing: it is not here
};

// Ranks that share the update make one together, and then call `copy` for the same buffers in the
// same order: each bucket's pieces are gathered through one buffer on the device, as large as the
// largest bucket where all ranks have the memory for it, smaller where one has not. Where memory
// runs out on any rank all the same, the gathers still match, and rank 0's copies are of no use.
class FlatCopier {
 public:
  // keep: whether this rank wants the copies.
  FlatCopier(const ParameterStorage& storage, Backend& backend, bool keep);
  // flat: f32 [elements], or [own_elements] where ranks share.
  FlatCopy copy(const at::Tensor& flat);
  FlatCopy copy(const StateBuffer& state);
  // What else is to be copied: lack of memory in `function` is a failure like any other here. True
  // if there was none.
  bool attempt(const std::function<void()>& function);
  // Why copies are missing, in words; empty: none is.
  const std::string& failure() const { return failure_; }

 private:
  void find_staging();
  // Gathers all buckets; read(piece, begin, end, out): this rank's elements [begin, end) to `out`.
  using Read = std::function<void(const Piece&, std::int64_t, std::int64_t, const at::Tensor&)>;
  FlatCopy gather_all(const Read& read);
  void gather(FlatCopy& copy, std::size_t bucket, const Piece& piece, const Read& read);
  std::vector<std::optional<FlatCopy::Place>> places(bool in_buckets) const;
  void keep(FlatCopy& copy, std::size_t bucket, const at::Tensor& tensor);

  const ParameterStorage& storage_;
  Backend& backend_;
  bool keep_;
  at::Tensor staging_;  // f32; undefined where no rank shares, or nothing is to be gathered
  std::string failure_;
};

}  // namespace lockstep
