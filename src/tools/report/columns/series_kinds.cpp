#include "tools/report/columns/series_kinds.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "tools/report/columns/table_columns.h"

namespace lockstep {
namespace {

std::string lower_case(std::string text) {
  for (char& letter : text)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return text;
}

// The words of a name, such as "val" and "loss" for "valLoss", "val/loss" and "Val_Loss".
std::set<std::string> words_of(const std::string& name) {
  const auto is_upper = [](char letter) { return letter >= 'A' && letter <= 'Z'; };
  const auto is_lower = [](char letter) { return letter >= 'a' && letter <= 'z'; };
  std::set<std::string> words;
  std::string word;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    const bool ends =
        i == name.size() || std::string_view("/_-. ").find(name[i]) != std::string::npos;
    if (ends || (i > 0 && is_upper(name[i]) && is_lower(name[i - 1]))) {
      if (!word.empty()) words.insert(lower_case(word));
      word.clear();
    }
    if (!ends) word += name[i];
  }
  return words;
}

bool has_any(const std::set<std::string>& words, const std::vector<std::string>& of) {
  return std::any_of(of.begin(), of.end(),
                     [&](const std::string& word) { return words.contains(word); });
}

}  // namespace

bool is_of_validation(const std::string& name) {
  return has_any(words_of(name), {"val", "valid", "validation", "eval", "evaluation", "test"});
}

bool is_loss(const std::string& name) {
  const std::set<std::string> words = words_of(name);
  return has_any(words, {"loss", "logloss"}) && !has_any(words, {"scale", "scaler", "scaling"});
}

bool is_validation_loss(const std::string& name) {
  std::set<std::string> words = words_of(name);
  for (const char* word : {"val", "valid", "validation", "eval", "evaluation", "epoch"})
    words.erase(word);
  return is_of_validation(name) && words == std::set<std::string>{"loss"};
}

std::optional<std::size_t> main_series(const std::vector<SeriesShape>& all) {
  constexpr std::size_t hardly_any = 20;  // a series with this many times fewer points is ignored
  std::size_t most = 0;
  for (const SeriesShape& one : all) most = std::max(most, one.points);
  const auto trains = [&](const SeriesShape& one) {
    return one.points > 1 && hardly_any * one.points >= most && !is_of_validation(one.name) &&
           !is_counter_column(one.name);
  };
  const auto is_rather_long = [&](const SeriesShape& one, const SeriesShape& other) {
    if (trains(one) != trains(other)) return trains(one);
    return one.points > other.points;
  };
  const SeriesShape* longest = nullptr;
  for (const SeriesShape& one : all)
    if (longest == nullptr || is_rather_long(one, *longest)) longest = &one;
  if (longest == nullptr) return std::nullopt;
  const double quarter = (longest->last - longest->first) / 4;
  const SeriesShape* found = longest;
  for (const SeriesShape& one : all)
    if (trains(one) && trains(*longest) && 2 * one.points >= longest->points &&
        !(one.first > longest->first + quarter) && !(one.last < longest->last - quarter) &&
        (one.backs < found->backs || (one.backs == found->backs && one.points > found->points)))
      found = &one;
  return static_cast<std::size_t>(found - all.data());
}

}  // namespace lockstep
