// Reads sentences with their tuples, and predictions, from jsonl: one object a line.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/dimabsa/sentences/scores/va.h"
#include "recipes/dimabsa/sentences/sentence.h"

namespace lockstep::dimabsa {

// How to treat an aspect or opinion that its text does not contain.
enum class NotInText {
  null,    // it becomes null_phrase, with a counted warning
  refuse,  // an Error that names the line
  keep     // it stays, with a counted warning: the scorer compares phrases as they are written
};
// How to treat a category that is not in the list.
enum class NotInList { refuse, keep };  // keep: it stays, with a counted warning

struct ReadOptions {
  Task task = Task::quadruplets;
  // False for input to predict: only ID and Text are read, and in task 1 the aspects.
  bool labelled = true;
  // Categories that may occur in task 3, ignoring case. Tuples get the list's spelling. Empty: any.
  std::vector<std::string> categories{};
  NotInList not_in_list = NotInList::refuse;
  NotInText not_in_text = NotInText::null;
  OutOfRange out_of_range = OutOfRange::refuse;  // except for refuse, there is a counted warning
  // "eng", "zho", …: texts without a letter of that language's scripts are counted. "": unknown.
  std::string language{};
};

struct SentenceFile {
  std::vector<Sentence> sentences;    // in the order of the lines
  std::vector<std::string> warnings;  // for people, one line each, with counts
};

// One object per line; blank lines are ignored. Keys: ID, Text, and for tuples in
//   task 1: Aspect_VA, else Quadruplet, else Triplet (an aspect's first VA); input: Aspect
//   task 2: Quadruplet, else Triplet, the first that is not empty, as in the official scorer
//   task 3: Quadruplet
// Throws Error, which names file and line, for: a line that is not JSON or not UTF-8; a value of
// another type; an absent key; an empty ID or text; a repeated ID; a VA that is not two numbers, or
// out of [1, 9] (OutOfRange::refuse); a category that is not in the list (NotInList::refuse); a
// file without a sentence; and a file of another form (file_form.h).
SentenceFile parse_sentences(std::string_view text, const std::string& name,
                             const ReadOptions& options);
SentenceFile read_sentences(const std::filesystem::path& path, const ReadOptions& options);

// Predictions: tuples under Aspect_VA, Triplet or Quadruplet. No text is needed, and nothing is
// compared with a text or a list. VA may leave [1, 9]; the scorer gives no credit then (counted
// warning). Other faults are Errors as above.
SentenceFile parse_predictions(std::string_view text, const std::string& name, Task task);
SentenceFile read_predictions(const std::filesystem::path& path, Task task);

}  // namespace lockstep::dimabsa
