// Reads tokenizer.json, the file in which `tokenizers` keeps a whole tokenizer.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "recipes/dimabsa/tokens/word_piece.h"

namespace lockstep::dimabsa {

// Sets the pieces, normalizer, word rules, added tokens and numbers. rules: set only if the
// normalizer is a BertNormalizer. The caller may then change these rules, and puts them into
// `settings`. A normalizer of another kind is put there by this function. Throws Error unless the
// file is a WordPiece whose parts are all known here.
void read_tokenizer_json(const nlohmann::json& file, const std::string& where,
                         WordPieceSettings& settings, std::optional<BertNormalizer>& rules);

// Reads an added token of these files: {"content", "lstrip", "rstrip", "single_word",
// "normalized"}.
AddedToken added_token_of(const nlohmann::json& token, std::int64_t id);

// Reads "added_tokens" of tokenizer.json.
std::vector<AddedToken> added_tokens_of(const nlohmann::json& file);

// The text of a special token, which is a text or such an object in the files. "" for anything
// else.
std::string token_text(const nlohmann::json& value);

}  // namespace lockstep::dimabsa
