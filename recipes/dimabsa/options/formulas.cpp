// Formulas for parameters, memory and FLOPs, and for the encoder's learning rate relative to the
// heads.
#include <algorithm>

#include "planning/memory/memory.h"
#include "recipes/dimabsa/options/batch_sizes.h"
#include "recipes/dimabsa/options/dimabsa_options.h"
#include "recipes/dimabsa/options/encoded.h"

namespace lockstep::dimabsa {
namespace {

// Token counts from preparation. The defaults are typical of reviews.
struct TokenCounts {
  double per_row = 40, per_sentence = 300, most = 3000, squares = 20000;
  double texts_per_row = 1.25, most_texts = 50;
  std::int64_t longest = 96;
};

TokenCounts counts_of(const nlohmann::json& prepared) {
  TokenCounts counts;
  if (!prepared.is_object() || !prepared.contains("tokens")) return counts;
  const nlohmann::json& tokens = prepared["tokens"];
  counts.per_row = tokens.value("per_row", counts.per_row);
  counts.per_sentence = tokens.value("per_sentence", counts.per_sentence);
  counts.most = tokens.value("most", counts.most);
  counts.squares = tokens.value("squares", counts.squares);
  counts.texts_per_row = tokens.value("texts_per_row", counts.texts_per_row);
  counts.most_texts = tokens.value("most_texts", counts.most_texts);
  counts.longest = tokens.value("longest", counts.longest);
  return counts;
}

EncoderShape shape_of(const nlohmann::json& prepared, const DimabsaOptions& options) {
  if (prepared.is_object() && prepared.contains("config"))
    return read_shape(prepared["config"], "config.json");
  return options.small_shape(options.model.vocabulary, options.data.cut);
}

bool is_relative(const EncoderShape& shape) { return shape.family == EncoderFamily::deberta_v2; }

// The number of rows in DeBERTa's table of relative distances.
double table_rows(const EncoderShape& shape) { return static_cast<double>(2 * shape.distances()); }

double embedding_parameters(const EncoderShape& shape) {
  const std::int64_t places = is_relative(shape) ? 2 * shape.distances() : shape.positions;
  return static_cast<double>((shape.vocabulary + places + shape.segments) * shape.width);
}

// Elements in the computing type that a layer keeps for backward, and elements that it needs
// briefly in backward. `token` counts per token. `text` counts per text if attention pads texts.
struct LayerElements {
  double token = 0, token_backward = 0, text = 0, text_backward = 0;
  double table = 0;  // elements that do not depend on the batch

  double kept(double tokens, double texts) const { return tokens * token + texts * text; }
  double backward(double tokens, double texts) const {
    return tokens * token_backward + texts * text_backward;
  }
};

// Per token, a layer keeps queries, keys and values (3 W) and the feed-forward part (twice its
// width). It also keeps the attention's result, its projection, the sum, the norm and their dropout
// (about 7 W).
LayerElements layer_elements(const EncoderShape& shape, const TokenCounts& counts) {
  const auto width = static_cast<double>(shape.width);
  LayerElements layer{.token = 10 * width + 2 * static_cast<double>(shape.feed_forward),
                      .token_backward = 6 * width};
  if (!is_relative(shape)) return layer;
  // As in Deberta::attend. Padded queries, keys and values replace the 3 W: two copies of queries,
  // two of keys and one of values. Each of the two terms with positions needs more: `matmul` copies
  // the projected table for every text, and `gather` keeps the products with all rows of the table.
  // Probabilities are kept twice.
  const auto length = static_cast<double>(padded_length(counts.longest));
  const auto heads = static_cast<double>(shape.heads);
  const double rows = table_rows(shape);
  const double products = heads * length * rows, scores = heads * length * length;
  // BatchBuilder rounds the number of texts up, by this factor on average
  constexpr double rounded = 1.125;
  layer.token -= 3 * width;
  layer.text = rounded * (5 * length * width + 2 * width * rows + 2 * products + 2 * scores);
  layer.text_backward = rounded * (width * rows + products + 4 * scores);
  layer.table = 4 * width * rows;
  return layer;
}

// Bytes that evaluation needs besides the weights if attention pads texts. These are products with
// the table of positions, and then several copies of the scores.
double evaluation_bytes(const EncoderShape& shape, const TokenCounts& counts, double element) {
  if (!is_relative(shape)) return 0;
  const auto length = static_cast<double>(counts.longest), heads = static_cast<double>(shape.heads);
  const auto width = static_cast<double>(shape.width);
  const double rows = table_rows(shape);
  return static_cast<double>(texts_at_once(shape.longest())) * element *
         (width * rows + heads * length * rows + 7 * heads * length * length);
}

}  // namespace

double encoder_rate(const DimabsaOptions& options) {
  // A pre-trained encoder learns at 1e-5 if heads learn at 1e-3. A new encoder learns at 3e-3.
  constexpr double beside_heads = 0.01, from_nothing = 3;
  if (options.model.encoder_rate != 0) return options.model.encoder_rate;
  return options.model.path.empty() ? from_nothing : beside_heads;
}

std::int64_t head_parameters(Task task, std::int64_t width, std::int64_t categories) {
  std::int64_t outputs = 2;
  if (task != Task::aspects) outputs += 16;
  if (task == Task::quadruplets) outputs += categories;
  return outputs * (width + 1);
}

MemoryEstimate DimabsaOptions::memory(const TrainOptions& train, const Facts& facts) const {
  const EncoderShape shape = shape_of(prepared_, *this);
  TokenCounts counts = counts_of(prepared_);
  counts.longest = std::min(counts.longest, shape.longest());  // queries cut long phrases
  const double element = train.precision == Precision::fp32 ? 4 : 2;
  const auto layers = static_cast<double>(shape.layers);
  const LayerElements layer = layer_elements(shape, counts);
  const double block = element * layer.kept(counts.per_row, counts.texts_per_row);
  // With activation recomputation, a block keeps only its input.
  const double input = element * static_cast<double>(shape.width);
  const auto passes = static_cast<std::int64_t>(passes_of(task()).size());
  const double largest_row =
      element * layer.kept(counts.most, counts.most_texts) / static_cast<double>(passes);
  // The table's row for each pair of tokens in a text, i64 [T, T]. All layers share these indices.
  const auto length = static_cast<double>(padded_length(counts.longest));
  const double indices = is_relative(shape) ? 8 * length * length : 0;
  const double optimizer = optimizer_bytes_per_parameter(train);
  const auto parameters =
      static_cast<double>(facts.parameters != 0 ? facts.parameters : parameter_count(shape));
  constexpr double workspaces = 128.0 * 1024 * 1024;
  return {.fixed_bytes = parameters * (weight_bytes_per_parameter(train) + optimizer) + workspaces +
                         element * layers * layer.table,
          .per_sample_bytes = layers * block + counts.texts_per_row * indices,
          .optimizer_bytes = parameters * optimizer,
          .blocks = shape.layers,
          .block_bytes = block,
          .recomputed_block_bytes = counts.per_row * input,
          .backward_bytes = element * layer.backward(counts.per_row, counts.texts_per_row),
          .large_samples = passes,
          .large_size = block > 0 ? largest_row / block : 0,
          .evaluation_bytes = evaluation_bytes(shape, counts, element)};
}

// A multiplication counts 6 FLOPs: 2 forward and 4 backward. Attention has 2 W multiplications per
// pair of tokens in a text. DeBERTa adds 2 W per token and row of its table of distances.
std::optional<double> DimabsaOptions::flops_per_sample(const Facts& facts) const {
  const EncoderShape shape = shape_of(prepared_, *this);
  const TokenCounts counts = counts_of(prepared_);
  const double weights =
      static_cast<double>(facts.parameters != 0 ? facts.parameters : parameter_count(shape)) -
      embedding_parameters(shape);
  double pairs = counts.squares;
  if (is_relative(shape)) pairs += counts.per_sentence * table_rows(shape);
  const double attention = 2 * static_cast<double>(shape.width * shape.layers) * pairs;
  return 6 * (weights * counts.per_sentence + attention);
}

}  // namespace lockstep::dimabsa
