// Makes the tokenizer that the options request. Learns it from the training text if necessary.
#pragma once

#include <memory>

#include "recipes/textgen/options/text_options.h"
#include "recipes/textgen/prepare/corpus.h"
#include "recipes/textgen/prepare/tokenizers/tokenizer.h"

namespace lockstep::textgen {

// Returns the tokenizer. The same options and corpus give the same tokenizer. Throws Error if a
// file cannot be read or is damaged, or if the corpus has too little text for the vocabulary.
std::unique_ptr<Tokenizer> make_tokenizer(const TextOptions& options, const Corpus& corpus,
                                          const Say& say);

// Opens the tokenizer that tokenizer.path names, for the kinds gpt2 and bpe. Throws Error if a file
// cannot be read or is damaged.
std::unique_ptr<Tokenizer> named_tokenizer(const TextOptions& options);

// Returns a text that identifies the tokenizer before the corpus is read. The text depends on the
// kind of tokenizer, and on the contents of its files. For a vocabulary that is learned, it depends
// on the size instead. Throws Error if a file cannot be read.
std::string tokenizer_identity(const TextOptions& options);

// Returns where a text may be cut so that encoding the parts gives the same tokens as encoding the
// whole text.
Cut cut_for(const Tokenizer& tokenizer);

}  // namespace lockstep::textgen
