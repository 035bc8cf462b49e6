// Attention over padded rows of equal length by ATen's operators. It is used if cuDNN cannot be.
#include "ops/attention/attention_paths.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_scaled_dot_product_attention_math.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <limits>
#include <optional>
#include <vector>

namespace lockstep {
namespace {

// qkv: [B, T, 3, H, D]. seen: bool [B, 1, 1, T], or nothing.
at::Tensor attend(const at::Tensor& qkv, bool causal, const std::optional<at::Tensor>& seen,
                  Operators operators) {
  // The backward of unbind is a single stack. With three slices, each backward would write a whole
  // tensor of zeros.
  const auto parts = qkv.unbind(2);
  const at::Tensor q = parts[0].transpose(1, 2), k = parts[1].transpose(1, 2),
                   v = parts[2].transpose(1, 2);
  if (operators == Operators::fused)
    return at::scaled_dot_product_attention(q, k, v, seen, 0.0, causal).transpose(1, 2);
  // This operator adds the mask even if the mask is bool, so the mask is converted.
  std::optional<at::Tensor> added;
  if (seen)
    added = at::zeros(seen->sizes(), q.options())
                .masked_fill(seen->logical_not(), -std::numeric_limits<double>::infinity());
  return std::get<0>(at::_scaled_dot_product_attention_math(q, k, v, added, 0.0, causal))
      .transpose(1, 2);
}

// Computes each row separately, without its padding. The host must be able to read `lengths`.
at::Tensor row_by_row(const at::Tensor& qkv, bool causal, const at::Tensor& lengths,
                      Operators operators) {
  const at::Tensor known = lengths.to(at::kLong).contiguous();
  std::vector<at::Tensor> results;
  for (const at::Tensor& row : qkv.unbind(0)) {
    const std::int64_t length =
        known.const_data_ptr<std::int64_t>()[static_cast<std::int64_t>(results.size())];
    const at::Tensor used = row.narrow(0, 0, length).unsqueeze(0);
    const at::Tensor out = length == 0 ? used.select(2, 0) : attend(used, causal, {}, operators);
    results.push_back(at::constant_pad_nd(out.squeeze(0), {0, 0, 0, 0, 0, row.size(0) - length}));
  }
  return at::stack(results);
}

}  // namespace

at::Tensor masked_attention(const at::Tensor& qkv, Sees sees, const at::Tensor& lengths,
                            Operators operators) {
  const bool causal = sees == Sees::not_later;
  const at::Tensor places = at::arange(qkv.size(1), lengths.options());
  const at::Tensor padding = places.ge(lengths.unsqueeze(1));
  // NaN or infinity in the padding would spread even with a weight of 0, so the padding is set to
  // 0.
  const at::Tensor clean = qkv.masked_fill(padding.view({qkv.size(0), qkv.size(1), 1, 1, 1}), 0);
  // A row of length 0 attends to its first position, which is 0, because attending to nothing gives
  // NaN. Padding is at the end of a row, so a causal row does not attend to it anyway.
  std::optional<at::Tensor> seen;
  if (!causal)
    seen = places.lt(lengths.clamp_min(1).unsqueeze(1)).view({qkv.size(0), 1, 1, qkv.size(1)});
  return attend(clean, causal, seen, operators)
      .masked_fill(padding.view({qkv.size(0), qkv.size(1), 1, 1}), 0);
}

at::Tensor padded_attention(const at::Tensor& qkv, Sees sees, const at::Tensor& lengths,
                            Operators operators) {
  const bool causal = sees == Sees::not_later;
  if (!lengths.defined() || qkv.numel() == 0) return attend(qkv, causal, {}, operators);
  if (qkv.is_cpu()) return row_by_row(qkv, causal, lengths, operators);
  return masked_attention(qkv, sees, lengths, operators);
}

}  // namespace lockstep
