// Looks up token embeddings and adds learned positions.
#pragma once

#include "ops/shared/kernel_arguments.h"

#include <ATen/core/Tensor.h>

namespace lockstep {

// Returns weight[tokens] + positions, [B, T, D]. The result is differentiable in weight and
// positions.
//   tokens      i64 [B, T], from 0 to vocab - 1
//   weight      [vocab, D]
//   positions   [T, D], in weight's dtype
// Other tokens throw Error on the CPU, and fail a device-side assertion on GPUs. On GPUs, if weight
// and positions both have gradient buffers, our kernel adds the gradients there. The kernel adds up
// the gradients of a token in no fixed order, unless ATen is set to be deterministic.
at::Tensor embed_tokens(const at::Tensor& tokens, const at::Tensor& weight,
                        const at::Tensor& positions);

// Returns the row numbers of `tokens`, i64 [N], sorted by token, and ascending within a token.
// tokens are i64 [N], below vocab.
at::Tensor rows_by_token(const at::Tensor& tokens, std::int64_t vocab);

// Owns the memory with which a backward pass adds up rows in a fixed order. Keep it until the pass
// is enqueued.
class RowOrder {
 public:
  // Sets by_token, piece and partial of `arguments`. `order` is rows_by_token of its tokens. `f32`
  // has the options for the working memory.
  RowOrder(EmbeddingBackward& arguments, at::Tensor order, const at::TensorOptions& f32);

 private:
  at::Tensor order_, partial_;
};

struct EmbeddingKernels {
  void (*forward)(const EmbeddingForward&) = nullptr;  // runs on the current stream
  void (*backward)(const EmbeddingBackward&) = nullptr;
  void (*sum)(const EmbeddingSum&) = nullptr;  // for ops/embedding/embedding_sum.h
};
void register_cuda_embedding(EmbeddingKernels kernels);
const EmbeddingKernels& embedding_kernels_here();

}  // namespace lockstep
