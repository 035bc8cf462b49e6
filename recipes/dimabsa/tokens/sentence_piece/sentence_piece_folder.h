// Finds the sentencepiece file of a model folder, and whose ids its pieces get.
#pragma once

#include <filesystem>

#include "recipes/dimabsa/tokens/sentence_piece/sentence_piece.h"

namespace lockstep::dimabsa {

// The family follows from tokenizer_class of tokenizer_config.json, model_type of config.json, or
// the name of the file. Throws Error if it is neither of the two.
SentencePieceSettings sentence_piece_settings(const std::filesystem::path& folder);

}  // namespace lockstep::dimabsa
