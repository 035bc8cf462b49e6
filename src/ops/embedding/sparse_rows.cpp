#include "ops/embedding/sparse_rows.h"

#include "core/base/check.h"
#include "ops/embedding/embedding.h"
#include "ops/shared/own_kernels.h"

#include <ATen/Context.h>

#include <optional>

namespace lockstep {
namespace {

bool row_kernels_serve(const at::Tensor& buffer) {
  return buffer.is_cuda() && embedding_kernels_here().backward != nullptr &&
         buffer.size(1) % 8 == 0 && buffer.is_contiguous() && aligned(buffer);
}

void add_by_kernel(const at::Tensor& buffer, const SparseRows& given, const DirtyRange& dirty) {
  EmbeddingBackward arguments{.tokens = given.rows.const_data_ptr<std::int64_t>(),
                              .gradient = given.gradient.const_data_ptr(),
                              .of_weight = buffer.mutable_data_ptr<float>(),
                              .dirty_begin = dirty.begin,
                              .dtype = *kernel_dtype(given.gradient.scalar_type()),
                              .rows = given.gradient.size(0),
                              .width = given.gradient.size(1)};
  if (dirty.flags.defined()) arguments.dirty = dirty.flags.mutable_data_ptr<std::uint8_t>();
  std::optional<RowOrder> order;
  if (given.order.defined())
    order.emplace(arguments, given.order, buffer.options());
  else if (at::globalContext().deterministicAlgorithms())
    order.emplace(arguments, rows_by_token(given.rows, buffer.size(0)), buffer.options());
  embedding_kernels_here().backward(arguments);
}

void add_by_aten(const at::Tensor& buffer, const SparseRows& given, const DirtyRange& dirty) {
  const at::Tensor& rows = given.rows;
  buffer.index_add_(0, rows, given.gradient.to(buffer.scalar_type()));
  if (!dirty.flags.defined()) return;
  // Marks all pieces from the one of a row's first element to the one of its last element.
  const std::int64_t width = buffer.size(1);
  const at::Tensor begins = rows.mul(width).add(dirty.begin);
  const at::Tensor lasts = begins.add(width - 1).div(dirty_piece, "floor");
  for (std::int64_t from = 0; from < width + dirty_piece; from += dirty_piece)
    dirty.flags.index_fill_(0, begins.add(from).div(dirty_piece, "floor").minimum(lasts), 1);
}

}  // namespace

void add_sparse_rows(const at::Tensor& buffer, const SparseRows& given, const DirtyRange& dirty) {
  const at::Tensor &rows = given.rows, &gradient = given.gradient;
  LOCKSTEP_CHECK(buffer.dim() == 2 && gradient.dim() == 2 && gradient.size(1) == buffer.size(1));
  LOCKSTEP_CHECK(rows.dim() == 1 && rows.size(0) == gradient.size(0));
  if (gradient.numel() == 0) return;
  if (row_kernels_serve(buffer) && kernel_dtype(gradient.scalar_type()) &&
      gradient.is_contiguous() && rows.is_contiguous() && aligned(gradient))
    add_by_kernel(buffer, given, dirty);
  else
    add_by_aten(buffer, given, dirty);
}

bool rows_keep_an_order(const at::Tensor& buffer) {
  return buffer.is_cpu() || row_kernels_serve(buffer);
}

}  // namespace lockstep
