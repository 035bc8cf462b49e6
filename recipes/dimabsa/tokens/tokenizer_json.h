// Reads tokenizer.json, the file that describes a whole tokenizer for Hugging Face's library
// `tokenizers`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "recipes/dimabsa/tokens/word_piece.h"

namespace lockstep::dimabsa {

// Sets all members of `settings` that the file states. file: the content of tokenizer.json. where:
// the name of the file, for messages. If the normalizer is a BertNormalizer, sets `rules` instead
// of settings.normalizer. The caller may then change the rules, and must set settings.normalizer.
// Throws Error unless the file describes a WordPiece model with a normalizer and a pre-tokenizer of
// known kinds.
void read_tokenizer_json(const nlohmann::json& file, const std::string& where,
                         WordPieceSettings& settings, std::optional<BertNormalizer>& rules);

// Reads an added token from an object with the keys "content", "lstrip", "rstrip", "single_word"
// and "normalized".
AddedToken added_token_of(const nlohmann::json& token, std::int64_t id);

// Returns the added tokens under the key "added_tokens" of tokenizer.json.
std::vector<AddedToken> added_tokens_of(const nlohmann::json& file);

// Returns the text of a special token. In the files, a special token is a string, or an object as
// added_token_of reads it. Returns an empty text for any other value.
std::string token_text(const nlohmann::json& value);

}  // namespace lockstep::dimabsa
