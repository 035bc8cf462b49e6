// Writes sentences with highlighted phrases as an HTML page.
#include "recipes/dimabsa/sentences/pages/html_page.h"

#include <algorithm>
#include <map>
#include <vector>

#include "core/base/text/text.h"
#include "core/media/charts/svg.h"
#include "recipes/dimabsa/sentences/pages/highlight.h"

namespace lockstep::dimabsa {
namespace {

constexpr const char* style = R"(
:root { color-scheme: light dark; --text: #1b1b1b; --page: #ffffff; --line: #d0d0d0;
  --aspect: #cfe6f7; --opinion: #fbe3b5; --aspect-line: #0072b2; --opinion-line: #b36b00;
  --bad: #b3261e; --good: #1b6e3c; --quiet: #666666; }
@media (prefers-color-scheme: dark) { :root { --text: #e8e8e8; --page: #181818; --line: #444444;
  --aspect: #123c55; --opinion: #4d3a10; --aspect-line: #56b4e9; --opinion-line: #e69f00;
  --bad: #ff8a80; --good: #7ddc9a; --quiet: #a0a0a0; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page);
  max-width: 60rem; margin: 1rem auto; padding: 0 1rem; }
article { border-top: 1px solid var(--line); padding: .8rem 0; }
article p { font-size: 1.1rem; margin: .2rem 0 .5rem; overflow-wrap: anywhere; }
.id, .note, th { color: var(--quiet); font-size: .85rem; font-weight: normal; }
table { border-collapse: collapse; font-size: .9rem; }
td, th { text-align: left; padding: .1rem .9rem .1rem 0; vertical-align: top; }
mark { color: inherit; background: none; border-radius: .2em; padding: .05em 0; }
.pa { background: var(--aspect); } .po { background: var(--opinion); }
.ga { border-bottom: 3px solid var(--aspect-line); }
.go { border-bottom: 3px solid var(--opinion-line); }
.ga.go { border-bottom-style: double; }
.missed, .spurious { color: var(--bad); } .matched { color: var(--good); }
)";

// Marks the tuples of both lists in one text: first those of gold, then those of the prediction.
std::string marked_text(const std::string& text, const Sentence& gold, const Sentence& predicted) {
  std::vector<Tuple> all = gold.tuples;
  all.insert(all.end(), predicted.tuples.begin(), predicted.tuples.end());
  const auto in_gold = [&](std::size_t i) { return i < gold.tuples.size(); };
  std::string html;
  for (const MarkedPart& part : marked_parts(text, all)) {
    std::vector<std::string> classes;
    const auto add = [&](const std::vector<std::size_t>& places, const char* of_gold,
                         const char* of_prediction) {
      if (std::any_of(places.begin(), places.end(), in_gold)) classes.emplace_back(of_gold);
      if (!std::all_of(places.begin(), places.end(), in_gold)) classes.emplace_back(of_prediction);
    };
    add(part.aspects, "ga", "pa");
    add(part.opinions, "go", "po");
    const std::string shown = xml_text(part.range.of(text));
    html += classes.empty() ? shown
                            : cat("<mark class=\"", join(classes, " "), "\">", shown, "</mark>");
  }
  return html;
}

std::string va_text(const Tuple& tuple) {
  if (!tuple.va) return "";
  return cat(fixed(tuple.va->valence, 2), " ", fixed(tuple.va->arousal, 2));
}

struct Row {
  const char* state;
  const Tuple* shown;
  std::string gold, predicted, distance{};
};

std::string row_text(Task task, const Row& row) {
  std::string html = cat("<tr><td class=\"", row.state, "\">", row.state, "</td><td>",
                         xml_text(row.shown->aspect), "</td>");
  if (task != Task::aspects) html += cat("<td>", xml_text(row.shown->opinion), "</td>");
  if (task == Task::quadruplets) html += cat("<td>", xml_text(row.shown->category), "</td>");
  return cat(html, "<td>", row.gold, "</td><td>", row.predicted, "</td><td>", row.distance,
             "</td></tr>\n");
}

std::vector<Row> rows_of(Task task, const Sentence& gold, const Sentence& predicted, bool compare) {
  std::vector<Row> rows;
  const SentenceScore score = score_sentence(task, gold.tuples, predicted.tuples);
  std::vector<bool> known(gold.tuples.size()), found(predicted.tuples.size());
  for (const Match& match : score.matches) {
    known[match.gold] = found[match.predicted] = true;
    rows.push_back({"matched", &gold.tuples[match.gold], va_text(gold.tuples[match.gold]),
                    va_text(predicted.tuples[match.predicted]), fixed(match.distance, 2)});
  }
  for (std::size_t i = 0; i < known.size(); ++i)
    if (!known[i]) rows.push_back({"missed", &gold.tuples[i], va_text(gold.tuples[i]), ""});
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!found[i])
      rows.push_back({compare ? "spurious" : "predicted", &predicted.tuples[i], "",
                      va_text(predicted.tuples[i])});
  return rows;
}

std::string table_text(Task task, const std::vector<Row>& rows) {
  if (rows.empty()) return "<p class=\"note\">no tuples</p>\n";
  std::string html = "<table><tr><th></th><th>aspect</th>";
  if (task != Task::aspects) html += "<th>opinion</th>";
  if (task == Task::quadruplets) html += "<th>category</th>";
  html += "<th>gold V A</th><th>predicted V A</th><th>distance</th></tr>\n";
  for (const Row& row : rows) html += row_text(task, row);
  return html + "</table>\n";
}

std::string article(Task task, const Sentence& gold, const Sentence& predicted, bool compare) {
  const std::string& text = gold.text.empty() ? predicted.text : gold.text;
  return cat("<article>\n<div class=\"id\">", xml_text(gold.id), "</div>\n<p dir=\"auto\">",
             marked_text(text, gold, predicted), "</p>\n",
             table_text(task, rows_of(task, gold, predicted, compare)), "</article>\n");
}

// The language tag for HTML, with two letters if the language has such a tag.
std::string language_tag(const std::string& language) {
  static const std::map<std::string, std::string> tags{{"eng", "en"}, {"zho", "zh"}, {"jpn", "ja"},
                                                       {"rus", "ru"}, {"ukr", "uk"}, {"tat", "tt"},
                                                       {"deu", "de"}, {"kor", "ko"}};
  const auto tag = tags.find(language);
  return tag == tags.end() ? "" : tag->second;
}

}  // namespace

std::string html_page(Task task, const Aligned& aligned, const PageOptions& options) {
  const std::size_t count = std::min(options.most, aligned.gold.size());
  const std::string tag = language_tag(options.language);
  std::string html = cat("<!DOCTYPE html>\n<html", tag.empty() ? "" : cat(" lang=\"", tag, "\""),
                         "><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" "
                         "content=\"width=device-width\">\n<title>",
                         xml_text(options.title), "</title>\n<style>", style,
                         "</style></head><body>\n<h1>", xml_text(options.title), "</h1>\n");
  html += options.compare
              ? "<p class=\"note\"><mark class=\"pa\">predicted aspect</mark> <mark "
                "class=\"po\">predicted opinion</mark> <mark class=\"ga\">aspect of gold</mark> "
                "<mark class=\"go\">opinion of gold</mark></p>\n"
              : "<p class=\"note\"><mark class=\"pa\">aspect</mark> <mark "
                "class=\"po\">opinion</mark></p>\n";
  if (count < aligned.gold.size())
    html += cat("<p class=\"note\">The first ", count, " of ", aligned.gold.size(),
                " sentences.</p>\n");
  for (std::size_t i = 0; i < count; ++i)
    html += article(task, aligned.gold[i], aligned.predicted[i], options.compare);
  return html + "</body></html>\n";
}

}  // namespace lockstep::dimabsa
