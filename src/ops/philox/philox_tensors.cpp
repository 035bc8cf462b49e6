// Philox with ATen operators: integer arithmetic in i64 tensors.
#include "ops/philox/philox_tensors.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/stack.h>

#include <array>

namespace lockstep {
namespace {

// i64 tensors hold unsigned 32-bit words. Products wrap at 64 bits. A right shift copies the sign,
// so its result is masked.
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

}  // namespace

at::Tensor philox_words_of(const at::Tensor& quad, const at::Tensor& row,
                           const at::Tensor& counters, std::int64_t layer, const at::Tensor& key) {
  const at::Tensor zero = quad.mul(0).add(row.mul(0));
  const at::Tensor place = row.add(counters.select(0, 2));
  const Words counter = {low(quad).add(zero), low(place).add(zero),
                         low(counters.select(0, 1)).add(zero), zero.add(layer & mask)};
  const Words words = philox_tensors(counter, key);
  return at::stack(words, -1);
}

at::Tensor philox_rows(std::int64_t rows, std::int64_t elements, const at::Tensor& counters,
                       std::int64_t layer, const at::Tensor& key) {
  const std::int64_t quads = (elements + 3) / 4;
  const at::TensorOptions options = counters.options();
  return philox_words_of(at::arange(quads, options), at::arange(rows, options).unsqueeze(1),
                         counters, layer, key)
      .view({rows, quads * 4})
      .narrow(1, 0, elements);
}

}  // namespace lockstep
