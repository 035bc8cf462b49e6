// The files of a model folder that describe a WordPiece tokenizer.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "recipes/dimabsa/tokens/word_piece.h"

namespace lockstep::dimabsa {

// The contents of the files; none if a file is absent.
struct BertFiles {
  std::string folder;  // named in errors
  std::optional<std::string> vocab_txt, tokenizer_json, tokenizer_config, special_tokens_map,
      added_tokens;
};

BertFiles read_bert_files(const std::filesystem::path& folder);

// The pieces come from tokenizer.json, which also holds the other settings, as in AutoTokenizer.
// Without it, they come from vocab.txt. Keys of tokenizer_config.json take precedence. If no file
// says whether text is lower-cased, it is, unless the vocabulary has capitals A to Z. Throws Error
// that names file and key.
WordPieceSettings word_piece_settings(const BertFiles& files);

// Parses a file's text, a JSON object. An empty object if there is no file. Throws Error.
nlohmann::json object_of(const std::optional<std::string>& text, const std::string& where);

// Tokens with the ids that files give them: {"[NEW]": 7} in added_tokens.json, and
// "added_tokens_decoder" in tokenizer_config.json, {"7": {"content": "[NEW]", …}}.
std::vector<AddedToken> listed_tokens(const nlohmann::json& added, const nlohmann::json& config);

}  // namespace lockstep::dimabsa
