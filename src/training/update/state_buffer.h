// Holds one state of the update rule, for example the momentum, for all parameters that have it.
#pragma once

#include "training/parameters/parameter_storage.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// The buffer is flat, f32. It holds this rank's shards of the parameters that have the state, one
// after the other. If all parameters have the state, the buffer has the layout of the storage's own
// shards. The buffer begins with zeros. This object owns the buffer, and `storage` must outlive the
// object. All calls must come from one thread, with the training stream as the current stream.
class StateBuffer {
 public:
  // name: the prefix of the state's tensors in checkpoints. has: for each parameter, whether it has
  // the state.
  StateBuffer(const ParameterStorage& storage, std::string name, std::vector<bool> has);

  const std::string& name() const { return name_; }
  const at::Tensor& flat() const { return flat_; }  // f32 [elements that this rank keeps]
  bool has(std::size_t parameter) const { return has_[parameter]; }
  // Whether any parameter of the bucket has the state. The result is the same on all ranks, even if
  // this rank's shard holds nothing of the state.
  bool has_any(const Bucket& bucket) const;
  // Whether all parameters have the state, so that flat() has the layout of the storage's own
  // shards.
  bool is_of_all() const;
  // The first element of the parameter in flat(), or nothing if the parameter does not have the
  // state. Do not call it if the optimizer is sharded.
  std::optional<std::int64_t> place(std::size_t parameter) const;
  // Returns a view of the state of elements [begin, end) of the storage. All these elements must be
  // in one shard of this rank, and their parameters must have the state.
  at::Tensor range(std::int64_t begin, std::int64_t end) const;
  // Copies the state of elements [begin, end) of the storage to `out`, f32 [end - begin]. Elements
  // that this rank does not keep or that do not have the state become 0.
  void read(std::int64_t begin, std::int64_t end, const at::Tensor& out) const;
  // Sets the state of the parameter to `values`, which must have the parameter's shape. Elements
  // that this rank does not keep are skipped.
  void fill(std::size_t parameter, const at::Tensor& values) const;

 private:
  struct Segment {  // elements [begin, end) of the storage are at `offset` in the buffer
    std::int64_t begin = 0, end = 0, offset = 0;
  };
  template <class Function>
  void for_each(std::int64_t begin, std::int64_t end, const Function& function) const;

  const ParameterStorage& storage_;
  std::string name_;
  std::vector<bool> has_;
  std::vector<Segment> segments_;  // in ascending order
  at::Tensor flat_;
};

}  // namespace lockstep
