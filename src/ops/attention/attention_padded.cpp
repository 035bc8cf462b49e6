// Attention over rows of one length by ATen's operators: what serves where cuDNN does not.
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

// qkv [B, T, 3, H, D]; seen: bool [B, 1, 1, T] or nothing.
at::Tensor attend(const at::Tensor& qkv, bool causal, const std::optional<at::Tensor>& seen,
                  Operators operators) {
  // unbind's backward is one stack, where three slices would each write a whole zero tensor.
  const auto parts = qkv.unbind(2);
  const at::Tensor q = parts[0].transpose(1, 2), k = parts[1].transpose(1, 2),
                   v = parts[2].transpose(1, 2);
  if (operators == Operators::fused)
    return at::scaled_dot_product_attention(q, k, v, seen, 0.0, causal).transpose(1, 2);
  // This operator adds the mask, also one of bool.
  std::optional<at::Tensor> added;
  if (seen)
    added = at::zeros(seen->sizes(), q.options())
                .masked_fill(seen->logical_not(), -std::numeric_limits<double>::infinity());
  return std::get<0>(at::_scaled_dot_product_attention_math(q, k, v, added, 0.0, causal))
      .transpose(1, 2);
}

// Each row by itself, for a device whose numbers the host may read: no padding is computed.
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
  // A value that is no number would come through a weight of 0.
  const at::Tensor clean = qkv.masked_fill(padding.view({qkv.size(0), qkv.size(1), 1, 1, 1}), 0);
  // A row of length 0 sees its first position, which is 0, since nothing to see would be no number.
  // Padding lies behind all that counts, so a causal row does not see it anyway.
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
