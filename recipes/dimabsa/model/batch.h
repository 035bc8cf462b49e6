// A micro-batch: the texts of many rows one behind the other, and the targets of the loss.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recipes/dimabsa/encoder/encoder.h"
#include "recipes/dimabsa/model/texts.h"
#include "recipes/dimabsa/options/batch_sizes.h"

namespace lockstep::dimabsa {

// The fields of a micro-batch, in their order. It has N tokens, S texts and B rows. N and S are
// rounded up so that shapes repeat. Tokens of padding form texts that ask for nothing and weigh 0;
// any further texts are empty.
enum class Field : std::size_t {
  tokens,        // i64 [N]
  segments,      // i64 [N]
  positions,     // i64 [N]
  offsets,       // i64 [S + 1]: where texts begin
  row_offsets,   // i64 [B + 1]: where rows begin, in tokens
  token_pass,    // i64 [N]: a Pass; -1: padding
  span_targets,  // i64 [N, 2]: whether a span begins here, whether one ends
  span_weights,  // f32 [N, 2]
  first_tokens,  // i64 [S]: the first token of each text; for padding 0
  text_pass,     // i64 [S]: a Pass; -1: padding
  categories,    // i64 [S]: for texts that ask for the category, else 0
  values,        // f32 [S]: for texts that ask for valence or arousal, else 0
  text_weights,  // f32 [S]; 0 for texts that ask for none of the three
  row_pass,      // i64 [B]: a Pass; -1: a row of padding
  longest,       // f32 [L, 0]: only the shape matters; no text is longer than L
};
inline constexpr std::size_t field_count = 15;
const at::Tensor& field(const std::vector<at::Tensor>& fields, Field which);

EncoderInput encoder_input(const std::vector<at::Tensor>& fields);

class BatchBuilder {
 public:
  // rounded: whether N, S and L are rounded up; false for batches that are computed once.
  BatchBuilder(std::int64_t pad, bool rounded) : pad_(pad), rounded_(rounded) {}

  void begin_row(std::int64_t pass);  // a Pass; -1: padding
  // Adds a text to the present row. weight: of the text's answer, unless that is spans.
  void add(const TextTokens& text, Pass pass, std::int64_t category, double value, double weight);
  // Gives `weight` to each token of the last text, from the beginning of the answer on.
  void weigh_spans(double weight);
  // Marks a span to be found in the last text; each of its ends gets `weight`. A span is left out
  // if the text was cut before it.
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
