// The shape of a text encoder, as config.json of a model folder states it. Without LibTorch.
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
  // rows of the table of positions; DeBERTa has no table: here, most tokens
  std::int64_t positions = 512;
  std::int64_t first_position = 0;  // row of a text's first token: 0, for XLM-R 2
  std::int64_t segments = 2;        // token types; 0: the model has none
  double norm_epsilon = 1e-12, dropout = 0.1;
  // Dropout on the probabilities of attention. read_shape leaves it 0, whatever the file says. If
  // it is above 0, training is slower: no fused attention has a dropout mask that is the same on
  // any number of devices.
  double attention_dropout = 0;
  bool gelu_tanh = false;
  // For DeBERTa-v3 only. Each distance up to half of `position_buckets` has its own row. Larger
  // distances, up to max_relative_positions, share rows by their logarithm. Without buckets, every
  // distance below max_relative_positions has its own row.
  std::int64_t position_buckets = 0, max_relative_positions = 0;
  bool share_attention_key = false, norm_relative_embeddings = false;

  // The most tokens of a text together with its query.
  std::int64_t longest() const { return positions - first_position; }
  // The number of distances to either side that have a row in DeBERTa's table.
  std::int64_t distances() const {
    return position_buckets > 0 ? position_buckets : max_relative_positions;
  }
};

// `where`: the file, for messages. Throws Error, which names the key, if the family, activation or
// kind of positions is unknown. Also if sizes are not numbers or do not fit each other.
EncoderShape read_shape(const nlohmann::json& config, const std::string& where);
EncoderShape read_shape(const std::filesystem::path& folder);  // its config.json
std::int64_t parameter_count(const EncoderShape& shape);

}  // namespace lockstep::dimabsa
