// Common code of our batch norms: the arguments of one norm for the kernels, forward and backward.
#pragma once

#include "ops/batch_norm/batch_norm.h"
#include "ops/channel_norm/channel_norm_paths.h"
#include "ops/gradient_buffer/gradient_writer.h"

#include <torch/csrc/autograd/custom_function.h>

#include <optional>
#include <vector>

namespace lockstep {

// Whether the kernels support x with this norm. They need a channels-last tensor on a GPU.
bool norm_kernels_take(const at::Tensor& x, const BatchNormState& state);

// Weight and bias in one type that the kernels can read, or undefined.
struct NormAffine {
  at::Tensor weight, bias;
  explicit NormAffine(const BatchNormState& state);
};

struct NormRule {
  bool given = false;  // the norm uses the running statistics
  bool moves = false;  // the running statistics are updated
  bool relu = false;
  bool keep = false;  // a backward pass may follow
  // inputs: all tensors that may need a gradient.
  NormRule(bool training, bool relu, const std::vector<at::Tensor>& inputs);
};

// One norm: its tensor, and the values that belong to its channels.
struct Norm {
  at::Tensor rows;  // dense
  at::Tensor scale, shift;
  at::Tensor mean, inverse;  // f32 [C]

  // mean and inverse will be written.
  Norm(const at::Tensor& dense, const std::optional<at::Tensor>& weight,
       const std::optional<at::Tensor>& bias);
  // Reads the tensors that saved_of wrote, from `at` on.
  Norm(const torch::autograd::variable_list& saved, std::size_t at);
  static constexpr std::size_t saved_tensors = 5;
  // x: the input from which `rows` was made.
  torch::autograd::variable_list saved_of(const at::Tensor& x) const {
    return {x, scale, shift, mean, inverse};
  }
};

// Returns the arguments of a forward pass, without skip, y and the ReLU's bits. partial: f32. The
// caller keeps it until the kernels are enqueued. Undefined if the statistics are given or known.
ChannelNormForward norm_forward(const Norm& norm, const VoxelLayout& layout,
                                const BatchNormState& state, const NormRule& rule,
                                const at::Tensor& partial, const ChannelMoments& known);
at::Tensor forward_partial(const Norm& norm, const VoxelLayout& layout, const NormRule& rule,
                           const ChannelMoments& known);
at::Tensor norm_partial(const Norm& norm, const VoxelLayout& layout);

// The gradients of a norm's tensor, weight and bias.
struct NormGradients {
  at::Tensor of_x, partial, sums;
  std::optional<GradientWriter> writer;  // writes the gradients of weight and bias
  ChannelNormBackward launch;            // all arguments but of_y, positive, of_skip and relu
  std::size_t places = 0;  // index of the next tensor among those that autograd was given

  // place: the index of the norm's tensor among the tensors that autograd was given. The norm's
  // weight and bias follow it. layout: the layout of the tensor whose gradients are added up.
  NormGradients(torch::autograd::AutogradContext& context, const Norm& norm,
                const VoxelLayout& layout, bool given, std::size_t place);
  void give(torch::autograd::variable_list& to, std::size_t at) const;
};

// Computes these gradients with ATen, for a backward pass that is itself differentiated. `saved`
// holds the norm from `saved_at` on. up: the gradient of the norm's result.
void differentiate_norm(const torch::autograd::variable_list& saved, std::size_t saved_at,
                        const at::Tensor& up, bool given, bool relu, double eps,
                        torch::autograd::variable_list& to, std::size_t at);

}  // namespace lockstep
