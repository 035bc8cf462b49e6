// A lookup is an operation of its own with gradients; their results are added.
#include "kernels/embedding_sum.h"

#include "base/check.h"
#include "kernels/gradient_buffer.h"
#include "kernels/index_check.h"
#include "kernels/second_derivative.h"

#include <ATen/ops/embedding.h>
#include <ATen/ops/embedding_dense_backward.h>
#include <torch/csrc/autograd/custom_function.h>

namespace lockstep {
namespace {

struct TableRows : torch::autograd::Function<TableRows> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& rows,
                            const at::Tensor& table) {
    context->save_for_backward({rows, table});
    return at::embedding(table, rows);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    if (!gradients[0].defined() || !context->needs_input_grad(1)) return {{}, {}};
    const auto saved = context->get_saved_variables();
    const at::Tensor &rows = saved[0], &table = saved[1];
    if (is_differentiated()) {
      const auto by_aten = [&](const std::vector<at::Tensor>& in) {
        return std::vector<at::Tensor>{at::embedding(in[0], rows)};
      };
      return {{}, differentiable_gradients(by_aten, {table}, gradients)[0]};
    }
    at::Tensor buffer = buffer_of_this_pass(table);
    if (!buffer.defined())
      return {{}, at::embedding_dense_backward(gradients[0], rows, table.size(0), -1, false)};
    buffer.index_add_(0, rows, gradients[0].to(buffer.scalar_type()));
    return {{}, {}};
  }
};

}  // namespace

at::Tensor embedding_sum(const std::vector<Lookup>& lookups) {
  LOCKSTEP_CHECK(!lookups.empty());
  at::Tensor sum;
  for (const auto& [rows, table] : lookups) {
    LOCKSTEP_CHECK(rows.dim() == 1 && rows.sizes() == lookups[0].rows.sizes());
    LOCKSTEP_CHECK(table.dim() == 2 && table.size(1) == lookups[0].table.size(1));
    check_indices(rows, 0, table.size(0), "rows of a table");
    const at::Tensor part = TableRows::apply(rows.to(at::kLong), table);
    sum = sum.defined() ? sum.add(part) : part;
  }
  return sum;
}

}  // namespace lockstep
