// Finds the largest elements of each row, by our kernel or by ATen's.
#include "ops/top_rows/top_rows.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "ops/shared/own_kernels.h"
#include "ops/shared/runs.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <limits>

namespace lockstep {
namespace {

TopRowsKernel top_rows_kernel = nullptr;  // set once, before the first step

}  // namespace

TopRows top_rows(const at::Tensor& x, std::int64_t count) {
  const std::int64_t rows = x.dim() < 2 ? 0 : x.size(0), length = rows > 0 ? x.numel() / rows : 0;
  if (x.dim() < 2 || !x.is_floating_point() || count < 0 || (rows > 0 && count > length))
    throw Error(cat("top_rows wants floating [Q, ...] with ", count,
                    " numbers or more in a row, but got ", x.sizes(), " of ", x.scalar_type()));
  const at::NoGradGuard no_gradient;
  const auto dtype = kernel_dtype(x.scalar_type());
  if (!x.is_cuda() || top_rows_kernel == nullptr || !dtype || rows == 0 || count == 0 ||
      count > top_rows_most_count || length > top_rows_most_length ||
      x.numel() > std::numeric_limits<std::int32_t>::max()) {
    const auto [values, index] = x.flatten(1).topk(count, 1);
    return {.values = values.to(at::kFloat), .index = index};
  }
  const InRuns read = in_runs(x);
  TopRows top{.values = at::empty({rows, count}, x.options().dtype(at::kFloat)),
              .index = at::empty({rows, count}, x.options().dtype(at::kLong))};
  top_rows_kernel({.x = read.tensor.const_data_ptr(),
                   .dtype = *dtype,
                   .runs = read.runs,
                   .values = top.values.mutable_data_ptr<float>(),
                   .index = top.index.mutable_data_ptr<std::int64_t>(),
                   .rows = rows,
                   .length = length,
                   .count = count});
  return top;
}

void register_cuda_top_rows(TopRowsKernel kernel) { top_rows_kernel = kernel; }

}  // namespace lockstep
