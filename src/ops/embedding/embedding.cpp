// Embedding and positions as one operation with gradients.
#include "ops/embedding/embedding.h"

#include "core/base/check.h"
#include "ops/gradient_buffer/gradient_writer.h"
#include "ops/shared/index_check.h"
#include "ops/shared/own_kernels.h"
#include "ops/shared/second_derivative.h"

#include <ATen/Context.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/embedding_dense_backward.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/sum.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>
#include <utility>

namespace lockstep {
namespace {

EmbeddingKernels embedding_kernels;  // set once, before the first step

bool embedding_kernels_serve(const at::Tensor& rows) {
  return rows.is_cuda() && embedding_kernels.forward != nullptr &&
         kernel_dtype(rows.scalar_type()) && rows.size(-1) % 8 == 0 && aligned(rows);
}

struct EmbedTokens : torch::autograd::Function<EmbedTokens> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& tokens,
                            const at::Tensor& weight, const at::Tensor& positions) {
    const at::Tensor ids = tokens.contiguous();
    check_indices(ids, 0, weight.size(0), "tokens");
    context->save_for_backward({ids, weight, positions});
    if (!embedding_kernels_serve(weight) || !embedding_kernels_serve(positions) ||
        !positions.is_contiguous() || !weight.is_contiguous() || ids.numel() == 0)
      return at::embedding(weight, ids).add(positions);
    at::Tensor out = at::empty({ids.size(0), ids.size(1), weight.size(1)}, weight.options());
    embedding_kernels.forward({.tokens = ids.const_data_ptr<std::int64_t>(),
                               .weight = weight.const_data_ptr(),
                               .positions = positions.const_data_ptr(),
                               .out = out.mutable_data_ptr(),
                               .dtype = *kernel_dtype(weight.scalar_type()),
                               .rows = ids.numel(),
                               .width = weight.size(1),
                               .length = ids.size(1),
                               .vocab = weight.size(0)});
    return out;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    if (!gradients[0].defined()) return {{}, {}, {}};
    const auto saved = context->get_saved_variables();
    const at::Tensor &tokens = saved[0], &weight = saved[1], &positions = saved[2];
    if (is_differentiated()) {
      const auto by_aten = [&](const std::vector<at::Tensor>& in) {
        return std::vector<at::Tensor>{at::embedding(in[0], tokens).add(in[1])};
      };
      const auto both = differentiable_gradients(by_aten, {weight, positions}, gradients);
      return {{}, both[0], both[1]};
    }
    const at::Tensor gradient = gradients[0].contiguous();
    const bool needs_weight = context->needs_input_grad(1);
    const bool needs_positions = context->needs_input_grad(2);
    GradientWriter writer({{.parameter = weight, .needed = needs_weight},
                           {.parameter = positions, .needed = needs_positions}});
    const bool own = writer.has_buffer(0) && writer.has_buffer(1) &&
                     embedding_kernels_serve(gradient) && gradient.numel() > 0;
    if (!own)
      return {{},
              needs_weight
                  ? at::embedding_dense_backward(gradient, tokens, weight.size(0), -1, false)
                  : at::Tensor(),
              needs_positions ? at::sum(gradient, {0}) : at::Tensor()};
    const at::Tensor of_weight = writer.open(0).into, of_positions = writer.open(1).into;
    EmbeddingBackward arguments{.tokens = tokens.const_data_ptr<std::int64_t>(),
                                .gradient = gradient.const_data_ptr(),
                                .of_weight = of_weight.mutable_data_ptr<float>(),
                                .of_positions = of_positions.mutable_data_ptr<float>(),
                                .dtype = *kernel_dtype(gradient.scalar_type()),
                                .rows = tokens.numel(),
                                .width = weight.size(1),
                                .length = tokens.size(1)};
    std::optional<RowOrder> order;
    if (at::globalContext().deterministicAlgorithms())
      order.emplace(arguments, rows_by_token(tokens.flatten(), weight.size(0)),
                    of_weight.options());
    embedding_kernels.backward(arguments);
    return {{}, {}, {}};
  }
};

}  // namespace

at::Tensor rows_by_token(const at::Tensor& tokens, std::int64_t vocab) {
  // Narrow keys are sorted faster. Truncated keys may be in another order, but different tokens
  // still have different keys.
  const at::Tensor keys = tokens.to(vocab <= 1 << 16 ? at::kShort : at::kInt);
  return std::get<1>(at::sort(keys, /*stable=*/true, /*dim=*/0, /*descending=*/false));
}

RowOrder::RowOrder(EmbeddingBackward& arguments, at::Tensor order, const at::TensorOptions& f32)
    : order_(std::move(order)) {
  arguments.piece = arguments.rows <= embedding_few_rows ? embedding_short_piece : embedding_piece;
  const std::int64_t pieces = (arguments.rows + arguments.piece - 1) / arguments.piece;
  partial_ = at::empty({pieces, 2, arguments.width}, f32);
  arguments.by_token = order_.const_data_ptr<std::int64_t>();
  arguments.partial = partial_.mutable_data_ptr<float>();
}

at::Tensor embed_tokens(const at::Tensor& tokens, const at::Tensor& weight,
                        const at::Tensor& positions) {
  LOCKSTEP_CHECK(tokens.dim() == 2 && weight.dim() == 2 && positions.dim() == 2);
  LOCKSTEP_CHECK(positions.size(0) == tokens.size(1) && positions.size(1) == weight.size(1));
  return EmbedTokens::apply(tokens.to(at::kLong), weight, positions);
}

void register_cuda_embedding(EmbeddingKernels kernels) { embedding_kernels = kernels; }
const EmbeddingKernels& embedding_kernels_here() { return embedding_kernels; }

}  // namespace lockstep
