// Attention with dropout, computed with ATen's operators.
#include "recipes/dimabsa/encoder/dropped_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>

#include <cmath>

namespace lockstep::dimabsa {
namespace {

// Lower than any score, but finite in every type. A softmax over only hidden tokens must not give
// NaN.
constexpr double unseen = -3e4;

}  // namespace

at::Tensor attention_probabilities(const at::Tensor& scores, const PaddedTexts& texts,
                                   const EncoderInput& input, const EncoderShape& shape,
                                   std::int64_t layer, const StepContext& context) {
  const at::Tensor hidden = texts.seen().logical_not().unsqueeze(1).unsqueeze(1);
  const at::Tensor shares =
      at::softmax(scores.masked_fill(hidden, unseen), -1).masked_fill(hidden, 0);
  const double p = shape.attention_dropout;
  if (!context.training || context.no_dropout || p == 0) return shares;
  // The mask of an element must not depend on other texts in the batch. So each token's row is
  // padded to a length that is the same for every batch.
  const std::int64_t longest = scores.size(-1), most = std::max(shape.longest(), longest);
  const at::Tensor of_tokens =
      texts.unpad(at::constant_pad_nd(shares.transpose(1, 2), {0, most - longest}));
  const at::Tensor dropped = context.dropout(of_tokens.contiguous(), input.row_offsets, p, layer);
  return texts.pad(dropped).narrow(-1, 0, longest).transpose(1, 2);
}

at::Tensor attention_with_dropout(const at::Tensor& packed, const EncoderInput& input,
                                  const EncoderShape& shape, std::int64_t layer,
                                  const StepContext& context) {
  const PaddedTexts texts(input.offsets, packed.size(0), input.longest);
  const auto parts = texts.pad(packed).unbind(2);  // each has shape [S, T, H, D]
  const double scale = 1 / std::sqrt(static_cast<double>(packed.size(3)));
  const at::Tensor scores =
      at::matmul(parts[0].transpose(1, 2).mul(scale), parts[1].permute({0, 2, 3, 1}));
  const at::Tensor shares = attention_probabilities(scores, texts, input, shape, layer, context);
  return texts.unpad(at::matmul(shares, parts[2].transpose(1, 2)).transpose(1, 2));
}

}  // namespace lockstep::dimabsa
