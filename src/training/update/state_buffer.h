// One state of the update rule, as a momentum, over those parameters that have it.
#pragma once

#include "training/parameters/parameter_storage.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// A flat f32 buffer that holds, one behind the other, this rank's shards of the parameters that
// have the state. Where all have it, it is laid out as [own_elements] of the storage. Begins at
// zeros. Owns the buffer; storage outlives it. One thread, on the training stream.
class StateBuffer {
 public:
  // name: its prefix in checkpoints. has: by parameter.
  StateBuffer(const ParameterStorage& storage, std::string name, std::vector<bool> has);

  const std::string& name() const { return name_; }
  const at::Tensor& flat() const { return flat_; }  // f32 [elements that this rank keeps]
  bool has(std::size_t parameter) const { return has_[parameter]; }
  // Whether a parameter of the bucket has it: the same on all ranks, whatever their shards hold.
  bool has_any(const Bucket& bucket) const;
  // Whether flat() is laid out as the storage's own shards are.
  bool is_of_all() const;
  // Where parameter i begins in flat(); nothing where it has no such state. Not where the optimizer
  // is sharded.
  std::optional<std::int64_t> place(std::size_t parameter) const;
  // Elements [begin, end) of the storage, all in one shard of this rank, of parameters that have
  // the state.
  at::Tensor range(std::int64_t begin, std::int64_t end) const;
  // Copies those elements to `out`, f32 [end - begin], with zeros where there is no such state.
  void read(std::int64_t begin, std::int64_t end, const at::Tensor& out) const;
  // Writes parameter i's values, of its shape, as far as this rank keeps them.
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
