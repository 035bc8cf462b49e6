// Reads a tokenizer.json with a Unigram model, which newer versions of `transformers` save for
// XLM-R without other files.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "recipes/dimabsa/tokens/sentence_piece/sentence_piece.h"

namespace lockstep::dimabsa {

bool is_unigram(const nlohmann::json& tokenizer);

// Returns the settings of an equal sentencepiece model without rules of its own. Ids, normalizer
// and word rules are those of the file. Special tokens have the names that `config`
// (tokenizer_config.json) gives them, else XLM-R's or DeBERTa's names. Throws Error if a part is of
// an unknown kind.
SentencePieceSettings unigram_settings(const nlohmann::json& tokenizer,
                                       const nlohmann::json& config, const std::string& where);

}  // namespace lockstep::dimabsa
