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
// categories of an existing run. If it is empty, the options and the data decide. Throws Error if a
// file cannot be read or does not fit the options (sentences/files/reader.h). Also throws Error if
// the data of task 3 have no category.
LoadedSentences load_sentences(const DimabsaOptions& options,
                               const std::vector<std::string>& categories);
// Reads the sentences of the file `path` for evaluation. They are returned in `valid`. Phrases stay
// as they are written. With NotInList::keep, tuples whose category is not in `categories` also
// stay. The model cannot predict them, so they count as missed. Throws Error as load_sentences
// does.
LoadedSentences load_gold(const DimabsaOptions& options, const std::string& path,
                          const std::vector<std::string>& categories, NotInList not_in_list);

// Returns for each of `count` sentences whether it is for validation. The seed determines which
// sentences these are. share: the share of sentences for validation. If it is above 0 and there are
// at least two sentences, training and validation each get at least one sentence.
std::vector<bool> choose_valid(std::size_t count, double share, std::int64_t seed);

// Returns {"path", "valid_path"} with hashes of the contents of the files data.path and
// data.valid_path, for the record of a run. A hash is empty if the option is not set. Throws Error
// if a file cannot be read.
nlohmann::json hashes_of(const DimabsaOptions& options);
// Returns the same as hashes_of, but with "missing" in place of a hash if a file is absent.
nlohmann::json hashes_of_those_there(const DimabsaOptions& options);

}  // namespace lockstep::dimabsa
