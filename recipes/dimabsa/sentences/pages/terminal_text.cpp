// Marks phrases for terminals.
#include "recipes/dimabsa/sentences/pages/terminal_text.h"

#include <string_view>

#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "recipes/dimabsa/sentences/pages/highlight.h"

namespace lockstep::dimabsa {
namespace {

struct Marks {
  std::string_view open, close;
};
constexpr Marks plain_aspect{"[", "]"}, plain_opinion{"{", "}"};
constexpr Marks coloured_aspect{"\033[36m", "\033[0m"}, coloured_opinion{"\033[33m", "\033[0m"};
constexpr Marks coloured_number{"\033[2m", "\033[0m"};

std::string numbers(const std::vector<std::size_t>& places) {
  std::vector<std::string> texts;
  for (const std::size_t place : places) texts.push_back(std::to_string(place + 1));
  return join(texts, ",");
}

std::string marked(const std::string& text, const std::vector<std::size_t>& tuples,
                   const Marks& marks, bool colour) {
  const std::string number = numbers(tuples);
  return cat(marks.open, text, marks.close,
             colour ? cat(coloured_number.open, number, coloured_number.close) : number);
}

std::string marked_part(std::string_view text, const MarkedPart& part, bool colour) {
  std::string shown = clean_cells(part.range.of(text));
  if (!part.aspects.empty())
    shown = marked(shown, part.aspects, colour ? coloured_aspect : plain_aspect, colour);
  if (!part.opinions.empty())
    shown = marked(shown, part.opinions, colour ? coloured_opinion : plain_opinion, colour);
  return shown;
}

std::string tuple_line(Task task, std::size_t number, const Tuple& tuple) {
  std::string line = cat("  ", number, "  ", clean_cells(tuple.aspect));
  if (task != Task::aspects) line += " · " + clean_cells(tuple.opinion);
  if (task == Task::quadruplets) line += "  " + clean_cells(tuple.category);
  if (tuple.va)
    line +=
        cat("  valence ", fixed(tuple.va->valence, 2), "  arousal ", fixed(tuple.va->arousal, 2));
  return line + "\n";
}

}  // namespace

std::string terminal_text(Task task, const Sentence& sentence, bool colour) {
  std::string text;
  for (const MarkedPart& part : marked_parts(sentence.text, sentence.tuples))
    text += marked_part(sentence.text, part, colour);
  text += "\n";
  for (std::size_t i = 0; i < sentence.tuples.size(); ++i)
    text += tuple_line(task, i + 1, sentence.tuples[i]);
  return text;
}

}  // namespace lockstep::dimabsa
