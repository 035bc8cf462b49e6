// tokenizer.json with a Unigram model: all that newer versions of `transformers` save of XLM-R.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "recipes/dimabsa/tokens/sentence_piece/sentence_piece.h"

namespace lockstep::dimabsa {

bool is_unigram(const nlohmann::json& tokenizer);

// Gives the same as a sentencepiece model without rules of its own, with the file's ids, normalizer
// and rules of words. Special tokens have the names that `config`, tokenizer_config.json, gives
// them, else XLM-R's or DeBERTa's. Throws Error if a part is of a kind that is not known here.
SentencePieceSettings unigram_settings(const nlohmann::json& tokenizer,
                                       const nlohmann::json& config, const std::string& where);

}  // namespace lockstep::dimabsa
