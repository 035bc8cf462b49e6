// The sum of embedding lookups as one operation with gradients.
#include "ops/embedding/embedding_sum.h"

#include "core/base/check.h"
#include "ops/embedding/embedding.h"
#include "ops/gradient_buffer/gradient_registry.h"
#include "ops/shared/index_check.h"
#include "ops/shared/own_kernels.h"
#include "ops/shared/second_derivative.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/embedding_dense_backward.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>

namespace lockstep {
namespace {

using torch::autograd::variable_list;

bool sum_kernels_serve(const at::Tensor& values) {
  return values.is_cuda() && embedding_kernels_here().sum != nullptr &&
         kernel_dtype(values.scalar_type()) && values.size(1) % 8 == 0 && values.numel() > 0 &&
         values.is_contiguous() && aligned(values);
}

// deferred: for each lookup, an update of the table that is still pending while its rows are read.
at::Tensor sum_by_kernel(const std::vector<Lookup>& lookups,
                         const std::vector<std::optional<DeferredRows>>& deferred) {
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
  for (std::size_t i = 0; i < deferred.size(); ++i) {
    if (!deferred[i]) continue;
    arguments.deferred = deferred[i]->adam;
    arguments.tables[i].deferred_range = deferred[i]->range;
  }
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

at::Tensor sum_of(const std::vector<Lookup>& lookups) {
  const bool own = std::all_of(lookups.begin(), lookups.end(), [](const Lookup& lookup) {
    return sum_kernels_serve(lookup.table);
  });
  std::vector<DeferredSparseUpdate*> updates;
  std::vector<std::optional<DeferredRows>> deferred;
  for (const auto& [rows, table] : lookups) {
    updates.push_back(deferred_update_of(table));
    deferred.push_back(updates.back() != nullptr ? updates.back()->begin_read(own) : std::nullopt);
  }
  const at::Tensor sum = own ? sum_by_kernel(lookups, deferred) : sum_by_aten(lookups);
  for (DeferredSparseUpdate* const update : updates)
    if (update != nullptr) update->end_read();
  return sum;
}

// Returns the gradient of a table. Undefined if it was added to the table's gradient buffer.
at::Tensor gradient_of(const Lookup& lookup, const at::Tensor& gradient) {
  if (const auto buffer = gradient_buffer_of_this_pass(lookup.table)) {
    buffer->add_rows({.rows = lookup.rows, .gradient = gradient});
    return {};
  }
  return at::embedding_dense_backward(gradient, lookup.rows, lookup.table.size(0), -1, false);
}

// Rows or table of the second and third lookup; absent if there are fewer lookups.
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
    return sum_of(lookups);
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
  std::vector<Absent> given(std::size_t{2} * most_summed_tables);
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
