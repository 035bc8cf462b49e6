// Applies a sentencepiece model's table of replaced characters, as `tokenizers` does.
#pragma once

#include <string>

#include "recipes/dimabsa/tokens/normalizers.h"

namespace lockstep::dimabsa {

// table: precompiled_charsmap of a sentencepiece model: the length of a double-array trie, the
// trie, and the replacements, each with a NUL at its end. The text is cut into grapheme clusters
// (characters that a reader sees as one). If a cluster has under six bytes and the table has a
// prefix of it, the replacement of the shortest such prefix replaces the whole cluster. Other
// clusters are replaced character by character. The Precompiled normalizer of `tokenizers` works
// so, while sentencepiece takes the longest match at each place. Throws Error that names the file
// if the table is damaged.
Normalizer read_precompiled(const std::string& table, const std::string& file);

}  // namespace lockstep::dimabsa
