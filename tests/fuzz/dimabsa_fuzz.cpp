// Sentences and predictions of the recipe dimabsa as jsonl, and lists of categories. Accepted
// sentences must keep the reader's promises. They can be written, read again and shown.
#include "fuzz.h"

#include <set>
#include <vector>

#include "core/base/text/utf8.h"
#include "recipes/dimabsa/sentences/categories.h"
#include "recipes/dimabsa/sentences/files/file_name.h"
#include "recipes/dimabsa/sentences/files/reader.h"
#include "recipes/dimabsa/sentences/files/writer.h"
#include "recipes/dimabsa/sentences/pages/html_page.h"
#include "recipes/dimabsa/sentences/pages/terminal_text.h"
#include "recipes/dimabsa/sentences/pages/va_chart.h"
#include "recipes/dimabsa/sentences/phrase.h"
#include "recipes/dimabsa/sentences/scores/va.h"

namespace lockstep::dimabsa {
namespace {

void check_phrase(const Sentence& sentence, const std::string& phrase, NotInText not_in_text) {
  const auto range = find_phrase(sentence.text, phrase);
  if (not_in_text != NotInText::keep) LOCKSTEP_CHECK(range || phrase == null_phrase);
  if (!range) return;
  LOCKSTEP_CHECK(range->begin < range->end && range->end <= sentence.text.size());
  LOCKSTEP_CHECK(invalid_bytes(range->of(sentence.text)) == 0);
}

void check_written(Task task, const std::vector<Sentence>& sentences) {
  const SentenceFile again = parse_predictions(prediction_lines(task, sentences), "written", task);
  LOCKSTEP_CHECK(again.warnings.empty());
  LOCKSTEP_CHECK(again.sentences.size() == sentences.size());
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    LOCKSTEP_CHECK(again.sentences[i].id == sentences[i].id);
    const std::vector<Tuple> kept = without_duplicates(task, sentences[i].tuples);
    LOCKSTEP_CHECK(again.sentences[i].tuples.size() == kept.size());
    for (std::size_t k = 0; k < kept.size(); ++k)
      LOCKSTEP_CHECK(again.sentences[i].tuples[k].aspect == kept[k].aspect);
  }
}

void check_sentences(const std::vector<Sentence>& sentences, const ReadOptions& options) {
  LOCKSTEP_CHECK(!sentences.empty());
  std::set<std::string> ids;
  for (const Sentence& sentence : sentences) {
    LOCKSTEP_CHECK(ids.insert(sentence.id).second && !sentence.text.empty());
    for (const Tuple& tuple : sentence.tuples) {
      LOCKSTEP_CHECK(tuple.va.has_value() == options.labelled);
      if (tuple.va) LOCKSTEP_CHECK(in_range(*tuple.va));
      check_phrase(sentence, tuple.aspect, options.not_in_text);
      if (options.task != Task::aspects) check_phrase(sentence, tuple.opinion, options.not_in_text);
    }
    const std::string shown = terminal_text(options.task, sentence, /*colour=*/false);
    LOCKSTEP_CHECK(shown.find('\033') == shown.npos);
  }
  if (!options.labelled) return;
  const Aligned aligned{sentences, sentences, {}, {}};
  const std::string page = html_page(options.task, aligned);
  LOCKSTEP_CHECK(page.find("<script") == page.npos);
  (void)va_chart(options.task, aligned);
  const Scores scores = score(options.task, sentences, sentences);
  LOCKSTEP_CHECK(scores.tuples.c_f1() >= 0 && scores.tuples.matched <= scores.tuples.gold);
}

}  // namespace
}  // namespace lockstep::dimabsa

// The first byte says what the rest is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  using namespace lockstep::dimabsa;
  if (size == 0) return 0;
  const unsigned mode = data[0];
  const std::string_view text = fuzz::text_of(data + 1, size - 1);
  const Task task = static_cast<Task>(1 + mode % 3);
  (void)parse_file_name(std::string(text.substr(0, text.find('\0'))));
  (void)fuzz::accepts([&] { LOCKSTEP_CHECK(!parse_categories(text, "input").empty()); });
  SentenceFile file;
  if (fuzz::accepts([&] { file = parse_predictions(text, "input", task); }))
    check_written(task, file.sentences);
  ReadOptions options{.task = task,
                      .labelled = (mode & 8) == 0,
                      .not_in_text = static_cast<NotInText>((mode >> 4) % 3),
                      .language = "eng"};
  if ((mode & 64) != 0) options.categories = {"FOOD#QUALITY", "SERVICE#GENERAL"};
  if (fuzz::accepts([&] { file = parse_sentences(text, "input", options); })) {
    check_sentences(file.sentences, options);
    if (options.labelled) check_written(task, file.sentences);
  }
  return 0;
}
