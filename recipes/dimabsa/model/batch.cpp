#include "recipes/dimabsa/model/batch.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>

#include <algorithm>

namespace lockstep::dimabsa {
namespace {

template <class T>
at::Tensor tensor_of(std::vector<T> values, std::int64_t size, T fill) {
  values.resize(static_cast<std::size_t>(size), fill);
  return at::tensor(values);
}

}  // namespace

const at::Tensor& field(const std::vector<at::Tensor>& fields, Field which) {
  return fields.at(static_cast<std::size_t>(which));
}

EncoderInput encoder_input(const std::vector<at::Tensor>& fields) {
  EncoderInput input;
  input.tokens = field(fields, Field::tokens);
  input.segments = field(fields, Field::segments);
  input.positions = field(fields, Field::positions);
  input.offsets = field(fields, Field::offsets);
  input.row_offsets = field(fields, Field::row_offsets);
  input.longest = field(fields, Field::longest).size(0);
  return input;
}

void BatchBuilder::begin_row(std::int64_t pass) {
  row_begins_.push_back(std::ssize(tokens_));
  row_pass_.push_back(pass);
}

void BatchBuilder::add(const TextTokens& text, Pass pass, std::int64_t category, double value,
                       double weight) {
  first_tokens_.push_back(std::ssize(tokens_));
  tokens_.insert(tokens_.end(), text.tokens.begin(), text.tokens.end());
  positions_.insert(positions_.end(), text.positions.begin(), text.positions.end());
  segments_.resize(segments_.size() + static_cast<std::size_t>(text.answer), 0);
  segments_.resize(tokens_.size(), 1);
  token_pass_.resize(tokens_.size(), static_cast<std::int64_t>(pass));
  span_targets_.resize(2 * tokens_.size(), 0);
  span_weights_.resize(2 * tokens_.size(), 0);
  offsets_.push_back(std::ssize(tokens_));
  text_pass_.push_back(static_cast<std::int64_t>(pass));
  categories_.push_back(std::max<std::int64_t>(0, category));
  values_.push_back(static_cast<float>(value));
  text_weights_.push_back(static_cast<float>(weight));
  longest_ = std::max(longest_, text.size());
  last_ = text;
}

void BatchBuilder::weigh_spans(double weight) {
  const std::int64_t begin = first_tokens_.back() + last_.answer;
  std::fill(span_weights_.begin() + 2 * begin, span_weights_.end(), static_cast<float>(weight));
}

void BatchBuilder::mark_span(const PieceSpan& span, double weight) {
  const PieceSpan found = tokens_of(last_, span);
  const std::int64_t ends[] = {found.first, found.last};
  for (std::int64_t side = 0; side < 2; ++side) {
    if (ends[side] >= last_.size()) continue;
    const auto place = static_cast<std::size_t>(2 * (first_tokens_.back() + ends[side]) + side);
    span_targets_[place] = 1;
    span_weights_[place] = static_cast<float>(weight);
  }
}

std::vector<at::Tensor> BatchBuilder::fields() const {
  const std::int64_t n = rounded_ ? rounded_up(std::ssize(tokens_), 8, 64) : std::ssize(tokens_);
  const std::int64_t longest = rounded_ ? padded_length(longest_) : longest_;
  std::vector<std::int64_t> offsets = offsets_;
  while (offsets.back() < n) offsets.push_back(std::min(n, offsets.back() + longest));
  // Space for one text of padding is always kept, so that the number of texts changes less often.
  const std::int64_t texts =
      std::max<std::int64_t>(std::ssize(offsets) - 1, std::ssize(text_pass_) + (rounded_ ? 1 : 0));
  const std::int64_t s = rounded_ ? rounded_up(texts, 4, 8) : texts;
  std::vector<std::int64_t> row_offsets = row_begins_;
  row_offsets.push_back(std::ssize(tokens_));
  std::vector<at::Tensor> fields(field_count);
  const auto set = [&](Field which, at::Tensor values) {
    fields[static_cast<std::size_t>(which)] = std::move(values);
  };
  const std::int64_t none = -1;
  set(Field::tokens, tensor_of(tokens_, n, pad_));
  set(Field::segments, tensor_of<std::int64_t>(segments_, n, 0));
  set(Field::positions, tensor_of<std::int64_t>(positions_, n, 0));
  set(Field::offsets, tensor_of(offsets, s + 1, n));
  set(Field::row_offsets, at::tensor(row_offsets));
  set(Field::token_pass, tensor_of(token_pass_, n, none));
  set(Field::span_targets, tensor_of<std::int64_t>(span_targets_, 2 * n, 0).view({n, 2}));
  set(Field::span_weights, tensor_of<float>(span_weights_, 2 * n, 0).view({n, 2}));
  set(Field::first_tokens, tensor_of<std::int64_t>(first_tokens_, s, 0));
  set(Field::text_pass, tensor_of(text_pass_, s, none));
  set(Field::categories, tensor_of<std::int64_t>(categories_, s, 0));
  set(Field::values, tensor_of<float>(values_, s, 0));
  set(Field::text_weights, tensor_of<float>(text_weights_, s, 0));
  set(Field::row_pass, at::tensor(row_pass_));
  set(Field::longest, at::empty({longest, 0}, at::kFloat));
  return fields;
}

}  // namespace lockstep::dimabsa
