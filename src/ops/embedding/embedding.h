// Token embedding plus learned positions.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// Returns weight[tokens] + positions, [B, T, D]. tokens: i64 [B, T]. weight: [vocab, D]. positions:
// [T, D], in weight's dtype. Tokens must be from 0 to vocab - 1. Other tokens throw Error on the
// CPU, and fail a device-side assertion on GPUs. Differentiable in weight and positions. If both
// have gradient buffers, gradients go there. GPUs then add up the gradients of tokens in no fixed
// order, unless ATen was told to be deterministic.
at::Tensor embed_tokens(const at::Tensor& tokens, const at::Tensor& weight,
                        const at::Tensor& positions);

// Returns i64 [N]: the rows of `tokens`, i64 [N], sorted so that the rows of each token are
// together and ascending. Tokens are below vocab.
at::Tensor rows_by_token(const at::Tensor& tokens, std::int64_t vocab);

// The memory of a backward pass that adds up rows in a fixed order. Keep it until the pass is
// enqueued.
class RowOrder {
 public:
  // order: rows_by_token of the arguments' tokens. f32: options for its working memory.
  RowOrder(EmbeddingBackward& arguments, at::Tensor order, const at::TensorOptions& f32);

 private:
  at::Tensor order_, partial_;
};

struct EmbeddingKernels {
  void (*forward)(const EmbeddingForward&) = nullptr;  // runs on the current stream
  void (*backward)(const EmbeddingBackward&) = nullptr;
  void (*sum)(const EmbeddingSum&) = nullptr;  // ops/embedding/embedding_sum.h
};
void register_cuda_embedding(EmbeddingKernels kernels);
const EmbeddingKernels& embedding_kernels_here();

}  // namespace lockstep
