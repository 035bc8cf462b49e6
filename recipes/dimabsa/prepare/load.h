// Reads or generates the sentences for training and validation.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "recipes/dimabsa/options/dimabsa_options.h"
#include "recipes/dimabsa/sentences/files/reader.h"
#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

struct LoadedSentences {
  std::vector<Sentence> train, valid;
  std::vector<std::string> categories;  // empty except in task 3
  std::vector<std::string> warnings;
};

// Reads or generates the sentences, and splits them into training and validation. categories: the
// categories of an existing run. If empty, the options decide. Throws Error.
LoadedSentences load_sentences(const DimabsaOptions& options,
                               const std::vector<std::string>& categories);
// Reads the sentences of a file for evaluation, into `valid`. Phrases stay as they are written.
// With NotInList::keep, tuples whose category is not in the list stay too. The model cannot predict
// them, so they are missed.
LoadedSentences load_gold(const DimabsaOptions& options, const std::string& path,
                          const std::vector<std::string>& categories, NotInList not_in_list);

// Returns for each of `count` sentences whether it is for validation. A share of them is chosen by
// the seed. If the share is above 0, both training and validation get at least one sentence. This
// needs two or more sentences.
std::vector<bool> choose_valid(std::size_t count, double share, std::int64_t seed);

// Returns {"path", "valid_path"} with hashes of the contents of these files, for the record of a
// run. A hash is empty if the option is not set. Throws Error if a file cannot be read.
nlohmann::json hashes_of(const DimabsaOptions& options);
// The same, but absent files get "missing" in place of a hash.
nlohmann::json hashes_of_those_there(const DimabsaOptions& options);

}  // namespace lockstep::dimabsa
