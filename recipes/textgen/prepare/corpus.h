// Examines the files of a corpus. Finds out which files are text, and which part of the text is for
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
  std::vector<SourceFile> files;  // only the files that are text
  std::vector<Segment> segments;  // in the order of the corpus; for training and for validation
  std::int64_t documents = 0;     // in data.path and data.valid_path together
  // The number of bytes of text for training. The number is an estimate if documents are split by
  // line (Role::by_line).
  std::int64_t train_bytes = 0;
  std::int64_t passed_over = 0;   // number of files in folders that are not text, and are skipped
  std::string first_passed_over;  // such as "a.parquet is a Parquet file"
  std::string remedy;             // what the user can do about that file
};

// If a corpus has at least this number of documents, data.split=auto assigns whole documents to
// training or validation. If it has fewer, the end of the text is for validation.
inline constexpr std::int64_t documents_to_split = 20;

// Reads every file, and returns the corpus. train, valid: the files of data.path and
// data.valid_path. Throws Error in these cases:
//   - A file that the user named is not text.
//   - A file cannot be read, or is compressed and damaged.
//   - No file for training is text.
//   - data.split=documents leaves no document for training, or none for validation.
Corpus look_through(std::vector<SourceFile> train, std::vector<SourceFile> valid,
                    const TextOptions& options);

}  // namespace lockstep::textgen
