// Reads tokens one after another and keeps earlier ones in a KV cache.
#include "recipes/textgen/model/generation/incremental.h"

#include "core/base/check.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <algorithm>

namespace lockstep::textgen {
namespace {

// The last `last` tokens of each row, i64 [rows, last].
at::Tensor tail(const std::vector<TokenIds>& rows, std::int64_t last) {
  at::Tensor tokens = at::empty({static_cast<std::int64_t>(rows.size()), last}, at::kLong);
  std::int64_t* out = tokens.mutable_data_ptr<std::int64_t>();
  for (const TokenIds& row : rows) out = std::copy(row.end() - last, row.end(), out);
  return tokens;
}

}  // namespace

IncrementalGpt::IncrementalGpt(const Gpt& model, std::int64_t rows, const StepContext& context)
    : model_(model),
      context_(context),
      cache_(model.shape().layers, rows, model.shape().heads, model.shape().context,
             model.shape().width / model.shape().heads, context.device, context.compute_dtype),
      window_(static_cast<std::size_t>(rows)) {
  context_.training = false;
}

at::Tensor IncrementalGpt::read(const std::vector<TokenIds>& tokens) {
  LOCKSTEP_CHECK(tokens.size() == window_.size() && !tokens.empty() && !tokens[0].empty());
  const std::int64_t fresh = std::ssize(tokens[0]), context = cache_.context();
  for (std::size_t row = 0; row < tokens.size(); ++row) {
    LOCKSTEP_CHECK(std::ssize(tokens[row]) == fresh);
    window_[row].insert(window_[row].end(), tokens[row].begin(), tokens[row].end());
  }
  const std::int64_t held = std::ssize(window_[0]);
  if (held <= context) return forward(fresh);

  const std::int64_t kept = std::min(std::max({fresh, context / 2, std::int64_t{1}}), context);
  for (TokenIds& row : window_) row.erase(row.begin(), row.end() - kept);
  cache_.clear();
  return forward(kept);
}

at::Tensor IncrementalGpt::forward(std::int64_t last) {
  const at::NoGradGuard no_grad;
  const at::Tensor tokens = tail(window_, last).to(context_.device);
  const at::Tensor hidden = model_.hidden(tokens, context_, &cache_);
  return model_.logits(hidden.select(1, last - 1)).to(at::kFloat).cpu().contiguous();
}

}  // namespace lockstep::textgen
