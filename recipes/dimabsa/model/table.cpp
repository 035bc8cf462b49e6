#include "recipes/dimabsa/model/table.h"

#include <algorithm>

#include "core/base/text/text.h"
#include "recipes/dimabsa/sentences/files/sentence_errors.h"
#include "recipes/dimabsa/sentences/pages/terminal_text.h"

namespace lockstep::dimabsa {
namespace {

std::string words_of_tuples(Task task, const std::vector<Tuple>& tuples) {
  std::vector<std::string> words;
  for (const Tuple& tuple : tuples) words.push_back(describe(task, tuple));
  return join(words, "; ");
}

}  // namespace

ItemTable marked_table(Task task, const Aligned& aligned) {
  const ItemTable errors = error_table(task, aligned);
  const std::vector<std::string> first{"id", "sentence", "found", "missed", "spurious"};
  ItemTable table{.columns = first, .rows = {}};
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < errors.columns.size(); ++i)
    if (std::find(first.begin(), first.end(), errors.columns[i]) == first.end()) {
      others.push_back(i);
      table.columns.push_back(errors.columns[i]);
    }
  const auto cell = [&](std::size_t row, const char* name) {
    const auto at = std::find(errors.columns.begin(), errors.columns.end(), name);
    return errors.rows[row].at(static_cast<std::size_t>(at - errors.columns.begin()));
  };
  for (std::size_t row = 0; row < errors.rows.size(); ++row) {
    const Sentence& predicted = aligned.predicted[row];
    std::vector<Cell> cells{
        cell(row, "id"), split(terminal_text(task, predicted, /*colour=*/false), '\n').at(0),
        words_of_tuples(task, predicted.tuples), cell(row, "missed"), cell(row, "spurious")};
    for (const std::size_t i : others) cells.push_back(errors.rows[row][i]);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace lockstep::dimabsa
