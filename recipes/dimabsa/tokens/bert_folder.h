// Reads the files of a model folder that describe a WordPiece tokenizer.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "recipes/dimabsa/tokens/word_piece.h"

namespace lockstep::dimabsa {

// The contents of these files. A content is nothing if the file is absent.
struct BertFiles {
  std::string folder;  // for messages
  std::optional<std::string> vocab_txt, tokenizer_json, tokenizer_config, special_tokens_map,
      added_tokens;
};

BertFiles read_bert_files(const std::filesystem::path& folder);

// Returns the settings of the tokenizer, as AutoTokenizer reads them. Pieces and settings come from
// tokenizer.json. If that file is absent, the pieces come from vocab.txt. Keys of
// tokenizer_config.json override other settings. If neither file states whether text is
// lower-cased, the vocabulary decides. Text is then lower-cased unless the vocabulary has capitals
// A to Z. Throws Error that names file and key.
WordPieceSettings word_piece_settings(const BertFiles& files);

// Parses the text of a file as a JSON object. Returns an empty object if there is no text. Throws
// Error. where: the file, for messages.
nlohmann::json object_of(const std::optional<std::string>& text, const std::string& where);

// Returns the added tokens with their ids. added: the content of added_tokens.json, for example
// {"[NEW]": 7}. config: the content of tokenizer_config.json, whose key "added_tokens_decoder" may
// hold {"7": {"content": "[NEW]", …}}.
std::vector<AddedToken> listed_tokens(const nlohmann::json& added, const nlohmann::json& config);

}  // namespace lockstep::dimabsa
