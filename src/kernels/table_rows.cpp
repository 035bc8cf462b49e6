#include "kernels/table_rows.h"

#include "base/check.h"
#include "kernels/embedding.h"
#include "kernels/own_kernels.h"

#include <ATen/Context.h>
#include <ATen/ops/empty.h>

namespace lockstep {
namespace {

void add_by_kernel(const at::Tensor& buffer, const TableRows& given, const TouchedPieces& touched) {
  const auto& [rows, gradient] = given;
  EmbeddingBackward arguments{.tokens = rows.const_data_ptr<std::int64_t>(),
                              .gradient = gradient.const_data_ptr(),
                              .of_weight = buffer.mutable_data_ptr<float>(),
                              .touched_begin = touched.begin,
                              .dtype = *kernel_dtype(gradient.scalar_type()),
                              .rows = gradient.size(0),
                              .width = gradient.size(1)};
  if (touched.flags.defined()) arguments.touched = touched.flags.mutable_data_ptr<std::uint8_t>();
  at::Tensor by_token, partial;  // live until the kernels are enqueued
  if (at::globalContext().deterministicAlgorithms()) {
    by_token = rows_by_token(rows, buffer.size(0));
    const std::int64_t pieces = (gradient.size(0) + embedding_piece - 1) / embedding_piece;
    partial = at::empty({pieces, 2, gradient.size(1)}, buffer.options());
    arguments.by_token = by_token.const_data_ptr<std::int64_t>();
    arguments.partial = partial.mutable_data_ptr<float>();
  }
  embedding_kernels_here().backward(arguments);
}

void add_by_aten(const at::Tensor& buffer, const TableRows& given, const TouchedPieces& touched) {
  const auto& [rows, gradient] = given;
  buffer.index_add_(0, rows, gradient.to(buffer.scalar_type()));
  if (!touched.flags.defined()) return;
  // The pieces from that of a row's first element to that of its last.
  const std::int64_t width = buffer.size(1);
  const at::Tensor begins = rows.mul(width).add(touched.begin);
  const at::Tensor lasts = begins.add(width - 1).div(touched_piece, "floor");
  for (std::int64_t from = 0; from < width + touched_piece; from += touched_piece)
    touched.flags.index_fill_(0, begins.add(from).div(touched_piece, "floor").minimum(lasts), 1);
}

}  // namespace

void add_table_rows(const at::Tensor& buffer, const TableRows& given,
                    const TouchedPieces& touched) {
  const auto& [rows, gradient] = given;
  LOCKSTEP_CHECK(buffer.dim() == 2 && gradient.dim() == 2 && gradient.size(1) == buffer.size(1));
  LOCKSTEP_CHECK(rows.dim() == 1 && rows.size(0) == gradient.size(0));
  if (gradient.numel() == 0) return;
  const bool own = gradient.is_cuda() && embedding_kernels_here().backward != nullptr &&
                   kernel_dtype(gradient.scalar_type()) && gradient.size(1) % 8 == 0 &&
                   gradient.is_contiguous() && rows.is_contiguous() && buffer.is_contiguous() &&
                   aligned(gradient) && aligned(buffer);
  if (own)
    add_by_kernel(buffer, given, touched);
  else
    add_by_aten(buffer, given, touched);
}

}  // namespace lockstep
