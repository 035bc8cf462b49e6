// Parameters, memory, FLOPs and the learning rate of the encoder beside its heads as formulas.
#include <algorithm>

#include "planning/memory/memory.h"
#include "recipes/dimabsa/options/dimabsa_options.h"

namespace lockstep::dimabsa {
namespace {

// Counts of the tokens that preparation counted; without it, of sentences as reviews have them.
struct TokenCounts {
  double per_row = 40, per_sentence = 300, most = 3000, squares = 20000;
};

TokenCounts counts_of(const nlohmann::json& prepared) {
  TokenCounts counts;
  if (!prepared.is_object() || !prepared.contains("tokens")) return counts;
  const nlohmann::json& tokens = prepared["tokens"];
  counts.per_row = tokens.value("per_row", counts.per_row);
  counts.per_sentence = tokens.value("per_sentence", counts.per_sentence);
  counts.most = tokens.value("most", counts.most);
  counts.squares = tokens.value("squares", counts.squares);
  return counts;
}

EncoderShape shape_of(const nlohmann::json& prepared, const DimabsaOptions& options) {
  if (prepared.is_object() && prepared.contains("config"))
    return read_shape(prepared["config"], "config.json");
  return options.small_shape(options.model.vocabulary, options.data.cut);
}

double embedding_parameters(const EncoderShape& shape) {
  return static_cast<double>((shape.vocabulary + shape.positions + shape.segments) * shape.width);
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

// A token keeps these for backward in a layer, in elements of the computing type: queries, keys and
// values (3 W), the attention's result, its projection, the sum, the norm and their dropout (about
// 7 W), and twice the feed-forward's width. A micro-batch is taken to hold rows of the mean length
// and once the longest sentence.
MemoryEstimate DimabsaOptions::memory(const TrainOptions& train, const Facts& facts) const {
  const EncoderShape shape = shape_of(prepared_, *this);
  const TokenCounts counts = counts_of(prepared_);
  const double element = train.precision == Precision::fp32 ? 4 : 2;
  const auto width = static_cast<double>(shape.width);
  const double token = element * static_cast<double>(shape.layers) *
                       (10 * width + 2 * static_cast<double>(shape.feed_forward));
  const double optimizer = optimizer_bytes_per_parameter(train);
  const auto parameters =
      static_cast<double>(facts.parameters != 0 ? facts.parameters : parameter_count(shape));
  constexpr double workspaces = 128.0 * 1024 * 1024;
  return {.fixed_bytes = parameters * (weight_bytes_per_parameter(train) + optimizer) + workspaces +
                         counts.most * token,
          .per_sample_bytes = counts.per_row * token,
          .optimizer_bytes = parameters * optimizer,
          .backward_bytes = counts.per_row * element * (6 * width)};
}

// 6 FLOPs a multiplication: 2 forward, 4 backward. Products of attention are 2 W per pair of tokens
// of a text.
std::optional<double> DimabsaOptions::flops_per_sample(const Facts& facts) const {
  const EncoderShape shape = shape_of(prepared_, *this);
  const TokenCounts counts = counts_of(prepared_);
  const double weights =
      static_cast<double>(facts.parameters != 0 ? facts.parameters : parameter_count(shape)) -
      embedding_parameters(shape);
  const double attention = 2 * static_cast<double>(shape.width * shape.layers) * counts.squares;
  return 6 * (weights * counts.per_sentence + attention);
}

}  // namespace lockstep::dimabsa
