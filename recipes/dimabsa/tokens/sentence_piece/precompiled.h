// The table of characters that a sentencepiece model replaces, as `tokenizers` applies it.
#pragma once

#include <string>

#include "recipes/dimabsa/tokens/normalizers.h"

namespace lockstep::dimabsa {

// table: precompiled_charsmap of a sentencepiece model: the length of a double-array trie, the
// trie, and the replacements, each ended by a NUL. A cluster of characters that a reader sees as
// one is replaced as a whole by what the table has for its beginning, if it has under six bytes.
// Other clusters are replaced character by character. The Precompiled normalizer of `tokenizers`
// does so, while sentencepiece takes the longest match at each place. Throws Error that names the
// file for a damaged table.
Normalizer read_precompiled(const std::string& table, const std::string& file);

}  // namespace lockstep::dimabsa
