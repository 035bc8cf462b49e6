// Reads config.json in Hugging Face's folders of BERT, XLM-R and DeBERTa-v2.
#include "recipes/dimabsa/options/encoder_shape.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "recipes/dimabsa/options/model_config.h"

namespace lockstep::dimabsa {
namespace {

using nlohmann::json;

constexpr std::array<std::pair<std::string_view, EncoderFamily>, 3> families{
    {{"bert", EncoderFamily::bert},
     {"xlm-roberta", EncoderFamily::xlm_roberta},
     {"deberta-v2", EncoderFamily::deberta_v2}}};
// With ModelConfig's limit on sizes, the number of parameters fits into 64 bits.
constexpr std::int64_t most_tokens = 1 << 24, most_layers = 1 << 12;

EncoderFamily read_family(const ModelConfig& config) {
  const std::string name = config.text("model_type", "");
  for (const auto& [known, family] : families)
    if (name == known) return family;
  std::vector<std::string> names;
  for (const auto& [known, family] : families) names.push_back(cat("\"", known, "\""));
  config.refuse("model_type", cat("one of ", join(names, ", ")),
                "the encoder must be a BERT, XLM-R or DeBERTa-v3 folder as Hugging Face writes it");
}

bool read_gelu_tanh(const ModelConfig& config) {
  const std::string name = config.text("hidden_act", "gelu");
  if (name == "gelu" || name == "gelu_python") return false;
  if (name == "gelu_new" || name == "gelu_pytorch_tanh" || name == "gelu_fast") return true;
  config.refuse("hidden_act", R"("gelu", "gelu_new" or "gelu_pytorch_tanh")");
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

void read_absolute(const ModelConfig& config, EncoderShape& shape) {
  if (config.text("position_embedding_type", "absolute") != "absolute")
    config.refuse("position_embedding_type", "\"absolute\"");
  if (config.flag("is_decoder", false)) config.refuse("is_decoder", "false");
  if (shape.family == EncoderFamily::xlm_roberta) {
    shape.first_position = config.integer("pad_token_id", 0, 1) + 1;
    if (shape.longest() < 1)
      config.refuse("max_position_embeddings", cat("more than ", shape.first_position));
  }
}

void read_relative(const ModelConfig& config, EncoderShape& shape) {
  const char* const hint = "of the DeBERTa-v2 family the form of DeBERTa-v3 is known";
  if (!config.flag("relative_attention", false)) config.refuse("relative_attention", "true", hint);
  if (config.flag("position_biased_input", true))
    config.refuse("position_biased_input", "false", hint);
  const std::vector<std::string> kinds = config.words("pos_att_type", '|');
  if (!contains(kinds, "c2p") || !contains(kinds, "p2c") || kinds.size() != 2)
    config.refuse("pos_att_type", "\"c2p|p2c\"", hint);
  if (config.integer("attention_head_size", 1, shape.width / shape.heads) !=
      shape.width / shape.heads)
    config.refuse("attention_head_size",
                  cat("hidden_size / num_attention_heads, ", shape.width / shape.heads), hint);
  if (config.integer("conv_kernel_size", 0, 0) > 0) config.refuse("conv_kernel_size", "0", hint);
  if (config.integer("embedding_size", 1, shape.width) != shape.width)
    config.refuse("embedding_size", cat("hidden_size, ", shape.width), hint);
  shape.position_buckets = config.integer("position_buckets", -1, -1);
  if (shape.position_buckets <= 0) shape.position_buckets = 0;
  if (shape.position_buckets == 2 || shape.position_buckets % 2 != 0)
    config.refuse("position_buckets", "an even number from 4, or -1 for none");
  const std::int64_t most = config.integer("max_relative_positions", -1, -1);
  shape.max_relative_positions = most < 1 ? shape.positions : most;
  if (shape.max_relative_positions <= shape.position_buckets / 2 + 1)
    config.refuse("max_relative_positions", "above half of position_buckets");
  shape.share_attention_key = config.flag("share_att_key", false);
  const std::vector<std::string> norms = config.words("norm_rel_ebd", '|');
  shape.norm_relative_embeddings = contains(norms, "layer_norm");
}

}  // namespace

EncoderShape read_shape(const json& json_config, const std::string& where) {
  const ModelConfig config(json_config, where);
  EncoderShape shape{.family = read_family(config)};
  const bool relative = shape.family == EncoderFamily::deberta_v2;
  shape.vocabulary = config.integer("vocab_size", 1, std::nullopt, most_tokens);
  shape.width = config.integer("hidden_size", 1);
  shape.layers = config.integer("num_hidden_layers", 1, std::nullopt, most_layers);
  shape.heads = config.integer("num_attention_heads", 1);
  shape.feed_forward = config.integer("intermediate_size", 1);
  shape.positions = config.integer("max_position_embeddings", 1);
  shape.segments = config.integer("type_vocab_size", 0, relative ? 0 : 2);
  if (shape.width % shape.heads != 0)
    config.refuse("hidden_size", cat("a multiple of num_attention_heads, ", shape.heads));
  shape.norm_epsilon = config.number("layer_norm_eps", 0, 1, relative ? 1e-7 : 1e-12);
  shape.dropout = config.number("hidden_dropout_prob", 0, 1, 0.1);
  shape.gelu_tanh = read_gelu_tanh(config);
  if (relative)
    read_relative(config, shape);
  else
    read_absolute(config, shape);
  return shape;
}

EncoderShape read_shape(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "config.json";
  if (!std::filesystem::exists(file))
    throw Error(cat("the model folder ", folder.string(), " has no config.json"),
                "it must be a folder as Hugging Face writes it, with config.json, the tokenizer's "
                "files and the weights");
  const json config = parse_json(read_file(file));
  if (config.is_discarded()) throw Error(cat(file.string(), " is no JSON"));
  return read_shape(config, file.string());
}

std::int64_t parameter_count(const EncoderShape& shape) {
  const std::int64_t w = shape.width, f = shape.feed_forward, norm = 2 * w;
  const bool relative = shape.family == EncoderFamily::deberta_v2;
  std::int64_t embeddings = (shape.vocabulary + shape.segments) * w + norm;
  std::int64_t layer = 4 * (w * w + w) + (w * f + f) + (f * w + w) + 2 * norm;
  if (relative) {
    embeddings += 2 * shape.distances() * w;
    if (shape.norm_relative_embeddings) embeddings += norm;
    if (!shape.share_attention_key) layer += 2 * (w * w + w);
  } else {
    embeddings += shape.positions * w;
  }
  return embeddings + shape.layers * layer;
}

}  // namespace lockstep::dimabsa
