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
// A token outside of this range throws Error on the CPU, and fails a device-side assertion on GPUs.
// On GPUs, if weight and positions both have gradient buffers (gradient_buffer.h), our kernel adds
// the gradients there. The kernel adds up the gradients of a token in no fixed order, unless ATen
// is set to be deterministic.
at::Tensor embed_tokens(const at::Tensor& tokens, const at::Tensor& weight,
                        const at::Tensor& positions);

// Returns the indices of the elements of `tokens`, i64 [N], sorted by token, and ascending for
// equal tokens. tokens are i64 [N], below vocab.
at::Tensor rows_by_token(const at::Tensor& tokens, std::int64_t vocab);

// Owns the memory that a backward pass needs to add up rows in a fixed order. Keep the object until
// the pass is enqueued.
class RowOrder {
 public:
  // Sets by_token, piece and partial of `arguments`. `order` is the result of rows_by_token for the
  // tokens of `arguments`. `f32` has the tensor options for the working memory.
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
