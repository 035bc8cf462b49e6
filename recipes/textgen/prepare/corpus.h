// A corpus after one look at all files: which files are text, and which part of them is for
// validation.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "recipes/textgen/options/text_options.h"
#include "recipes/textgen/prepare/chunks.h"
#include "recipes/textgen/prepare/source_files.h"

namespace lockstep::textgen {

using Say = std::function<void(const std::string&)>;

struct Corpus {
  std::vector<SourceFile> files;  // all text
  std::vector<Segment> segments;  // in order; training and validation mixed
  std::int64_t documents = 0;     // in data.path and data.valid_path together
  std::int64_t train_bytes = 0;   // of the files' text; approximate if single lines are assigned
  std::int64_t passed_over = 0;   // files in folders that are not text
  std::string first_passed_over;  // "a.parquet is a Parquet file"
  std::string remedy;             // what the user can do about it
};

// From this many documents on, the split `auto` assigns whole documents.
inline constexpr std::int64_t documents_to_split = 20;

// Reads every file once. Throws Error if a file that the user named is not text, or if an archive
// is damaged. Also if nothing is left for training or, unless data.valid_share is 0, for
// validation.
Corpus look_through(std::vector<SourceFile> train, std::vector<SourceFile> valid,
                    const TextOptions& options);

}  // namespace lockstep::textgen
