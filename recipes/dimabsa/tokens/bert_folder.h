// Reads the files of a model folder that describe a WordPiece tokenizer.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "recipes/dimabsa/tokens/word_piece.h"

namespace lockstep::dimabsa {

// The contents of the tokenizer's files. A member has no value if its file is absent.
struct BertFiles {
  std::string folder;  // for messages
  std::optional<std::string> vocab_txt, tokenizer_json, tokenizer_config, special_tokens_map,
      added_tokens;
};

BertFiles read_bert_files(const std::filesystem::path& folder);

// Returns the settings of the tokenizer, as AutoTokenizer of `transformers` reads them. Pieces and
// settings come from tokenizer.json. If that file is absent, the pieces come from vocab.txt. Keys
// of tokenizer_config.json override other settings. If neither tokenizer.json nor
// tokenizer_config.json states whether text is lower-cased, the vocabulary decides. Text is then
// lower-cased unless the vocabulary has capitals A to Z. If a file is damaged or has an unknown
// setting, throws Error that names the file.
WordPieceSettings word_piece_settings(const BertFiles& files);

// Parses the text of a file as a JSON object. Returns an empty object if `text` has no value.
// Throws Error if the text is not a JSON object. where: the name of the file, for messages.
nlohmann::json object_of(const std::optional<std::string>& text, const std::string& where);

// Returns the added tokens with their ids. added: the content of added_tokens.json, for example
// {"[NEW]": 7}. config: the content of tokenizer_config.json, whose key "added_tokens_decoder" may
// hold {"7": {"content": "[NEW]", …}}.
std::vector<AddedToken> listed_tokens(const nlohmann::json& added, const nlohmann::json& config);

}  // namespace lockstep::dimabsa
