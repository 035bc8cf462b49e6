// The names of an encoder's tensors in Hugging Face's files.
#include "core/base/text/text.h"
#include "recipes/dimabsa/encoder/encoder.h"

namespace lockstep::dimabsa {
namespace {

const char* prefix(EncoderFamily family) {
  switch (family) {
    case EncoderFamily::bert:
      return "bert.";
    case EncoderFamily::xlm_roberta:
      return "roberta.";
    case EncoderFamily::deberta_v2:
      return "deberta.";
  }
  return "";
}

}  // namespace

std::vector<std::pair<std::string, std::string>> encoder_weight_names(const EncoderShape& shape) {
  std::vector<std::pair<std::string, std::string>> names;
  for (const std::string& front : {std::string(prefix(shape.family)), std::string()})
    for (const auto& [theirs, ours] : {std::pair{"LayerNorm.gamma", "LayerNorm.weight"},
                                       {"LayerNorm.beta", "LayerNorm.bias"},
                                       {"", ""}})
      names.emplace_back(cat(front, "*", theirs), cat("encoder.*", ours));
  return names;
}

std::vector<std::string> ignored_weights(const EncoderShape& /*shape*/) {
  return {"*pooler.*",
          "*position_ids",
          "*embeddings.token_type_ids",
          "cls.*",
          "lm_head.*",
          "classifier.*",
          "qa_outputs.*",
          "score.*",
          "lm_predictions.*",
          "mask_predictions.*",
          "deberta.lm_predictions.*"};
}

}  // namespace lockstep::dimabsa
