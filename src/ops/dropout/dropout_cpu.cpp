// Dropout on the CPU, in one pass over the tensor. One draw serves four elements.
#include "ops/dropout/dropout_paths.h"
#include "ops/philox/philox_inline.h"
#include "ops/philox/philox_lanes.h"

#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/Parallel.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <bit>
#include <type_traits>

namespace lockstep {
namespace {

// An unsigned integer of T's size.
template <class T>
using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;

// Returns value or +0 without a branch, because the CPU could not predict it.
template <class T>
T kept(T value, bool keep) {
  const Bits<T> mask = Bits<T>(0) - Bits<T>(keep);
  return std::bit_cast<T>(static_cast<Bits<T>>(std::bit_cast<Bits<T>>(value) & mask));
}

// Handles one row. place: the row's number in the global batch.
template <class T>
void drop_row(const T* x, T* y, std::int64_t elements, std::int64_t place, const DropoutRule& rule,
              const std::int64_t* counters, std::int64_t layer) {
  using Exact = at::opmath_type<T>;
  const Exact scale = static_cast<Exact>(rule.scale);
  const std::uint32_t threshold = rule.threshold;
  std::uint32_t words[4 * philox_lanes];
  for (std::int64_t begin = 0; begin < elements; begin += 4 * philox_lanes) {
    draw_row_words(begin / 4, place, counters[1], layer, dropout_key(counters[0]), words);
    const std::int64_t count = std::min(4 * philox_lanes, elements - begin);
    for (std::int64_t i = 0; i < count; ++i) {
      const Exact scaled = static_cast<Exact>(x[begin + i]) * scale;
      y[begin + i] = kept(static_cast<T>(scaled), words[i] >= threshold);
    }
  }
}

}  // namespace

at::Tensor dropout_cpu(const at::Tensor& x, double p, const at::Tensor& counters,
                       std::int64_t layer) {
  const DropoutRule rule = dropout_rule(p);
  if (rule.drop_all || x.numel() == 0) return at::zeros_like(x, at::MemoryFormat::Contiguous);
  const at::Tensor source = x.contiguous(), known = counters.contiguous();
  at::Tensor y = at::empty_like(source);
  const std::int64_t rows = x.size(0), elements = x.numel() / rows;
  const std::int64_t* facts = known.const_data_ptr<std::int64_t>();
  const std::int64_t rows_a_task = std::max<std::int64_t>(1, 16384 / elements);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kBFloat16, at::kHalf, x.scalar_type(), "dropout", [&] {
    const scalar_t* from = source.const_data_ptr<scalar_t>();
    scalar_t* to = y.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, rows, rows_a_task, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row)
        drop_row(from + row * elements, to + row * elements, elements, facts[2] + row, rule, facts,
                 layer);
    });
  });
  return y;
}

at::Tensor ragged_dropout_cpu(const at::Tensor& x, const at::Tensor& offsets, double p,
                              const at::Tensor& counters, std::int64_t layer) {
  const DropoutRule rule = dropout_rule(p);
  at::Tensor y = at::zeros_like(x, at::MemoryFormat::Contiguous);
  if (rule.drop_all || x.numel() == 0) return y;
  const at::Tensor source = x.contiguous(), known = counters.contiguous(),
                   places = offsets.contiguous();
  const std::int64_t rows = places.size(0) - 1, width = x.numel() / x.size(0);
  const std::int64_t* facts = known.const_data_ptr<std::int64_t>();
  const std::int64_t* begin_of = places.const_data_ptr<std::int64_t>();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kBFloat16, at::kHalf, x.scalar_type(), "dropout", [&] {
    const scalar_t* from = source.const_data_ptr<scalar_t>();
    scalar_t* to = y.mutable_data_ptr<scalar_t>();
    at::parallel_for(0, rows, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        const std::int64_t first = begin_of[row] * width, behind = begin_of[row + 1] * width;
        drop_row(from + first, to + first, behind - first, facts[2] + row, rule, facts, layer);
      }
    });
  });
  return y;
}

}  // namespace lockstep
