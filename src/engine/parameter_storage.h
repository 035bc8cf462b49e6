// Where a model's trained parameters lie: one flat buffer, its layout, and views into it.
#pragma once

#include "engine/frozen_parameters.h"
#include "engine/model_parameters.h"
#include "engine/recipe.h"
#include "plan/buckets.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep {

class ProcessGroup;

// Elements [begin, end) of the storage that a rank updates; they begin at `at` in buffers that hold
// the rank's own pieces only, one behind the other.
struct Piece {
  std::int64_t begin = 0, end = 0, at = 0;
  std::int64_t size() const { return end - begin; }
};

// Takes a freshly built model's parameters (CPU) and makes those that are trained (fp32) views into
// a flat buffer on the device, laid out by plan/buckets.h. Afterwards their Parameter::tensor
// handles are views of `master` where the compute dtype is fp32, else of `working`, a copy of
// `master` in that dtype which `refresh_working` makes. A parameter that the model registers under
// two names lies there once, under the first. Frozen parameters are moved to the device beside it.
//
// With `sharing` the optimizer is sharded over its ranks: each bucket is cut into a shard ("piece")
// per rank, and `own` are this rank's. Whatever only the update needs is kept for these alone: in
// low precision also the master weights. One rank shares nothing. No shard cuts a parameter of
// which the update must see the whole (Granularity::matrix): then the layout is another one.
//
// Owns the buffers; the model keeps the handles. Gradients lie in GradientBuffers. One thread, on
// the training stream.
class ParameterStorage {
 public:
  // Throws Error for parameters that sort_parameters refuses.
  ParameterStorage(const std::vector<Parameter>& registered, at::Device device,
                   at::ScalarType compute_dtype, ProcessGroup* sharing = nullptr,
                   std::int64_t bucket_bytes = usual_bucket_bytes,
                   OptimizerKind optimizer = OptimizerKind::adamw);
  ParameterStorage(const ParameterStorage&) = delete;
  ParameterStorage& operator=(const ParameterStorage&) = delete;

  const std::vector<Parameter>& parameters() const { return parameters_; }  // trained, each once
  // All tensors of the model that share parameter i's memory, its own first. Each of them that
  // requires grad is a leaf of autograd.
  const std::vector<at::Tensor>& handles(std::size_t i) const { return handles_[i]; }
  const FrozenParameters& frozen() const { return frozen_; }
  FrozenParameters& frozen() { return frozen_; }
  const std::vector<Alias>& aliases() const { return aliases_; }
  const ArenaLayout& layout() const { return layout_; }
  const std::vector<std::int64_t>& sizes() const { return sizes_; }
  const std::vector<Bucket>& buckets() const { return buckets_; }
  bool low_precision() const { return working_.defined(); }
  // Parameters in the order of their places.
  std::vector<std::size_t> in_order() const;
  // The end of parameter i's place, and of the padding behind it.
  std::int64_t end_of(std::size_t i) const;
  // Null where every rank does the whole update.
  ProcessGroup* sharing() const { return sharing_; }
  // A piece per bucket, or the whole storage as one.
  const std::vector<Piece>& own() const { return own_; }
  std::int64_t own_elements() const { return own_.back().at + own_.back().size(); }

  // f32 [elements]; padding between parameters is 0. Shared in low precision: [own_elements].
  at::Tensor& master() { return master_; }
  const at::Tensor& master() const { return master_; }
  const at::Tensor& working() const { return working_; }  // undefined in fp32
  // The weights that the model computes with: `working`, or in fp32 `master`.
  const at::Tensor& weights() const { return low_precision() ? working_ : master_; }
  // Parameter i's part of a flat buffer [elements], in its shape. It has the strides that it was
  // built with where it was dense (engine/layout.h).
  at::Tensor view(const at::Tensor& flat, std::size_t i) const;
  // The same view of a row [sizes()[i]] that holds parameter i alone.
  at::Tensor shaped(const at::Tensor& row, std::size_t i) const;
  // Elements [begin, end) of `piece` in a flat buffer: [elements], or [own_elements].
  at::Tensor range(const at::Tensor& flat, const Piece& piece, std::int64_t begin,
                   std::int64_t end) const;
  // Writes parameter i's values, of its shape, into such a buffer, as far as it holds them.
  void fill(const at::Tensor& flat, std::size_t i, const at::Tensor& values) const;
  // Writes parameter i's weights, to the master and to the working copy.
  void set_weights(std::size_t i, const at::Tensor& values);
  // Casts this rank's master weights to the working copy.
  void refresh_working();
  // Where the optimizer is sharded: gathers the other ranks' pieces of the weights that the model
  // computes with. All ranks, after each changed its own.
  void gather_weights();

  // The model computes with these weights, f32 [own_elements], in place of its own, until
  // `show_weights`. Between steps only, by all ranks that share. In fp32 without sharing nothing is
  // copied.
  void show(const at::Tensor& flat);
  void show_weights();

 private:
  ParameterStorage(ModelParameters sorted, at::Device device, at::ScalarType compute_dtype,
                   ProcessGroup* sharing, std::int64_t bucket_bytes, OptimizerKind optimizer);
  void lay_out_parameters(std::int64_t bucket_bytes, OptimizerKind optimizer);
  void find_own_pieces();
  void gather(const at::Tensor& flat);
  void point_at(const at::Tensor& flat);

  std::vector<Parameter> parameters_;
  std::vector<std::vector<at::Tensor>> handles_;
  FrozenParameters frozen_;
  std::vector<Alias> aliases_;
  std::vector<std::int64_t> sizes_;
  std::vector<std::vector<std::int64_t>> strides_;
  ArenaLayout layout_;
  std::vector<Bucket> buckets_;
  ProcessGroup* sharing_ = nullptr;
  std::vector<Piece> own_;
  at::Tensor master_, working_;
};

}  // namespace lockstep
