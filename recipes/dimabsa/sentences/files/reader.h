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
  null,    // the phrase becomes null_phrase; a warning counts such phrases
  refuse,  // throws Error that names the line
  // The phrase stays, because the scorer compares phrases as written. A warning counts such
  // phrases.
  keep
};
// How to treat a category that is not in the list.
enum class NotInList { refuse, keep };  // keep: the category stays, and a warning counts the lines

struct ReadOptions {
  Task task = Task::quadruplets;
  // Whether the tuples are read. Set it to false for inputs of prediction. Then only ID and Text
  // are read, and in task 1 also the aspects.
  bool labelled = true;
  // The categories that may occur in task 3. Case is ignored, and tuples get the spelling of this
  // list. If the list is empty, any category may occur.
  std::vector<std::string> categories{};
  NotInList not_in_list = NotInList::refuse;
  NotInText not_in_text = NotInText::null;
  OutOfRange out_of_range = OutOfRange::refuse;  // except with refuse, a warning counts the cases
  // The language of the texts, for example "eng" or "zho", or empty if unknown. A warning counts
  // the texts that seem to be in another language (scripts.h).
  std::string language{};
};

struct SentenceFile {
  std::vector<Sentence> sentences;    // in the order of the lines
  std::vector<std::string> warnings;  // one line of text each
};

// These functions read sentences from a file. Each line has one JSON object. Blank lines are
// ignored. The keys are ID, Text, and for tuples:
//   task 1   Aspect_VA, Quadruplet or Triplet; in inputs of prediction, Aspect
//   task 2   Quadruplet or Triplet
//   task 3   Quadruplet
// From the keys of the task, the first one that has tuples is read, as in the official scorer. From
// Quadruplet and Triplet, task 1 takes only the first tuple of each aspect. The functions throw
// Error in the following cases. The Error names the file, and the line if there is one.
//   - The file is not JSON Lines (file_form.h), or has no sentence.
//   - A line is not JSON or not UTF-8.
//   - A key is absent, or its value has the wrong type.
//   - An ID, a text or, in task 3, a category is empty.
//   - An ID occurs twice.
//   - A text with tuples has more than 64 KiB.
//   - A VA (valence and arousal) is not two numbers.
//   - A VA is outside [1, 9], with OutOfRange::refuse.
//   - A category is not in the list, with NotInList::refuse.
//   - A phrase is not in its text, with NotInText::refuse.
SentenceFile parse_sentences(std::string_view text, const std::string& name,
                             const ReadOptions& options);
SentenceFile read_sentences(const std::filesystem::path& path, const ReadOptions& options);

// These functions read predictions. The tuples are under the key Aspect_VA in task 1, Triplet in
// task 2, and Quadruplet in task 3. The key Text is optional. Phrases need not be in the text, and
// categories need not be in a list. A VA may be outside [1, 9], but the scorer then gives no
// credit, and a warning counts these VAs. The functions throw Error in some of the cases above.
// These concern the file, its lines, keys and IDs, and the two numbers of a VA.
SentenceFile parse_predictions(std::string_view text, const std::string& name, Task task);
SentenceFile read_predictions(const std::filesystem::path& path, Task task);

}  // namespace lockstep::dimabsa
