// Common code of the fused batch norms. It prepares the arguments of the kernels for forward and
// backward.
#pragma once

#include "ops/batch_norm/batch_norm.h"
#include "ops/channel_norm/channel_norm_paths.h"
#include "ops/gradient_buffer/gradient_writer.h"

#include <torch/csrc/autograd/custom_function.h>

#include <optional>
#include <vector>

namespace lockstep {

// Whether the kernels support x with this norm. x must be channels-last and on a GPU, and the
// running statistics must be f32.
bool norm_kernels_take(const at::Tensor& x, const BatchNormState& state);

// Weight and bias in a common dtype that the kernels can read. Either may be undefined.
struct NormAffine {
  at::Tensor weight, bias;
  explicit NormAffine(const BatchNormState& state);
};

struct NormRule {
  bool given = false;  // whether x is normalised by the running statistics
  bool moves = false;  // whether the running statistics are updated
  bool relu = false;
  bool keep = false;  // whether a backward pass may follow
  // `inputs` are all tensors whose gradient may be needed.
  NormRule(bool training, bool relu, const std::vector<at::Tensor>& inputs);
};

// The input of one batch norm, and its values per channel.
struct Norm {
  at::Tensor rows;  // dense
  at::Tensor scale, shift;
  at::Tensor mean, inverse;  // f32 [C]

  // Allocates mean and inverse, which the kernels will write.
  Norm(const at::Tensor& dense, const std::optional<at::Tensor>& weight,
       const std::optional<at::Tensor>& bias);
  // Takes the tensors that saved_of returned. They are in `saved`, from index `at` on.
  Norm(const torch::autograd::variable_list& saved, std::size_t at);
  static constexpr std::size_t saved_tensors = 5;
  // Returns the tensors to save for backward. x is the tensor from which `rows` was made.
  torch::autograd::variable_list saved_of(const at::Tensor& x) const {
    return {x, scale, shift, mean, inverse};
  }
};

// Returns the arguments of a forward pass. The caller adds skip, y and `positive`. `partial` is the
// result of forward_partial, which the caller keeps until the kernels are enqueued.
ChannelNormForward norm_forward(const Norm& norm, const VoxelLayout& layout,
                                const BatchNormState& state, const NormRule& rule,
                                const at::Tensor& partial, const ChannelMoments& known);
at::Tensor forward_partial(const Norm& norm, const VoxelLayout& layout, const NormRule& rule,
                           const ChannelMoments& known);
at::Tensor norm_partial(const Norm& norm, const VoxelLayout& layout);

// The gradients of a norm's tensor, weight and bias, and the arguments of the kernels that compute
// them.
struct NormGradients {
  at::Tensor of_x, partial, sums;
  std::optional<GradientWriter> writer;  // writes the gradients of weight and bias
  ChannelNormBackward launch;            // the caller adds of_y, positive, of_skip and relu
  std::size_t places = 0;                // index of the autograd input after this norm's inputs

  // `place` is the index of the norm's tensor among the inputs of the autograd function. The norm's
  // weight and bias, if defined, follow it. `layout` is the layout of the tensor over whose
  // elements the kernels add up gradients: the norm's tensor, or the result of a pool.
  NormGradients(torch::autograd::AutogradContext& context, const Norm& norm,
                const VoxelLayout& layout, bool given, std::size_t place);
  void give(torch::autograd::variable_list& to, std::size_t at) const;
};

// Computes the gradients of a norm's tensor, weight and bias with ATen, for a backward pass that is
// itself differentiated. Writes the gradients to `to` from index `at` on. `saved` holds the tensors
// of saved_of from index `saved_at` on. `up` is the gradient of the norm's result.
void differentiate_norm(const torch::autograd::variable_list& saved, std::size_t saved_at,
                        const at::Tensor& up, bool given, bool relu, double eps,
                        torch::autograd::variable_list& to, std::size_t at);

}  // namespace lockstep
