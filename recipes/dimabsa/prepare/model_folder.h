// The model folder, which defines the tokenizer and the shape of the encoder. It is the folder that
// model.path names. Without model.path, it is a folder of the cache with a vocabulary that was
// learned from the training texts.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "planning/recipe_info.h"
#include "recipes/dimabsa/options/dimabsa_options.h"

namespace lockstep::dimabsa {

using Say = std::function<void(const std::string&)>;

// Returns the names of those files in a folder that are config.json or files of a tokenizer.
std::vector<std::string> model_files(const std::filesystem::path& folder);
// Returns a hash of the names and contents of the files `names` in a folder. Throws Error if a file
// cannot be read.
std::string hash_of_files(const std::filesystem::path& folder,
                          const std::vector<std::string>& names);

// Returns a folder of the cache with a WordPiece vocabulary that is learned from `texts`, and
// config.json of a small BERT. Creates the folder if it is absent. cache: the folder of the cache.
std::filesystem::path learned_folder(const DimabsaOptions& options,
                                     const std::vector<std::string>& texts,
                                     const std::filesystem::path& cache, const Say& say);

// Returns whether a folder contains weights, a run or a checkpoint, judged by the names of its
// files.
bool holds_weights(const std::filesystem::path& folder);

// Returns a JSON description of the weights in a folder, for Prepared::extra. vocabulary: the
// number of pieces of the tokenizer. Throws Error if this number is above the number of word
// embeddings in the weights, or more than 1,024 below. If it is 1 to 1,024 below, calls `say` with
// a warning. Also throws Error if the number of word embeddings is not that of `shape`. hashed:
// whether the description contains hashes of the weight files. Hashing reads all bytes of these
// files.
nlohmann::json find_weights(const std::filesystem::path& folder, std::int64_t vocabulary,
                            const EncoderShape& shape, bool hashed, const Say& say);

}  // namespace lockstep::dimabsa
