// tokenizer.json, the one file in which `tokenizers` keeps a whole tokenizer.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "recipes/dimabsa/tokens/word_piece.h"

namespace lockstep::dimabsa {

// Its pieces, normalizer, rules of words, added tokens and numbers. rules: those of a
// BertNormalizer, which the caller may change and then sets. They are null if the normalizer is of
// another kind, which is set here. Throws Error unless it is a WordPiece whose parts are known
// here.
void read_tokenizer_json(const nlohmann::json& file, const std::string& where,
                         WordPieceSettings& settings, std::optional<BertNormalizer>& rules);

// An added token as files describe it: {"content", "lstrip", "rstrip", "single_word",
// "normalized"}.
AddedToken added_token_of(const nlohmann::json& token, std::int64_t id);

// "added_tokens" of tokenizer.json.
std::vector<AddedToken> added_tokens_of(const nlohmann::json& file);

// The text of a special token, which files give as a text or as such an object; else "".
std::string token_text(const nlohmann::json& value);

}  // namespace lockstep::dimabsa
