// Builds a micro-batch: the concatenated texts of its rows, and the targets of the loss. Each row
// asks questions of one kind, which is a Pass (options/encoded.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recipes/dimabsa/encoder/encoder.h"
#include "recipes/dimabsa/model/texts.h"
#include "recipes/dimabsa/options/batch_sizes.h"

namespace lockstep::dimabsa {

// The tensors of a micro-batch, in order. The micro-batch has N tokens, S texts and B rows. For
// training, N and S are rounded up, so that few different shapes occur. Padding tokens form texts
// of their own, which have weight 0. If this does not give enough texts to reach S, empty texts are
// added.
enum class Field : std::size_t {
  tokens,        // i64 [N]
  segments,      // i64 [N]
  positions,     // i64 [N]
  offsets,       // i64 [S + 1]: EncoderInput::offsets
  row_offsets,   // i64 [B + 1]: EncoderInput::row_offsets
  token_pass,    // i64 [N]: the Pass of the token's text; -1 for padding
  span_targets,  // i64 [N, 2]: whether a target span begins here, and whether one ends
  span_weights,  // f32 [N, 2]
  first_tokens,  // i64 [S]: index of each text's first token; 0 for padding
  text_pass,     // i64 [S]: the Pass of each text; -1 for padding
  categories,    // i64 [S]: index of the target category; only read for texts of Pass::category
  values,        // f32 [S]: the target in Pass::valence and Pass::arousal, else 0
  text_weights,  // f32 [S]: 0 in passes that mark spans, and for padding
  row_pass,      // i64 [B]: the Pass of each row; -1 for padding
  longest,       // f32 [L, 0]: has no values; its first size L is EncoderInput::longest
};
inline constexpr std::size_t field_count = 15;
const at::Tensor& field(const std::vector<at::Tensor>& fields, Field which);

EncoderInput encoder_input(const std::vector<at::Tensor>& fields);

class BatchBuilder {
 public:
  // pad: the id of the padding token. rounded: whether N, S and L are rounded up. Set it to false
  // for batches that are computed once, as in evaluation and prediction.
  BatchBuilder(std::int64_t pad, bool rounded) : pad_(pad), rounded_(rounded) {}

  void begin_row(std::int64_t pass);  // the Pass, or -1 for a row of padding
  // Adds a text to the current row. The target is `category` in Pass::category, and `value` in
  // Pass::valence and Pass::arousal. weight: the weight of this target in the loss, 0 in passes
  // that mark spans.
  void add(const TextTokens& text, Pass pass, std::int64_t category, double value, double weight);
  // In the last text, sets the span weight of each token, beginning with the token at
  // TextTokens::answer.
  void weigh_spans(double weight);
  // Marks a target span in the last text. The first and the last token of the span get `weight`. A
  // token is left out if the text was cut before it.
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
