#include "ops/column_sums/column_sums.h"

#include "core/base/check.h"
#include "ops/shared/own_kernels.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/sum.h>

#include <algorithm>

namespace lockstep {
namespace {

ColumnSumsKernel column_sums_kernel = nullptr;  // set once, before the first step

// Returns how many blocks share a column's rows. There are several if there are many rows and few
// columns.
std::int64_t shares_for(std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t rows_of_share = 2048, blocks_wanted = 528, columns_of_block = 32;
  const std::int64_t blocks = (columns + columns_of_block - 1) / columns_of_block;
  const std::int64_t most = std::max<std::int64_t>(1, blocks_wanted / blocks);
  return std::clamp<std::int64_t>((rows + rows_of_share - 1) / rows_of_share, 1, most);
}

}  // namespace

void add_column_sums(const at::Tensor& into, const at::Tensor& matrix) {
  const std::int64_t columns = matrix.size(-1);
  LOCKSTEP_CHECK(into.dim() == 1 && into.size(0) == columns && into.is_contiguous());
  if (matrix.numel() == 0) return;
  const auto dtype = kernel_dtype(matrix.scalar_type());
  if (!matrix.is_cuda() || column_sums_kernel == nullptr || !dtype || columns % 8 != 0 ||
      into.scalar_type() != at::kFloat || !matrix.is_contiguous() || !aligned(matrix)) {
    into.add_(at::sum(matrix.reshape({-1, columns}), {0}, false, into.scalar_type()));
    return;
  }
  const std::int64_t rows = matrix.numel() / columns, shares = shares_for(rows, columns);
  const at::Tensor partial =
      shares > 1 ? at::empty({shares, columns}, into.options()) : at::Tensor();
  column_sums_kernel({.matrix = matrix.const_data_ptr(),
                      .into = into.mutable_data_ptr<float>(),
                      .partial = shares > 1 ? partial.mutable_data_ptr<float>() : nullptr,
                      .dtype = *dtype,
                      .rows = rows,
                      .columns = columns,
                      .shares = shares});
}

void register_cuda_column_sums(ColumnSumsKernel kernel) { column_sums_kernel = kernel; }

}  // namespace lockstep
