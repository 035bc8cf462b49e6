// Which sentencepiece file a model folder has, and whose ids its pieces get.
#pragma once

#include <filesystem>

#include "recipes/dimabsa/tokens/sentence_piece/sentence_piece.h"

namespace lockstep::dimabsa {

// Throws Error if the family is none of the two, by tokenizer_class of tokenizer_config.json,
// model_type of config.json, or the name of the file.
SentencePieceSettings sentence_piece_settings(const std::filesystem::path& folder);

}  // namespace lockstep::dimabsa
