// Dropout of ATen operators: the yardstick of the other paths, and what serves on GPUs where the
// kernels were not built.
#include "kernels/dropout_paths.h"
#include "kernels/philox_inline.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <array>

namespace lockstep {
namespace {

// Unsigned 32-bit words live in i64 tensors. Products wrap at 64 bits, so that the shift, which
// copies the sign, is masked.
constexpr std::int64_t mask = 0xFFFFFFFF;

at::Tensor low(const at::Tensor& word) { return word.bitwise_and(mask); }
at::Tensor high(const at::Tensor& word) { return word.bitwise_right_shift(32).bitwise_and(mask); }

using Words = std::array<at::Tensor, 4>;

Words philox_tensors(Words counter, const at::Tensor& key) {
  at::Tensor key_0 = low(key), key_1 = high(key);
  for (int round = 0; round < 10; ++round) {
    const at::Tensor product_0 = counter[0].mul(std::int64_t{0xD2511F53});
    const at::Tensor product_1 = counter[2].mul(std::int64_t{0xCD9E8D57});
    counter = {high(product_1).bitwise_xor(counter[1]).bitwise_xor(key_0), low(product_1),
               high(product_0).bitwise_xor(counter[3]).bitwise_xor(key_1), low(product_0)};
    key_0 = low(key_0.add(std::int64_t{0x9E3779B9}));
    key_1 = low(key_1.add(std::int64_t{0xBB67AE85}));
  }
  return counter;
}

// The words of every element: i64 [rows, elements].
at::Tensor all_words(std::int64_t rows, std::int64_t elements, const at::Tensor& counters,
                     std::int64_t layer) {
  const std::int64_t quads = (elements + 3) / 4;
  const at::TensorOptions options = counters.options();
  const at::Tensor zero = at::arange(1, options).expand({rows, quads});
  const at::Tensor place = at::arange(rows, options).add(counters.select(0, 2)).unsqueeze(1);
  const Words counter = {low(at::arange(quads, options)).add(zero), low(place).add(zero),
                         low(counters.select(0, 1)).add(zero), zero.add(layer & mask)};
  const Words words = philox_tensors(counter, counters.select(0, 0).mul(2).add(1));
  return at::stack(words, -1).view({rows, quads * 4}).narrow(1, 0, elements);
}

}  // namespace

at::Tensor dropout_reference(const at::Tensor& x, double p, const at::Tensor& counters,
                             std::int64_t layer) {
  const DropoutRule rule = dropout_rule(p);
  if (rule.drop_all || x.numel() == 0) return at::zeros_like(x, at::MemoryFormat::Contiguous);
  const std::int64_t rows = x.size(0), elements = x.numel() / rows;
  const at::Tensor keep =
      all_words(rows, elements, counters, layer).ge(std::int64_t{rule.threshold}).view(x.sizes());
  const at::ScalarType exact = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const at::Tensor scaled = x.contiguous().to(exact).mul(rule.scale).to(x.scalar_type());
  return at::where(keep, scaled, 0);
}

}  // namespace lockstep
