// Small encoders of every family, and texts for them.
#pragma once

#include "recipes/dimabsa/encoder/encoder.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::dimabsa {

inline EncoderShape tiny_bert() {
  return {.family = EncoderFamily::bert,
          .vocabulary = 31,
          .width = 8,
          .layers = 2,
          .heads = 2,
          .feed_forward = 12,
          .positions = 40,
          .dropout = 0.2};
}

inline EncoderShape tiny_xlm_roberta() {
  EncoderShape shape = tiny_bert();
  shape.family = EncoderFamily::xlm_roberta;
  shape.first_position = 2;
  shape.segments = 1;
  shape.norm_epsilon = 1e-5;
  return shape;
}

inline EncoderShape tiny_deberta() {
  EncoderShape shape = tiny_bert();
  shape.family = EncoderFamily::deberta_v2;
  shape.segments = 0;
  shape.norm_epsilon = 1e-7;
  shape.position_buckets = 6;
  shape.max_relative_positions = 40;
  shape.share_attention_key = true;
  shape.norm_relative_embeddings = true;
  return shape;
}

// Without what DeBERTa-v3 shares, and without buckets.
inline EncoderShape plain_deberta() {
  EncoderShape shape = tiny_deberta();
  shape.segments = 2;
  shape.position_buckets = 0;
  shape.max_relative_positions = 5;
  shape.share_attention_key = false;
  shape.norm_relative_embeddings = false;
  return shape;
}

inline std::vector<EncoderShape> all_tiny() {
  return {tiny_bert(), tiny_xlm_roberta(), tiny_deberta(), plain_deberta()};
}

// Of (-1, 1), without a pattern.
inline double scattered(std::uint32_t number) {
  number = (number ^ (number >> 16)) * 0x45D9F3BU;
  number = (number ^ (number >> 16)) * 0x45D9F3BU;
  return static_cast<double>(number ^ (number >> 16)) / 2147483648.0 - 1;
}

// An encoder whose weights are all far from 0 and 1, biases and norms too.
inline std::unique_ptr<Encoder> rough_encoder(const EncoderShape& shape, double size = 0.4) {
  auto encoder = make_encoder(shape, 3);
  std::uint32_t number = 0;
  for (const Parameter& parameter : encoder->parameters()) {
    at::Tensor tensor = parameter.tensor.detach();
    float* values = tensor.mutable_data_ptr<float>();
    const double middle = parameter.name.ends_with("LayerNorm.weight") ? 1 : 0;
    for (std::int64_t i = 0; i < tensor.numel(); ++i)
      values[i] = static_cast<float>(middle + size * scattered(++number));
  }
  return encoder;
}

using Text = std::vector<std::int64_t>;

inline Text some_text(std::int64_t length, std::int64_t salt, std::int64_t vocabulary = 31) {
  Text text;
  for (std::int64_t i = 0; i < length; ++i)
    text.push_back((i * i * 5 + 3 * i + salt * (i + 4)) % vocabulary);
  return text;
}

// Every text is a row of its own; the second half of a text is segment 1 where the shape has it.
inline EncoderInput input_of(const std::vector<Text>& texts, const EncoderShape& shape) {
  std::vector<std::int64_t> tokens, segments, offsets{0};
  EncoderInput input;
  for (const Text& text : texts) {
    const auto length = static_cast<std::int64_t>(text.size());
    for (std::int64_t i = 0; i < length; ++i) {
      tokens.push_back(text[static_cast<std::size_t>(i)]);
      segments.push_back(shape.segments > 1 && 2 * i >= length ? 1 : 0);
    }
    offsets.push_back(offsets.back() + length);
    input.longest = std::max(input.longest, length);
  }
  input.tokens = at::tensor(tokens, at::kLong);
  input.segments = at::tensor(segments, at::kLong);
  input.offsets = input.row_offsets = at::tensor(offsets, at::kLong);
  return input;
}

inline StepContext evaluating() {
  StepContext context;
  context.training = false;
  return context;
}

inline StepContext training(std::int64_t first_global_row = 0) {
  StepContext context;
  context.counters = at::tensor({std::int64_t{5}, std::int64_t{6}, first_global_row}, at::kLong);
  return context;
}

inline std::string family_name(const EncoderShape& shape) {
  return std::to_string(static_cast<int>(shape.family)) + " " + std::to_string(shape.segments);
}

}  // namespace lockstep::dimabsa
