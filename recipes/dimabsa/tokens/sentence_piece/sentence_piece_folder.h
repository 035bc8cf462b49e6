// Finds the sentencepiece file of a model folder, and the model family, which determines the ids of
// the pieces.
#pragma once

#include <filesystem>

#include "recipes/dimabsa/tokens/sentence_piece/sentence_piece.h"

namespace lockstep::dimabsa {

// Returns the settings of the tokenizer. The family comes from the key model_type of config.json.
// Without this key, it comes from tokenizer_class of tokenizer_config.json. Without this key too,
// it comes from the name of the sentencepiece file. Throws Error if the family is neither XLM-R nor
// DeBERTa-v2.
SentencePieceSettings sentence_piece_settings(const std::filesystem::path& folder);

}  // namespace lockstep::dimabsa
