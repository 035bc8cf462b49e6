// The memory of a model's trained parameters: one flat buffer, its layout, and views into it.
#pragma once

#include "planning/batch/buckets.h"
#include "planning/batch/shard.h"
#include "training/parameters/frozen_parameters.h"
#include "training/parameters/model_parameters.h"
#include "training/recipe/recipe.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace lockstep {

class ProcessGroup;

// A trained parameter's place in the flat buffers, in elements.
struct ParameterPlace {
  std::int64_t begin = 0, elements = 0, end = 0;  // end: after the padding
  std::vector<std::int64_t> strides;              // strides of its views (backends/layout.h)
  // All tensors of the model that share this parameter's memory, the parameter's own first. Each of
  // them that requires grad is a leaf of autograd.
  std::vector<at::Tensor> handles;
};

// Takes a freshly built model's parameters (CPU). The trained ones (fp32) become views into a flat
// buffer on the device, with the layout of planning/batch/buckets.h. If the compute dtype is fp32,
// their Parameter::tensor handles become views of `master`. Otherwise they become views of the
// working copy, a copy of `master` in the compute dtype that `cast_weights` makes. If the model
// registers a parameter under two names, the buffer has it once, under the first name. Frozen
// parameters are moved to the device separately.
//
// With `sharing` the optimizer is sharded over the ranks of that group. Each bucket is cut into one
// shard per rank, and `own` lists this rank's shards. Some data is needed only by the update, such
// as the master weights in low precision. A rank keeps such data for its own shards alone. A group
// of one rank shares nothing. No shard boundary cuts a parameter that the update must see as a
// whole (Granularity::matrix). So such parameters change the layout.
//
// Owns the buffers, while the model keeps the handles. GradientBuffers holds the gradients. One
// thread, on the training stream.
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
  const std::vector<ParameterPlace>& places() const { return places_; }     // by parameter
  const std::vector<Alias>& aliases() const { return aliases_; }
  const FrozenParameters& frozen() const { return frozen_; }
  FrozenParameters& frozen() { return frozen_; }

  const std::vector<Bucket>& buckets() const { return buckets_; }
  // Parameters in the order of their places.
  std::vector<std::size_t> in_order() const;
  // This rank's shard of each bucket, or the whole storage as one shard.
  const std::vector<Shard>& own() const { return own_; }
  // Null if every rank does the whole update.
  ProcessGroup* sharing() const { return sharing_; }
  std::int64_t elements() const { return elements_; }  // of a whole buffer, with padding
  std::int64_t own_elements() const { return own_.back().offset + own_.back().size(); }
  bool low_precision() const { return working_.defined(); }

  // f32 [elements]; padding between parameters is 0. Sharded in low precision: [own_elements].
  const at::Tensor& master() const { return master_; }
  // The weights that the model computes with, [elements]: the working copy, or in fp32 `master`.
  const at::Tensor& weights() const { return low_precision() ? working_ : master_; }
  // Parameter i's part of a flat buffer [elements], in its shape and with its strides.
  at::Tensor view(const at::Tensor& flat, std::size_t i) const;
  // The same view of `row` [places()[i].elements], which holds parameter i alone.
  at::Tensor shaped(const at::Tensor& row, std::size_t i) const;
  // Elements [begin, end) of `shard` in a flat buffer, which is [elements] or [own_elements].
  at::Tensor range(const at::Tensor& flat, const Shard& shard, std::int64_t begin,
                   std::int64_t end) const;
  // Writes parameter i's values, which have its shape, into such a flat buffer. Elements that the
  // buffer does not hold are skipped.
  void write(const at::Tensor& flat, std::size_t i, const at::Tensor& values) const;
  // Writes parameter i's weights to the master weights and to the working copy.
  void set_weights(std::size_t i, const at::Tensor& values);
  // Casts this rank's shards of the master weights to the working copy. Does nothing in fp32.
  void cast_weights();
  // Makes the model's handles views of a flat buffer [elements] in the compute dtype. The handles
  // keep this buffer alive. ShownWeights uses it.
  void point_at(const at::Tensor& flat);

 private:
  ParameterStorage(ModelParameters sorted, at::Device device, at::ScalarType compute_dtype,
                   ProcessGroup* sharing, std::int64_t bucket_bytes, OptimizerKind optimizer);
  void lay_out_parameters(std::int64_t bucket_bytes, OptimizerKind optimizer);
  void find_own_shards();

  std::vector<Parameter> parameters_;
  std::vector<ParameterPlace> places_;
  FrozenParameters frozen_;
  std::vector<Alias> aliases_;
  std::int64_t elements_ = 0;
  std::vector<Bucket> buckets_;
  ProcessGroup* sharing_ = nullptr;
  std::vector<Shard> own_;
  at::Tensor master_, working_;
};

}  // namespace lockstep
