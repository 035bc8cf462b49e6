// The files of a model folder that describe a WordPiece tokenizer.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "recipes/dimabsa/tokens/word_piece.h"

namespace lockstep::dimabsa {

// Their contents; none if a file is absent.
struct BertFiles {
  std::string folder;  // named in errors
  std::optional<std::string> vocab_txt, tokenizer_json, tokenizer_config, special_tokens_map,
      added_tokens;
};

BertFiles read_bert_files(const std::filesystem::path& folder);

// Pieces come from tokenizer.json, which also says the rest, as in AutoTokenizer; without it, they
// come from vocab.txt. Keys of tokenizer_config.json take precedence. If nothing says whether
// letters become small, they do, unless the vocabulary has capitals of A to Z. Throws Error that
// names file and key.
WordPieceSettings word_piece_settings(const BertFiles& files);

// The JSON object in a file's text; an empty object if there is no file. Throws Error.
nlohmann::json object_of(const std::optional<std::string>& text, const std::string& where);

// Tokens whose ids the files say: {"[NEW]": 7} of added_tokens.json, and "added_tokens_decoder" of
// tokenizer_config.json, {"7": {"content": "[NEW]", …}}.
std::vector<AddedToken> listed_tokens(const nlohmann::json& added, const nlohmann::json& config);

}  // namespace lockstep::dimabsa
