// Parameters, memory, FLOPs and the learning rate of the encoder beside its heads as formulas.
#include <algorithm>

#include "planning/memory/memory.h"
#include "recipes/dimabsa/options/batch_sizes.h"
#include "recipes/dimabsa/options/dimabsa_options.h"
#include "recipes/dimabsa/options/encoded.h"

namespace lockstep::dimabsa {
namespace {

// Counts of the tokens that preparation counted; without it, of sentences as reviews have them.
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

// Rows of DeBERTa's table of distances.
double table_rows(const EncoderShape& shape) { return static_cast<double>(2 * shape.distances()); }

double embedding_parameters(const EncoderShape& shape) {
  const std::int64_t places = is_relative(shape) ? 2 * shape.distances() : shape.positions;
  return static_cast<double>((shape.vocabulary + places + shape.segments) * shape.width);
}

// Elements of the computing type that a layer keeps for backward, and needs for a moment in
// backward: for a token, and for a text where attention pads texts.
struct LayerElements {
  double token = 0, token_backward = 0, text = 0, text_backward = 0;
  double table = 0;  // kept whatever the batch

  double kept(double tokens, double texts) const { return tokens * token + texts * text; }
  double backward(double tokens, double texts) const {
    return tokens * token_backward + texts * text_backward;
  }
};

// A token keeps queries, keys and values (3 W), the attention's result, its projection, the sum,
// the norm and their dropout (about 7 W), and twice the feed-forward's width.
LayerElements layer_elements(const EncoderShape& shape, const TokenCounts& counts) {
  const auto width = static_cast<double>(shape.width);
  LayerElements layer{.token = 10 * width + 2 * static_cast<double>(shape.feed_forward),
                      .token_backward = 6 * width};
  if (!is_relative(shape)) return layer;
  // Deberta::attend. Copies of padded queries, keys and values take the place of the 3 W: two, two
  // and one. For each of the two summands with positions, `matmul` copies the projected table for
  // every text, and `gather` keeps the products with all of its rows. Probabilities are kept twice.
  const auto length = static_cast<double>(padded_length(counts.longest));
  const auto heads = static_cast<double>(shape.heads);
  const double rows = table_rows(shape);
  const double products = heads * length * rows, scores = heads * length * length;
  constexpr double rounded = 1.125;  // texts of a batch, as BatchBuilder rounds them up in the mean
  layer.token -= 3 * width;
  layer.text = rounded * (5 * length * width + 2 * width * rows + 2 * products + 2 * scores);
  layer.text_backward = rounded * (width * rows + products + 4 * scores);
  layer.table = 4 * width * rows;
  return layer;
}

// Bytes that evaluation needs beside the weights where attention pads texts: products with the
// table of positions, then scores in each of their forms.
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
  // 1e-5 where heads have 1e-3, and 3e-3.
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
  counts.longest = std::min(counts.longest, shape.longest());  // long phrases are cut in a query
  const double element = train.precision == Precision::fp32 ? 4 : 2;
  const auto layers = static_cast<double>(shape.layers);
  const LayerElements layer = layer_elements(shape, counts);
  const double block = element * layer.kept(counts.per_row, counts.texts_per_row);
  // A block that is computed again keeps its input.
  const double input = element * static_cast<double>(shape.width);
  const auto passes = static_cast<std::int64_t>(passes_of(task()).size());
  const double largest_row =
      element * layer.kept(counts.most, counts.most_texts) / static_cast<double>(passes);
  // Rows of the table as i64 [T, T] for a text, which all layers share.
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

// 6 FLOPs a multiplication: 2 forward, 4 backward. Products of attention are 2 W per pair of tokens
// of a text, and in DeBERTa 2 W per token and row of the table of distances.
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
