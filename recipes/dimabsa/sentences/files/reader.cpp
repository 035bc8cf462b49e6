// Reads JSON lines. Unusual but usable content is counted and reported as warnings.
#include "recipes/dimabsa/sentences/files/reader.h"

#include <map>
#include <utility>

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "recipes/dimabsa/sentences/categories.h"
#include "recipes/dimabsa/sentences/files/file_form.h"
#include "recipes/dimabsa/sentences/files/json_line.h"
#include "recipes/dimabsa/sentences/phrase.h"
#include "recipes/dimabsa/sentences/scores/tuple_lists.h"
#include "recipes/dimabsa/sentences/scores/va.h"
#include "recipes/dimabsa/sentences/scripts.h"

namespace lockstep::dimabsa {
namespace {

constexpr std::size_t shown_bytes = 60;  // length of quotations in messages
constexpr std::size_t most_text_bytes = 64 << 10;

std::string in_quotes(const std::string& text) {
  std::string shown = printable(text);
  if (shown.size() > shown_bytes) {
    shown.resize(shown_bytes);
    while (!shown.empty() && (static_cast<unsigned char>(shown.back()) & 0x80) != 0)
      shown.pop_back();
    shown += "...";
  }
  return "\"" + shown + "\"";
}

// How often something occurred, and the line where it occurred first.
struct Count {
  std::int64_t count = 0, line = 0;
  std::string example{};

  void add(std::int64_t at, const std::string& what) {
    if (count++ > 0) return;
    line = at;
    example = what;
  }
  // Adds a warning such as "3 aspects are …, first: line 12 "…"".
  void tell(std::vector<std::string>& warnings, const std::string& name, const char* one,
            const char* many) const {
    if (count == 0) return;
    warnings.push_back(cat(name, ": ", count, " ", count == 1 ? one : many, ", first: line ", line,
                           example.empty() ? "" : " ", example));
  }
};

// Calls visit(line, place) for each line that is not blank.
template <class Visit>
void for_each_object(std::string_view text, const std::string& name, const Visit& visit) {
  text = without_byte_order_mark(text);
  LinePlace place{name, 0};
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    ++place.line;
    if (line.find_first_not_of(" \t\r") != line.npos) visit(parse_line(line, place), place);
  }
}

// The IDs seen so far, with their lines.
class Ids {
 public:
  std::string take(const nlohmann::json& object, const LinePlace& place) {
    if (const auto found = object.find("ID"); found != object.end() && found->is_number())
      throw place.error(cat("\"ID\" must be a text, but is the number ", found->dump()),
                        "the shared task's scorer compares IDs as texts: jq -c '.ID |= tostring' "
                        "FILE > NEW.jsonl writes them so");
    const std::string& id = text_at(object, "ID", place);
    if (trim(id).empty()) throw place.error("the ID is empty", "give each sentence one of its own");
    const auto [at, is_new] = lines_.emplace(id, place.line);
    if (!is_new)
      throw place.error(cat("the ID ", in_quotes(id), " comes twice, first in line ", at->second),
                        "give each sentence an ID of its own");
    return id;
  }

 private:
  std::map<std::string, std::int64_t> lines_;
};

class SentenceReader {
 public:
  SentenceReader(std::string name, const ReadOptions& options)
      : name_(std::move(name)), options_(options), categories_(options.categories) {}

  void read(const nlohmann::json& object, const LinePlace& place) {
    Sentence sentence{.id = ids_.take(object, place), .line = place.line};
    sentence.text = text_at(object, "Text", place);
    if (trim(sentence.text).empty())
      throw place.error(cat("the text of ", in_quotes(sentence.id), " is empty"),
                        "take the line out, or write its text");
    if (!fits_language(sentence.text, options_.language))
      other_language_.add(place.line, in_quotes(sentence.text));
    if (options_.labelled)
      sentence.tuples = labelled_tuples(object, options_.task, place);
    else if (options_.task == Task::aspects)
      sentence.tuples = given_aspects(object, place);
    // Long texts are refused, because each phrase is searched for in the whole text.
    if (!sentence.tuples.empty() && sentence.text.size() > most_text_bytes)
      throw place.error(cat("the text of ", in_quotes(sentence.id), " has ", sentence.text.size(),
                            " bytes, and a sentence has ", most_text_bytes, " at most"),
                        "split it into sentences");
    if (!take_range(sentence.tuples, place)) return;
    for (Tuple& tuple : sentence.tuples) check(tuple, sentence.text, place);
    file_.sentences.push_back(std::move(sentence));
  }

  SentenceFile finish() {
    refuse_range();
    if (file_.sentences.empty() && left_out_.count > 0)
      throw Error(cat(name_,
                      ": each sentence has a VA that is not from 1 to 9, and "
                      "data.out_of_range=skip leaves it out"),
                  "valence and arousal are numbers from 1 to 9");
    if (file_.sentences.empty())
      throw Error(cat(name_, " holds no sentence"),
                  "jsonl has an object on each line: {\"ID\": …, \"Text\": …}");
    refuse_categories();
    refuse_phrases();
    tell_range();
    tell_phrases();
    unknown_.tell(file_.warnings, name_, "line has a category that is not in the list",
                  "lines have categories that are not in the list");
    other_language_.tell(file_.warnings, name_,
                         cat("text holds no letter of ", options_.language).c_str(),
                         cat("texts hold no letter of ", options_.language).c_str());
    return std::move(file_);
  }

 private:
  // Counts VA out of range, and clips it if the options ask for that. Returns whether the sentence
  // is kept.
  bool take_range(std::vector<Tuple>& tuples, const LinePlace& place) {
    const std::int64_t before = out_of_range_.count;
    for (Tuple& tuple : tuples) {
      if (!tuple.va || in_range(*tuple.va)) continue;
      out_of_range_.add(place.line,
                        cat(general(tuple.va->valence, 6), "#", general(tuple.va->arousal, 6)));
      if (options_.out_of_range == OutOfRange::clip) tuple.va = clamped(*tuple.va);
    }
    const bool stays = out_of_range_.count == before || options_.out_of_range != OutOfRange::skip;
    if (!stays) left_out_.add(place.line, out_of_range_.example);
    return stays;
  }

  void refuse_range() const {
    if (out_of_range_.count == 0 || options_.out_of_range != OutOfRange::refuse) return;
    throw LinePlace{name_, out_of_range_.line}.error(
        cat("VA is ", out_of_range_.example, ", but both go from 1 to 9 (", out_of_range_.count,
            " such VA in the file)"),
        "correct the line, or set data.out_of_range=clip (takes the nearest value), skip (leaves "
        "the sentence out) or keep (takes it as it is, as the shared task's scorer does)");
  }

  void tell_range() {
    if (options_.out_of_range == OutOfRange::skip)
      left_out_.tell(file_.warnings, name_,
                     "sentence has a VA that is not from 1 to 9 and is left out",
                     "sentences have a VA that is not from 1 to 9 and are left out");
    else if (options_.out_of_range == OutOfRange::clip)
      out_of_range_.tell(file_.warnings, name_,
                         "VA is not from 1 to 9 and is set to the nearest value",
                         "VA are not from 1 to 9 and are set to the nearest values");
    else
      out_of_range_.tell(file_.warnings, name_, "VA is not from 1 to 9 and stays as it is",
                         "VA are not from 1 to 9 and stay as they are");
  }

  void check(Tuple& tuple, const std::string& text, const LinePlace& place) {
    check_phrase(tuple.aspect, text, place, aspects_);
    if (options_.task != Task::aspects) check_phrase(tuple.opinion, text, place, opinions_);
    if (tuple.category.empty() && options_.task == Task::quadruplets)
      throw place.error("a category is empty", "write it as FOOD#QUALITY");
    if (tuple.category.empty() || categories_.names().empty()) return;
    const std::string* const known = categories_.find(tuple.category);
    if (known)
      tuple.category = *known;
    else
      count_unknown(tuple.category, place.line);
  }

  void check_phrase(std::string& phrase, const std::string& text, const LinePlace& place,
                    Count& count) {
    if (phrase == null_phrase || find_phrase(text, phrase)) return;
    count.add(place.line, in_quotes(phrase));
    if (options_.not_in_text != NotInText::keep) phrase = null_phrase;
  }

  void tell_phrases() {
    if (options_.not_in_text == NotInText::keep) {
      aspects_.tell(file_.warnings, name_, "aspect is not in its text",
                    "aspects are not in their texts");
      opinions_.tell(file_.warnings, name_, "opinion is not in its text",
                     "opinions are not in their texts");
      return;
    }
    aspects_.tell(file_.warnings, name_, "aspect is not in its text and counts as NULL",
                  "aspects are not in their texts and count as NULL");
    opinions_.tell(file_.warnings, name_, "opinion is not in its text and counts as NULL",
                   "opinions are not in their texts and count as NULL");
  }

  void count_unknown(const std::string& category, std::int64_t line) {
    if (unknown_.count == 0) first_unknown_ = category;
    if (line != last_unknown_line_) unknown_.add(line, in_quotes(category));
    last_unknown_line_ = line;
  }

  void refuse_categories() const {
    if (unknown_.count == 0 || options_.not_in_list == NotInList::keep) return;
    const std::string near = categories_.nearest(first_unknown_);
    throw LinePlace{name_, unknown_.line}.error(
        cat("the category ", in_quotes(first_unknown_), " is not in the list of ",
            categories_.names().size(), " (", unknown_.count,
            unknown_.count == 1 ? " line has such a one)" : " lines have such ones)"),
        near.empty() ? "give the list of this domain, one category a line: data.categories=FILE"
                     : cat("is ", near,
                           " meant? A list of other categories: "
                           "data.categories=FILE"));
  }

  void refuse_phrases() const {
    if (options_.not_in_text != NotInText::refuse) return;
    const std::int64_t count = aspects_.count + opinions_.count;
    if (count == 0) return;
    const bool aspect_first =
        opinions_.count == 0 || (aspects_.count > 0 && aspects_.line <= opinions_.line);
    const Count& first = aspect_first ? aspects_ : opinions_;
    throw LinePlace{name_, first.line}.error(
        cat("the ", aspect_first ? "aspect " : "opinion ", first.example, " is not in the text (",
            count, count == 1 ? " such phrase" : " such phrases", " in the file)"),
        "write it as it stands in the text, or NULL where the text does not name it");
  }

  std::string name_;
  const ReadOptions& options_;
  Categories categories_;
  Ids ids_;
  SentenceFile file_;
  Count aspects_, opinions_, other_language_, unknown_, out_of_range_, left_out_;
  std::string first_unknown_;
  std::int64_t last_unknown_line_ = 0;
};

}  // namespace

SentenceFile parse_sentences(std::string_view text, const std::string& name,
                             const ReadOptions& options) {
  refuse_other_forms(text, name);
  SentenceReader reader(name, options);
  for_each_object(text, name, [&](const nlohmann::json& object, const LinePlace& place) {
    reader.read(object, place);
  });
  return reader.finish();
}

SentenceFile read_sentences(const std::filesystem::path& path, const ReadOptions& options) {
  return parse_sentences(read_input(path, list_bytes), path.string(), options);
}

SentenceFile parse_predictions(std::string_view text, const std::string& name, Task task) {
  SentenceFile file;
  refuse_other_forms(text, name);
  Ids ids;
  Count out_of_range;
  for_each_object(text, name, [&](const nlohmann::json& object, const LinePlace& place) {
    Sentence sentence{.id = ids.take(object, place), .line = place.line};
    if (object.contains("Text")) sentence.text = text_at(object, "Text", place);
    sentence.tuples = predicted_tuples(object, task, place);
    for (const Tuple& tuple : sentence.tuples)
      if (!in_range(*tuple.va)) out_of_range.add(place.line, "");
    file.sentences.push_back(std::move(sentence));
  });
  if (file.sentences.empty())
    throw Error(cat(name, " holds no prediction"),
                "a sentence without tuples has a line with an empty list");
  out_of_range.tell(file.warnings, name, "predicted VA leaves 1 to 9", "predicted VA leave 1 to 9");
  return file;
}

SentenceFile read_predictions(const std::filesystem::path& path, Task task) {
  return parse_predictions(read_input(path, list_bytes), path.string(), task);
}

}  // namespace lockstep::dimabsa
