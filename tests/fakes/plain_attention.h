// Attention by its definition, row by row in f64, for the tests on the CPU and on GPUs.
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace lockstep::testing {

// qkv [T, 3, H, D] f64, all of one row. Returns [T, H, D].
inline at::Tensor attention_of_row(const at::Tensor& qkv, bool causal) {
  const std::int64_t length = qkv.size(0);
  const auto parts = qkv.permute({1, 2, 0, 3}).unbind(0);  // [H, T, D]
  at::Tensor scores =
      parts[0].matmul(parts[1].transpose(1, 2)) / std::sqrt(static_cast<double>(qkv.size(3)));
  if (causal) {
    const at::Tensor places = at::arange(length, qkv.options().dtype(at::kLong));
    scores = scores.masked_fill(places.unsqueeze(0).gt(places.unsqueeze(1)),
                                -std::numeric_limits<double>::infinity());
  }
  return scores.softmax(-1).matmul(parts[2]).permute({1, 0, 2});
}

// values [N, 3, H, D]; row b is `lengths[b]` places from `starts[b]` on; elsewhere the result is 0.
inline at::Tensor attention_by_definition(const at::Tensor& values,
                                          const std::vector<std::int64_t>& starts,
                                          const std::vector<std::int64_t>& lengths, bool causal) {
  const at::Tensor wide = values.to(at::kDouble);
  std::vector<at::Tensor> pieces;
  std::int64_t until = 0;
  const auto zeros_to = [&](std::int64_t place) {
    pieces.push_back(at::zeros({place - until, values.size(2), values.size(3)}, wide.options()));
    until = place;
  };
  for (std::size_t b = 0; b < starts.size(); ++b) {
    zeros_to(starts[b]);
    if (lengths[b] > 0)
      pieces.push_back(attention_of_row(wide.narrow(0, starts[b], lengths[b]), causal));
    until += lengths[b];
  }
  zeros_to(values.size(0));
  return at::cat(pieces);
}

}  // namespace lockstep::testing
