// The shape of a text encoder, as config.json of a model folder states it. This header does not
// depend on LibTorch.
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
  // The number of rows of the position embedding. DeBERTa has no such embedding, and this is the
  // largest number of tokens in a text.
  std::int64_t positions = 512;
  std::int64_t first_position = 0;  // row of the first token: pad_token_id + 1 for XLM-R, else 0
  std::int64_t segments = 2;        // number of token types; 0 if the model has none
  double norm_epsilon = 1e-12, dropout = 0.1;
  // Dropout on the probabilities of attention. read_shape does not read it from the file, so it
  // stays 0. If it is above 0, training is slower, because it cannot use fused attention. The
  // dropout mask of fused attention would depend on the number of devices.
  double attention_dropout = 0;
  bool gelu_tanh = false;
  // For DeBERTa-v3 only: the rows of its embedding of distances between tokens. Each distance up to
  // half of `position_buckets` has its own row. Larger distances share rows on a logarithmic scale,
  // up to max_relative_positions. If position_buckets is 0, every distance below
  // max_relative_positions has its own row.
  std::int64_t position_buckets = 0, max_relative_positions = 0;
  bool share_attention_key = false, norm_relative_embeddings = false;

  // The largest number of tokens of a text, including the query before it (model/texts.h).
  std::int64_t longest() const { return positions - first_position; }
  // The number of rows of DeBERTa's embedding of distances in each direction. Keys may lie before
  // the query, or after it.
  std::int64_t distances() const {
    return position_buckets > 0 ? position_buckets : max_relative_positions;
  }
};

// config: the content of config.json. where: the name of the file, for messages. Throws Error,
// which names the key, if the family, activation or kind of positions is unknown. Also throws Error
// if sizes are not numbers or contradict each other.
EncoderShape read_shape(const nlohmann::json& config, const std::string& where);
// Reads config.json of the folder. Also throws Error if the folder has no such file.
EncoderShape read_shape(const std::filesystem::path& folder);
std::int64_t parameter_count(const EncoderShape& shape);

}  // namespace lockstep::dimabsa
