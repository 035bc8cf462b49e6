// Keeps a model's trained parameters in one flat buffer, with its layout and views into it.
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

// A trained parameter's place in each flat buffer, in elements.
struct ParameterPlace {
  std::int64_t begin = 0, elements = 0, end = 0;  // `end` includes the padding
  std::vector<std::int64_t> strides;  // strides of the parameter's view (backends/layout.h)
  // All tensors of the model that share this parameter's memory. The first is Parameter::tensor.
  // Each of them is a leaf; autograd accumulates gradients for the tensors that require grad.
  std::vector<at::Tensor> handles;
};

// Takes the parameters of a freshly built model on the CPU. Trained parameters (fp32) become views
// into a flat buffer on the device. planning/batch/buckets.h describes the layout of this buffer.
// In fp32, the model's tensors become views of `master`, the master weights. In bf16 or fp16 ("low
// precision"), they become views of the working copy, which `cast_weights` makes from `master`. A
// parameter with several names is in the buffer once, under the first name. Frozen parameters are
// moved to the device separately (FrozenParameters).
//
// If `sharing` is not null, the optimizer is sharded over the ranks of that group. Each bucket is
// then cut into one shard per rank, and `own` lists this rank's shards. A rank keeps data that only
// the update needs for its own shards only. In low precision, such data includes the master
// weights. No shard boundary cuts a parameter that the update needs as a whole
// (Granularity::matrix), so such parameters change the layout. With a group of one rank, the
// optimizer is not sharded.
//
// This object owns the buffers, and the model keeps its tensor handles. GradientBuffers holds the
// gradients. All calls must come from one thread, with the training stream as the current stream.
class ParameterStorage {
 public:
  // Throws Error in the cases in which sort_parameters does.
  ParameterStorage(const std::vector<Parameter>& registered, at::Device device,
                   at::ScalarType compute_dtype, ProcessGroup* sharing = nullptr,
                   std::int64_t bucket_bytes = usual_bucket_bytes,
                   OptimizerKind optimizer = OptimizerKind::adamw);
  ParameterStorage(const ParameterStorage&) = delete;
  ParameterStorage& operator=(const ParameterStorage&) = delete;

  // The trained parameters, each once.
  const std::vector<Parameter>& parameters() const { return parameters_; }
  const std::vector<ParameterPlace>& places() const { return places_; }  // one for each parameter
  const std::vector<Alias>& aliases() const { return aliases_; }
  const FrozenParameters& frozen() const { return frozen_; }
  FrozenParameters& frozen() { return frozen_; }

  const std::vector<Bucket>& buckets() const { return buckets_; }
  // Returns the parameters' indexes in the order in which the parameters lie in the buffer.
  std::vector<std::size_t> in_order() const;
  // This rank's shard of each bucket. If the optimizer is not sharded, the whole storage is one
  // shard.
  const std::vector<Shard>& own() const { return own_; }
  // The group over which the optimizer is sharded; null if it is not sharded.
  ProcessGroup* sharing() const { return sharing_; }
  // The number of elements of a whole flat buffer, with padding.
  std::int64_t elements() const { return elements_; }
  std::int64_t own_elements() const { return own_.back().offset + own_.back().size(); }
  bool low_precision() const { return working_.defined(); }

  // The master weights, f32 [elements]. The padding between parameters holds zeros. If the
  // optimizer is sharded in low precision, the tensor is f32 [own_elements].
  const at::Tensor& master() const { return master_; }
  // The weights with which the model computes, [elements]. In fp32 this is `master`, else the
  // working copy.
  const at::Tensor& weights() const { return low_precision() ? working_ : master_; }
  // Returns a view of parameter i in a flat buffer [elements], with the parameter's shape and
  // strides.
  at::Tensor view(const at::Tensor& flat, std::size_t i) const;
  // Returns `row` as a view with the shape and strides of parameter i. row: [places()[i].elements].
  at::Tensor shaped(const at::Tensor& row, std::size_t i) const;
  // Returns a view of elements [begin, end), which must lie in `shard`. flat: a buffer of
  // [elements], or of [own_elements], which has only this rank's shards.
  at::Tensor range(const at::Tensor& flat, const Shard& shard, std::int64_t begin,
                   std::int64_t end) const;
  // Writes `values`, in the shape of parameter i, into a buffer of [elements] or [own_elements].
  // Elements that the buffer does not hold are skipped.
  void write(const at::Tensor& flat, std::size_t i, const at::Tensor& values) const;
  // Writes parameter i's weights to the master weights and to the working copy.
  void set_weights(std::size_t i, const at::Tensor& values);
  // Casts this rank's shards of the master weights to the working copy. Does nothing in fp32.
  void cast_weights();
  // Makes the model's tensors views of another flat buffer, [elements] in the compute dtype. The
  // tensors keep this buffer alive. ShownWeights calls it.
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
