// Token embedding plus learned positions.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// weight[tokens] + positions: tokens i64 [B, T], weight [vocab, D], positions [T, D], of one dtype,
// to [B, T, D]. Tokens are from 0 to vocab - 1, else Error on the CPU, a device-side assertion on
// GPUs. Differentiable in both; where both have gradient buffers, gradients go there. On
// GPUs tokens are then added up in no fixed order, unless ATen was told to be deterministic.
at::Tensor embed_tokens(const at::Tensor& tokens, const at::Tensor& weight,
                        const at::Tensor& positions);

// Rows of tokens i64 [N], those of one token together and ascending: i64 [N]. Tokens are below
// vocab.
at::Tensor rows_by_token(const at::Tensor& tokens, std::int64_t vocab);

// The memory of a backward pass that adds up rows in a fixed order; lives until it is enqueued.
class RowOrder {
 public:
  // order: rows_by_token of the arguments' tokens. f32: options of its working memory.
  RowOrder(EmbeddingBackward& arguments, at::Tensor order, const at::TensorOptions& f32);

 private:
  at::Tensor order_, partial_;
};

struct EmbeddingKernels {
  void (*forward)(const EmbeddingForward&) = nullptr;  // on the current stream
  void (*backward)(const EmbeddingBackward&) = nullptr;
  void (*sum)(const EmbeddingSum&) = nullptr;  // ops/embedding/embedding_sum.h
};
void register_cuda_embedding(EmbeddingKernels kernels);
const EmbeddingKernels& embedding_kernels_here();

}  // namespace lockstep
