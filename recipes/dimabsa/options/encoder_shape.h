// The shape of a text encoder, as config.json of a model folder gives it. Without LibTorch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace lockstep::dimabsa {

enum class EncoderFamily { bert, xlm_roberta, deberta_v2 };

struct EncoderShape {
  EncoderFamily family = EncoderFamily::bert;
  std::int64_t vocabulary = 30522, width = 768, layers = 12, heads = 12, feed_forward = 3072;
  std::int64_t positions = 512;     // rows of the table
  std::int64_t first_position = 0;  // row of a text's first token: 0, of XLM-R 2
  std::int64_t segments = 2;        // token types; 0: the model has none
  double norm_epsilon = 1e-12, dropout = 0.1, attention_dropout = 0.1;
  bool gelu_tanh = false;
  // DeBERTa-v3 alone.
  std::int64_t position_buckets = 0, max_relative_positions = 0;
  bool share_attention_key = false, norm_relative_embeddings = false;

  // Tokens of a text with its query at most.
  std::int64_t longest() const { return positions - first_position; }
};

// Throws Error that names the key: a family that is not known, an activation that is not, sizes
// that do not fit each other.
EncoderShape read_shape(const nlohmann::json& config, const std::string& where);
EncoderShape read_shape(const std::filesystem::path& folder);  // its config.json
std::int64_t parameter_count(const EncoderShape& shape);

}  // namespace lockstep::dimabsa
