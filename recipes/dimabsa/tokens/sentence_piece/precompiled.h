// Applies the replacements of characters that a sentencepiece model contains, as the normalizer
// Precompiled of `tokenizers` does.
#pragma once

#include <string>

#include "recipes/dimabsa/tokens/normalizers.h"

namespace lockstep::dimabsa {

// table: the precompiled_charsmap of the model. It contains the length of a double-array trie, the
// trie, and the replacements, each with a NUL at its end. file: the name of the file, for messages.
//
// The text is cut into grapheme clusters, which a reader sees as single characters. A cluster with
// fewer than six bytes is replaced as a whole if the table contains a prefix of it. The replacement
// is that of the shortest such prefix. Other clusters are replaced character by character.
// sentencepiece itself works in another way: it takes the longest match at each character. Throws
// Error that names the file if the table is damaged.
Normalizer read_precompiled(const std::string& table, const std::string& file);

}  // namespace lockstep::dimabsa
