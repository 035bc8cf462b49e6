// Reads a tokenizer.json with a Unigram model. Newer versions of `transformers` save only this file
// for XLM-R.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "recipes/dimabsa/tokens/sentence_piece/sentence_piece.h"

namespace lockstep::dimabsa {

bool is_unigram(const nlohmann::json& tokenizer);

// Returns settings whose sentencepiece model has the pieces of the file, and no rules for
// normalization. Ids, normalizer and word rules are also those of the file. where: the name of the
// file, for messages. The names of special tokens come from `config`, the content of
// tokenizer_config.json. If `config` does not state them, the names of XLM-R or DeBERTa are used.
// Throws Error if the pieces are damaged, or if the normalizer or the pre-tokenizer is of an
// unknown kind.
SentencePieceSettings unigram_settings(const nlohmann::json& tokenizer,
                                       const nlohmann::json& config, const std::string& where);

}  // namespace lockstep::dimabsa
