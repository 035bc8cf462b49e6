// The sum as one operation with gradients.
#include "kernels/embedding_sum.h"

#include "base/check.h"
#include "kernels/embedding.h"
#include "kernels/gradient_buffer.h"
#include "kernels/index_check.h"
#include "kernels/own_kernels.h"
#include "kernels/second_derivative.h"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/embedding_dense_backward.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

namespace lockstep {
namespace {

using torch::autograd::variable_list;

bool kernels_serve(const at::Tensor& values) {
  return values.is_cuda() && embedding_kernels_here().sum != nullptr &&
         kernel_dtype(values.scalar_type()) && values.size(1) % 8 == 0 && values.numel() > 0 &&
         values.is_contiguous() && aligned(values);
}

at::Tensor sum_by_kernel(const std::vector<Lookup>& lookups) {
  const at::Tensor& first = lookups[0].table;
  const at::Tensor out = at::empty({lookups[0].rows.size(0), first.size(1)}, first.options());
  EmbeddingSum arguments{.count = static_cast<int>(lookups.size()),
                         .out = out.mutable_data_ptr(),
                         .dtype = *kernel_dtype(first.scalar_type()),
                         .rows = out.size(0),
                         .width = out.size(1)};
  for (std::size_t i = 0; i < lookups.size(); ++i)
    arguments.tables[i] = {.indices = lookups[i].rows.const_data_ptr<std::int64_t>(),
                           .table = lookups[i].table.const_data_ptr(),
                           .size = lookups[i].table.size(0)};
  if (out.numel() > 0) embedding_kernels_here().sum(arguments);
  return out;
}

at::Tensor sum_by_aten(const std::vector<Lookup>& lookups) {
  at::Tensor sum;
  for (const auto& [rows, table] : lookups) {
    const at::Tensor part = at::embedding(table, rows);
    sum = sum.defined() ? sum.add(part) : part;
  }
  return sum;
}

void add_by_kernel(const at::Tensor& buffer, const Lookup& lookup, const at::Tensor& gradient) {
  EmbeddingBackward arguments{.tokens = lookup.rows.const_data_ptr<std::int64_t>(),
                              .gradient = gradient.const_data_ptr(),
                              .of_weight = buffer.mutable_data_ptr<float>(),
                              .dtype = *kernel_dtype(gradient.scalar_type()),
                              .rows = gradient.size(0),
                              .width = gradient.size(1)};
  at::Tensor by_token, partial;  // live until the kernels are enqueued
  if (at::globalContext().deterministicAlgorithms()) {
    by_token = rows_by_token(lookup.rows, lookup.table.size(0));
    const std::int64_t pieces = (gradient.size(0) + embedding_piece - 1) / embedding_piece;
    partial = at::empty({pieces, 2, gradient.size(1)}, buffer.options());
    arguments.by_token = by_token.const_data_ptr<std::int64_t>();
    arguments.partial = partial.mutable_data_ptr<float>();
  }
  embedding_kernels_here().backward(arguments);
}

// Into the buffer, or what is for autograd.
at::Tensor gradient_of(const Lookup& lookup, const at::Tensor& gradient) {
  at::Tensor buffer = buffer_of_this_pass(lookup.table);
  if (!buffer.defined())
    return at::embedding_dense_backward(gradient, lookup.rows, lookup.table.size(0), -1, false);
  if (kernels_serve(gradient))
    add_by_kernel(buffer, lookup, gradient);
  else
    buffer.index_add_(0, lookup.rows, gradient.to(buffer.scalar_type()));
  return {};
}

// Rows and table, as often as there are lookups; the rest absent.
using Absent = std::optional<at::Tensor>;

struct TableSum : torch::autograd::Function<TableSum> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& rows_0,
                            const at::Tensor& table_0, const Absent& rows_1, const Absent& table_1,
                            const Absent& rows_2, const Absent& table_2) {
    std::vector<Lookup> lookups{{.rows = rows_0, .table = table_0}};
    if (rows_1) lookups.push_back({.rows = *rows_1, .table = *table_1});
    if (rows_2) lookups.push_back({.rows = *rows_2, .table = *table_2});
    variable_list saved;
    for (const auto& [rows, table] : lookups) saved.insert(saved.end(), {rows, table});
    context->save_for_backward(saved);
    const bool own = std::all_of(lookups.begin(), lookups.end(),
                                 [](const Lookup& lookup) { return kernels_serve(lookup.table); });
    return own ? sum_by_kernel(lookups) : sum_by_aten(lookups);
  }

  static variable_list backward(torch::autograd::AutogradContext* context,
                                variable_list gradients) {
    variable_list result(6);
    if (!gradients[0].defined()) return result;
    const variable_list saved = context->get_saved_variables();
    const at::Tensor gradient = gradients[0].contiguous();
    for (std::size_t i = 0; i < saved.size(); i += 2) {
      if (!context->needs_input_grad(i + 1)) continue;
      const Lookup lookup{.rows = saved[i], .table = saved[i + 1]};
      const auto by_aten = [&](const std::vector<at::Tensor>& in) {
        return std::vector<at::Tensor>{at::embedding(in[0], lookup.rows)};
      };
      result[i + 1] = is_differentiated()
                          ? differentiable_gradients(by_aten, {lookup.table}, {gradient})[0]
                          : gradient_of(lookup, gradient);
    }
    return result;
  }
};

}  // namespace

at::Tensor embedding_sum(const std::vector<Lookup>& lookups) {
  LOCKSTEP_CHECK(!lookups.empty() && lookups.size() <= most_summed_tables);
  std::vector<Absent> given(2 * most_summed_tables);
  for (std::size_t i = 0; i < lookups.size(); ++i) {
    const auto& [rows, table] = lookups[i];
    LOCKSTEP_CHECK(rows.dim() == 1 && rows.sizes() == lookups[0].rows.sizes());
    LOCKSTEP_CHECK(table.dim() == 2 && table.size(1) == lookups[0].table.size(1));
    LOCKSTEP_CHECK(table.scalar_type() == lookups[0].table.scalar_type());
    check_indices(rows, 0, table.size(0), "rows of a table");
    given[2 * i] = rows.to(at::kLong).contiguous();
    given[2 * i + 1] = table;
  }
  return TableSum::apply(*given[0], *given[1], given[2], given[3], given[4], given[5]);
}

}  // namespace lockstep
