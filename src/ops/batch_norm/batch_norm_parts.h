// Common code of our batch norms: one norm as the kernels take it, forward and backward.
#pragma once

#include "ops/batch_norm/batch_norm.h"
#include "ops/channel_norm/channel_norm_paths.h"
#include "ops/gradient_buffer/gradient_writer.h"

#include <torch/csrc/autograd/custom_function.h>

#include <optional>
#include <vector>

namespace lockstep {

// Whether the kernels take x with this norm: a channels-last tensor on a GPU.
bool norm_kernels_take(const at::Tensor& x, const BatchNormState& state);

// Weight and bias of one type that the kernels read, or undefined.
struct NormAffine {
  at::Tensor weight, bias;
  explicit NormAffine(const BatchNormState& state);
};

struct NormRule {
  bool given = false;  // the running statistics are what counts
  bool moves = false;  // the running statistics move
  bool relu = false;
  bool keep = false;  // a backward pass may follow
  // inputs: all that a gradient may be wanted of.
  NormRule(bool training, bool relu, const std::vector<at::Tensor>& inputs);
};

// One norm: its tensor, and what belongs to the channels.
struct Norm {
  at::Tensor rows;  // dense
  at::Tensor scale, shift;
  at::Tensor mean, inverse;  // f32 [C]

  // mean and inverse are to be written.
  Norm(const at::Tensor& dense, const std::optional<at::Tensor>& weight,
       const std::optional<at::Tensor>& bias);
  // As saved_of wrote it, from `at` on.
  Norm(const torch::autograd::variable_list& saved, std::size_t at);
  static constexpr std::size_t saved_tensors = 5;
  // x: the input that `rows` came from.
  torch::autograd::variable_list saved_of(const at::Tensor& x) const {
    return {x, scale, shift, mean, inverse};
  }
};

// Without skip, y and what passes the ReLU. partial: f32, held until the kernels are enqueued;
// undefined where the statistics are given or known.
ChannelNormForward norm_forward(const Norm& norm, const VoxelLayout& layout,
                                const BatchNormState& state, const NormRule& rule,
                                const at::Tensor& partial, const ChannelMoments& known);
at::Tensor forward_partial(const Norm& norm, const VoxelLayout& layout, const NormRule& rule,
                           const ChannelMoments& known);
at::Tensor norm_partial(const Norm& norm, const VoxelLayout& layout);

// Gradients of a norm's tensor, weight and bias.
struct NormGradients {
  at::Tensor of_x, partial, sums;
  std::optional<GradientWriter> writer;  // of weight and bias
  ChannelNormBackward launch;            // without of_y, positive, of_skip and relu
  std::size_t places = 0;  // among the tensors that autograd was given, of what comes after

  // place: of the norm's tensor there; its weight and bias follow. layout: of the tensor whose
  // gradients are added up.
  NormGradients(torch::autograd::AutogradContext& context, const Norm& norm,
                const VoxelLayout& layout, bool given, std::size_t place);
  void give(torch::autograd::variable_list& to, std::size_t at) const;
};

// The same by ATen where the backward pass is differentiated, of the norm that is saved from
// `saved_at` on; up: the gradient that reaches it.
void differentiate_norm(const torch::autograd::variable_list& saved, std::size_t saved_at,
                        const at::Tensor& up, bool given, bool relu, double eps,
                        torch::autograd::variable_list& to, std::size_t at);

}  // namespace lockstep
