// Reads a tokenizer.json with a Unigram model. Newer versions of `transformers` save only this file
// for XLM-R.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "recipes/dimabsa/tokens/sentence_piece/sentence_piece.h"

namespace lockstep::dimabsa {

bool is_unigram(const nlohmann::json& tokenizer);

// Returns the settings of a sentencepiece model with the same pieces and without rules for
// normalization. Ids, normalizer and word rules are those of the file. The names of special tokens
// come from `config`, the content of tokenizer_config.json. If `config` does not state them, the
// names of XLM-R or DeBERTa are used. Throws Error if a part is of an unknown kind.
SentencePieceSettings unigram_settings(const nlohmann::json& tokenizer,
                                       const nlohmann::json& config, const std::string& where);

}  // namespace lockstep::dimabsa
