// Dropout with ATen's operators. It is the reference for the other implementations. It also serves
// on GPUs if the kernels were not built.
#include "ops/dropout/dropout_paths.h"
#include "ops/philox/philox_inline.h"
#include "ops/philox/philox_tensors.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/floor_divide.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

namespace lockstep {

namespace {

at::Tensor dropped(const at::Tensor& x, const at::Tensor& words, const DropoutRule& rule) {
  const at::Tensor keep = words.ge(std::int64_t{rule.threshold}).view(x.sizes());
  const at::ScalarType exact = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const at::Tensor scaled = x.contiguous().to(exact).mul(rule.scale).to(x.scalar_type());
  return at::where(keep, scaled, 0);
}

at::Tensor key_of(const at::Tensor& counters) { return counters.select(0, 0).mul(2).add(1); }

}  // namespace

at::Tensor dropout_reference(const at::Tensor& x, double p, const at::Tensor& counters,
                             std::int64_t layer) {
  const DropoutRule rule = dropout_rule(p);
  if (rule.drop_all || x.numel() == 0) return at::zeros_like(x, at::MemoryFormat::Contiguous);
  const std::int64_t rows = x.size(0), elements = x.numel() / rows;
  return dropped(x, philox_rows(rows, elements, counters, layer, key_of(counters)), rule);
}

at::Tensor ragged_dropout_reference(const at::Tensor& x, const at::Tensor& offsets, double p,
                                    const at::Tensor& counters, std::int64_t layer) {
  const DropoutRule rule = dropout_rule(p);
  const std::int64_t rows = offsets.size(0) - 1;
  if (rule.drop_all || x.numel() == 0 || rows == 0)
    return at::zeros_like(x, at::MemoryFormat::Contiguous);
  const std::int64_t items = x.size(0), width = x.numel() / items;
  const at::Tensor item = at::arange(items, offsets.options());
  const at::Tensor row =
      at::searchsorted(offsets.contiguous(), item, /*out_int32=*/false, /*right=*/true)
          .sub(1)
          .clamp_max(rows - 1);
  const at::Tensor element = (item - offsets.index_select(0, row)).mul(width).unsqueeze(1) +
                             at::arange(width, offsets.options());
  const at::Tensor words = philox_words_of(at::floor_divide(element, 4), row.unsqueeze(1), counters,
                                           layer, key_of(counters));
  const at::Tensor word = words.gather(-1, element.remainder(4).unsqueeze(-1)).squeeze(-1);
  const at::Tensor is_used = item.lt(offsets[-1]).unsqueeze(1);
  return at::where(is_used, dropped(x, word, rule).view({items, width}), 0).view(x.sizes());
}

}  // namespace lockstep
