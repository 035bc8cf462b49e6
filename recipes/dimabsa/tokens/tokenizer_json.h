// Reads tokenizer.json, the file that describes a whole tokenizer for the library `tokenizers`.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "recipes/dimabsa/tokens/word_piece.h"

namespace lockstep::dimabsa {

// Sets all members of `settings` that the file states. If the normalizer is a BertNormalizer, sets
// `rules` instead of settings.normalizer. The caller may then change the rules, and must set
// settings.normalizer. Throws Error unless the file is a WordPiece model whose parts are all of
// known kinds.
void read_tokenizer_json(const nlohmann::json& file, const std::string& where,
                         WordPieceSettings& settings, std::optional<BertNormalizer>& rules);

// Reads an added token: {"content", "lstrip", "rstrip", "single_word", "normalized"}.
AddedToken added_token_of(const nlohmann::json& token, std::int64_t id);

// Reads "added_tokens" of tokenizer.json.
std::vector<AddedToken> added_tokens_of(const nlohmann::json& file);

// Returns the text of a special token. In the files, it is a text or an object as above. Returns an
// empty text for any other value.
std::string token_text(const nlohmann::json& value);

}  // namespace lockstep::dimabsa
