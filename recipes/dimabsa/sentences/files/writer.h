// Writes predictions in the form of the shared task: jsonl files, and a zip archive of such files.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

// Returns the tuples, but leaves out each tuple that has the key of an earlier tuple
// (scores/tuple_key.h). In tasks 2 and 3, the scorer gives no credit to predicted tuples that have
// the same key.
std::vector<Tuple> without_duplicates(Task task, const std::vector<Tuple>& tuples);

// Returns the line of a sentence, without a newline. The line has the key ID. The tuples without
// duplicates are under the key of the task: Aspect_VA, Triplet or Quadruplet. VA (valence and
// arousal) is clamped to [1, 9] and rounded to two decimals. A tuple without VA gets "5.00#5.00".
// Bytes of phrases that are not UTF-8 become U+FFFD.
std::string prediction_line(Task task, const Sentence& sentence);
// Returns the lines of all sentences, each with a newline.
std::string prediction_lines(Task task, const std::vector<Sentence>& sentences);

// Writes FOLDER/subtask_N/pred_LANG_DOMAIN.jsonl durably, and returns its path. Throws Error if the
// file cannot be written.
std::filesystem::path write_predictions(const std::filesystem::path& folder, Task task,
                                        const std::string& language, const std::string& domain,
                                        const std::vector<Sentence>& sentences);

// Writes a zip archive, completely or not at all. files: for each file, its name in the archive
// (prediction_name) and its path. Throws Error if a file cannot be read or the archive cannot be
// written.
void write_submission(const std::filesystem::path& zip,
                      const std::vector<std::pair<std::string, std::filesystem::path>>& files);

}  // namespace lockstep::dimabsa
