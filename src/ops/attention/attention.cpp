// Attention as a single autograd node, from the packed projections to the results of the heads.
#include "ops/attention/attention.h"

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "ops/attention/attention_paths.h"
#include "ops/shared/own_kernels.h"
#include "ops/shared/second_derivative.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>
#include <vector>

namespace lockstep {
namespace {

AttentionKernels attention_kernels;  // set once, before the first step

// lengths: i32, at least 1 each, or undefined.
AttentionArguments arguments_of(const at::Tensor& qkv, bool causal, const at::Tensor& lengths) {
  return {.qkv = qkv.const_data_ptr(),
          .lengths = lengths.defined() ? lengths.const_data_ptr<std::int32_t>() : nullptr,
          .dtype = *kernel_dtype(qkv.scalar_type()),
          .batch = qkv.size(0),
          .length = qkv.size(1),
          .heads = qkv.size(3),
          .width = qkv.size(4),
          .causal = causal};
}

bool attention_kernels_serve(const at::Tensor& qkv, bool causal, bool has_lengths) {
  const auto dtype = kernel_dtype(qkv.scalar_type());
  if (!qkv.is_cuda() || attention_kernels.serves == nullptr || qkv.numel() == 0 || !dtype ||
      *dtype == KernelDtype::f32 || !aligned(qkv))
    return false;
  static constexpr std::int32_t any_length = 1;
  AttentionArguments arguments = arguments_of(qkv, causal, {});
  if (has_lengths) arguments.lengths = &any_length;
  return attention_kernels.serves(arguments);
}

// Returns bool [B, T], true for padding.
at::Tensor padding_of(const at::Tensor& qkv, const at::Tensor& lengths) {
  return at::arange(qkv.size(1), lengths.options()).ge(lengths.unsqueeze(1));
}

// Sets to 0 the values that a kernel left in the padding.
void clear_padding(at::Tensor& rows, const at::Tensor& padding) {
  if (!padding.defined()) return;
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(rows.dim()), 1);
  sizes[0] = rows.size(0);
  sizes[1] = rows.size(1);
  rows.masked_fill_(padding.view(sizes), 0);
}

struct PackedAttention : torch::autograd::Function<PackedAttention> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& qkv,
                            bool causal, const std::optional<at::Tensor>& lengths_or_none) {
    at::Tensor lengths, padding;
    if (lengths_or_none) {
      padding = padding_of(qkv, *lengths_or_none);
      lengths = lengths_or_none->clamp(1, qkv.size(1)).to(at::kInt).contiguous();
    }
    AttentionArguments arguments = arguments_of(qkv, causal, lengths);
    at::Tensor out = at::empty({qkv.size(0), qkv.size(1), qkv.size(3), qkv.size(4)}, qkv.options());
    at::Tensor log_sums =
        at::empty({qkv.size(0), qkv.size(3), qkv.size(1)}, qkv.options().dtype(at::kFloat));
    arguments.out = out.mutable_data_ptr();
    arguments.log_sums = log_sums.mutable_data_ptr<float>();
    attention_kernels.forward(arguments);
    clear_padding(out, padding);
    context->save_for_backward(
        {qkv, out, log_sums, lengths_or_none.value_or(at::Tensor()), lengths, padding});
    context->saved_data["causal"] = causal;
    return out;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    if (!gradients[0].defined()) return {{}, {}, {}};
    const auto saved = context->get_saved_variables();
    const bool causal = context->saved_data["causal"].toBool();
    if (is_differentiated()) {
      const auto plain = [&](const std::vector<at::Tensor>& in) {
        return std::vector<at::Tensor>{padded_attention(in[0], causal ? Sees::not_later : Sees::all,
                                                        saved[3], Operators::plain)};
      };
      return {differentiable_gradients(plain, {saved[0]}, gradients)[0], {}, {}};
    }
    const at::Tensor gradient = gradients[0].contiguous();
    at::Tensor of_qkv = at::empty_like(saved[0]);
    AttentionArguments arguments = arguments_of(saved[0], causal, saved[4]);
    arguments.out = saved[1].mutable_data_ptr();
    arguments.log_sums = saved[2].mutable_data_ptr<float>();
    arguments.of_out = gradient.const_data_ptr();
    arguments.of_qkv = of_qkv.mutable_data_ptr();
    attention_kernels.backward(arguments);
    clear_padding(of_qkv, saved[5]);
    return {of_qkv, {}, {}};
  }
};

}  // namespace

void check_lengths(const at::Tensor& lengths, std::int64_t rows, std::int64_t longest) {
  if (lengths.dim() != 1 || lengths.size(0) != rows ||
      (lengths.scalar_type() != at::kLong && lengths.scalar_type() != at::kInt))
    throw Error(cat("attention wants a length for each of the ", rows, " rows, i32 or i64 [", rows,
                    "], but got ", lengths.sizes(), " of ", lengths.scalar_type()));
  if (!lengths.is_cpu() || rows == 0) return;
  const auto least = lengths.min().item<std::int64_t>(), most = lengths.max().item<std::int64_t>();
  if (least < 0 || most > longest)
    throw Error(cat("the lengths of attention's rows must be from 0 to ", longest, ", but one is ",
                    least < 0 ? least : most));
}

at::Tensor packed_attention(const at::Tensor& qkv, Sees sees, const at::Tensor& lengths) {
  LOCKSTEP_CHECK(qkv.dim() == 5 && qkv.size(2) == 3 && qkv.is_contiguous());
  if (lengths.defined()) {
    LOCKSTEP_CHECK(lengths.device() == qkv.device());
    check_lengths(lengths, qkv.size(0), qkv.size(1));
  }
  const bool causal = sees == Sees::not_later;
  if (attention_kernels_serve(qkv, causal, lengths.defined()))
    return PackedAttention::apply(qkv, causal, if_defined(lengths));
  return differentiable_twice(
      [=](const at::Tensor& x) { return padded_attention(x, sees, lengths, Operators::fused); },
      [=](const at::Tensor& x) { return padded_attention(x, sees, lengths, Operators::plain); },
      qkv);
}

const AttentionKernels& attention_kernels_here() { return attention_kernels; }

void register_cuda_attention(AttentionKernels kernels) { attention_kernels = kernels; }

}  // namespace lockstep
