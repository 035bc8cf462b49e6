// Reads sentences with their tuples, and predictions, from jsonl files.
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
  null,    // it becomes null_phrase; a warning counts such phrases
  refuse,  // throws Error that names the line
  keep  // it stays, because the scorer compares phrases as written; a warning counts such phrases
};
// How to treat a category that is not in the list.
enum class NotInList { refuse, keep };  // keep: it stays; a warning counts these

struct ReadOptions {
  Task task = Task::quadruplets;
  // Whether the tuples are read. False for inputs of prediction: then only ID and Text are read,
  // and in task 1 also the aspects.
  bool labelled = true;
  // The categories that may occur in task 3. Case is ignored, and tuples get the spelling of the
  // list. If empty, any category may occur.
  std::vector<std::string> categories{};
  NotInList not_in_list = NotInList::refuse;
  NotInText not_in_text = NotInText::null;
  OutOfRange out_of_range = OutOfRange::refuse;  // unless refuse, a warning counts them
  // The language of the texts, for example "eng" or "zho". The member is empty if the language is
  // unknown. A warning counts the texts without a letter of the scripts of this language.
  std::string language{};
};

struct SentenceFile {
  std::vector<Sentence> sentences;    // in the order of the file
  std::vector<std::string> warnings;  // one line of text each
};

// Each line has one object. Blank lines are ignored. The keys are ID, Text, and for tuples:
//   task 1   Aspect_VA, Quadruplet or Triplet; in inputs of prediction, Aspect
//   task 2   Quadruplet or Triplet
//   task 3   Quadruplet
// The first of these keys that has tuples is read, as in the official scorer. From Quadruplet and
// Triplet, task 1 takes only the first tuple of each aspect. Throws Error, which names file and
// line, in these cases:
//   - The file has another form (file_form.h), or no sentence.
//   - A line is not JSON or not UTF-8.
//   - A key is absent, or its value has another type.
//   - An ID, a text or, in task 3, a category is empty.
//   - An ID occurs twice.
//   - A text with tuples has more than 64 KiB.
//   - A VA is not two numbers.
//   - A VA is outside [1, 9], with OutOfRange::refuse.
//   - A category is not in the list, with NotInList::refuse.
//   - A phrase is not in its text, with NotInText::refuse.
SentenceFile parse_sentences(std::string_view text, const std::string& name,
                             const ReadOptions& options);
SentenceFile read_sentences(const std::filesystem::path& path, const ReadOptions& options);

// Reads predictions: tuples under the key Aspect_VA, Triplet or Quadruplet of the task. The key
// Text is optional. Phrases need not be in the text, and categories need not be in a list. A VA may
// be outside [1, 9], but the scorer then gives no credit. A warning counts these. Throws Error for
// other faults as above.
SentenceFile parse_predictions(std::string_view text, const std::string& name, Task task);
SentenceFile read_predictions(const std::filesystem::path& path, Task task);

}  // namespace lockstep::dimabsa
