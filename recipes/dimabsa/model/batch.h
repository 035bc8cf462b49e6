// Texts of many rows one behind the other, with what the loss compares them with.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recipes/dimabsa/encoder/encoder.h"
#include "recipes/dimabsa/model/texts.h"
#include "recipes/dimabsa/options/batch_sizes.h"

namespace lockstep::dimabsa {

// The fields of a micro-batch, in their order. N tokens, S texts, B rows. N and S are rounded up so
// that shapes repeat: the tokens of padding are texts that ask for nothing and weigh 0, and further
// texts are empty.
enum class Field : std::size_t {
  tokens,        // i64 [N]
  segments,      // i64 [N]
  positions,     // i64 [N]
  offsets,       // i64 [S + 1]: of texts
  row_offsets,   // i64 [B + 1]: of rows, in tokens
  token_pass,    // i64 [N], a Pass; -1: padding
  span_targets,  // i64 [N, 2]: whether a span begins here, whether one ends
  span_weights,  // f32 [N, 2]
  first_tokens,  // i64 [S]: of the texts; of padding 0
  text_pass,     // i64 [S], a Pass; -1: padding
  categories,    // i64 [S]: of texts that ask for it, else 0
  values,        // f32 [S]: valence or arousal, else 0
  text_weights,  // f32 [S]; 0 where a text asks for neither
  row_pass,      // i64 [B], a Pass; -1: a row of padding
  longest,       // f32 [L, 0]: L is at least the length of every text, and part of the shape
};
inline constexpr std::size_t field_count = 15;
const at::Tensor& field(const std::vector<at::Tensor>& fields, Field which);

EncoderInput encoder_input(const std::vector<at::Tensor>& fields);

class BatchBuilder {
 public:
  // rounded: N, S and L are rounded up; false for what is computed once.
  BatchBuilder(std::int64_t pad, bool rounded) : pad_(pad), rounded_(rounded) {}

  void begin_row(std::int64_t pass);  // a Pass; -1: padding
  // Adds a text to the present row. weight: of the answer that it asks for, except spans.
  void add(const TextTokens& text, Pass pass, std::int64_t category, double value, double weight);
  // Gives `weight` to each token of the last text, from the answer on.
  void weigh_spans(double weight);
  // Marks a span to be found in the last text; each of its ends gets `weight`. A span behind the
  // place where the text was cut is left out.
  void mark_span(const PieceSpan& span, double weight);
  std::vector<at::Tensor> fields() const;

 private:
  std::int64_t pad_;
  bool rounded_;
  std::vector<std::int64_t> tokens_, segments_, positions_, offsets_{0}, row_begins_, token_pass_;
  std::vector<std::int64_t> span_targets_, first_tokens_, text_pass_, categories_, row_pass_;
  std::vector<float> span_weights_, values_, text_weights_;
  std::int64_t longest_ = 1;
  TextTokens last_;
};

}  // namespace lockstep::dimabsa
