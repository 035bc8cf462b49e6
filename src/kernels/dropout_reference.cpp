// Dropout of ATen operators: the yardstick of the other paths, and what serves on GPUs where the
// kernels were not built.
#include "kernels/dropout_paths.h"
#include "kernels/philox_inline.h"
#include "kernels/philox_tensors.h"

#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

namespace lockstep {

at::Tensor dropout_reference(const at::Tensor& x, double p, const at::Tensor& counters,
                             std::int64_t layer) {
  const DropoutRule rule = dropout_rule(p);
  if (rule.drop_all || x.numel() == 0) return at::zeros_like(x, at::MemoryFormat::Contiguous);
  const std::int64_t rows = x.size(0), elements = x.numel() / rows;
  const at::Tensor keep =
      philox_rows(rows, elements, counters, layer, counters.select(0, 0).mul(2).add(1))
          .ge(std::int64_t{rule.threshold})
          .view(x.sizes());
  const at::ScalarType exact = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const at::Tensor scaled = x.contiguous().to(exact).mul(rule.scale).to(x.scalar_type());
  return at::where(keep, scaled, 0);
}

}  // namespace lockstep
