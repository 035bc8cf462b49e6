// One state of the update rule, for example a momentum, for those parameters that have it.
#pragma once

#include "training/parameters/parameter_storage.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// A flat f32 buffer of this rank's shards of the parameters that have the state, one after the
// other. If all parameters have the state, its layout is that of the storage's own shards. The
// buffer is initialised with zeros. Owns the buffer. `storage` outlives it. One thread, on the
// training stream.
class StateBuffer {
 public:
  // name: the prefix of the state in checkpoints. has: by parameter, whether the parameter has the
  // state.
  StateBuffer(const ParameterStorage& storage, std::string name, std::vector<bool> has);

  const std::string& name() const { return name_; }
  const at::Tensor& flat() const { return flat_; }  // f32 [elements that this rank keeps]
  bool has(std::size_t parameter) const { return has_[parameter]; }
  // Whether any parameter of the bucket has the state. The same on all ranks, whatever their shards
  // hold.
  bool has_any(const Bucket& bucket) const;
  // Whether flat() has the layout of the storage's own shards.
  bool is_of_all() const;
  // Where the parameter begins in flat(). Nothing if it does not have the state. Do not call it if
  // the optimizer is sharded.
  std::optional<std::int64_t> place(std::size_t parameter) const;
  // The state of elements [begin, end) of the storage. All of them must be in one shard of this
  // rank, and their parameters must have the state.
  at::Tensor range(std::int64_t begin, std::int64_t end) const;
  // Copies the state of elements [begin, end) to `out`, f32 [end - begin], with zeros where a
  // parameter does not have the state.
  void read(std::int64_t begin, std::int64_t end, const at::Tensor& out) const;
  // Sets the state of the parameter to `values`, which have its shape. Elements that this rank does
  // not keep are skipped.
  void fill(std::size_t parameter, const at::Tensor& values) const;

 private:
  struct Segment {  // elements [begin, end) of the storage lie at `offset` in the buffer
    std::int64_t begin = 0, end = 0, offset = 0;
  };
  template <class Function>
  void for_each(std::int64_t begin, std::int64_t end, const Function& function) const;

  const ParameterStorage& storage_;
  std::string name_;
  std::vector<bool> has_;
  std::vector<Segment> segments_;  // in the order of their places
  at::Tensor flat_;
};

}  // namespace lockstep
