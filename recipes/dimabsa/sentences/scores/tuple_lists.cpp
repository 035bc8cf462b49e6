// Reads tuples from the lists in a line.
#include "recipes/dimabsa/sentences/scores/tuple_lists.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "core/base/text/text.h"
#include "recipes/dimabsa/sentences/files/file_name.h"
#include "recipes/dimabsa/sentences/scores/va.h"

namespace lockstep::dimabsa {
namespace {

// A hint that shows the right format. If the value is [7.1, 6.5], "7.1,6.5" or "7,1#6,5", the hint
// contains its numbers.
std::string hint_of_va(const nlohmann::json& value) {
  std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  std::erase_if(text, [](char c) { return c == '[' || c == ']' || c == ' '; });
  const bool decimal_commas = text.find('#') != text.npos;
  std::ranges::replace(text, ',', decimal_commas ? '.' : '#');
  const std::optional<ValenceArousal> meant = parse_va(text);
  return cat("write valence, #, arousal: \"",
             meant && in_range(*meant) ? format_va(*meant) : "7.12#6.50", "\"");
}

ValenceArousal va_of(const nlohmann::json& tuple, const LinePlace& place) {
  const auto given = tuple.find("VA");
  if (given != tuple.end() && !given->is_string())
    throw place.error(
        cat("\"VA\" must be a text of two numbers, but is ", printable(given->dump())),
        hint_of_va(*given));
  const std::string& text = text_at(tuple, "VA", place);
  const auto va = parse_va(text);
  if (!va)
    throw place.error(cat("VA must be two numbers, but is \"", printable(text), "\""),
                      hint_of_va(*given));
  return *va;
}

std::vector<Tuple> tuples_under(const nlohmann::json& line, const char* key, Task task,
                                const LinePlace& place) {
  std::vector<Tuple> tuples;
  for (const nlohmann::json& item : list_at(line, key, place)) {
    if (!item.is_object())
      throw place.error(cat("\"", key, "\" must be a list of objects"),
                        "a tuple is {\"Aspect\": …, \"VA\": \"V#A\"}, with Opinion in task 2 and "
                        "3 and Category in task 3");
    Tuple tuple;
    tuple.aspect = text_at(item, "Aspect", place);
    if (task != Task::aspects) tuple.opinion = text_at(item, "Opinion", place);
    if (task == Task::quadruplets) tuple.category = text_at(item, "Category", place);
    tuple.va = va_of(item, place);
    tuples.push_back(std::move(tuple));
  }
  return tuples;
}

void keep_first_of_each_aspect(std::vector<Tuple>& tuples) {
  std::vector<Tuple> kept;
  std::set<std::string> aspects;
  for (Tuple& tuple : tuples)
    if (aspects.insert(tuple.aspect).second) kept.push_back(std::move(tuple));
  tuples = std::move(kept);
}

bool has_tuples(const nlohmann::json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && !(found->is_array() && found->empty());
}

// Throws Error if the line lacks the key of this task but has the key of another task.
void check_task(const nlohmann::json& line, Task task, const char* key, const LinePlace& place) {
  if (line.contains(key)) return;
  for (const Task other : {Task::quadruplets, Task::triplets, Task::aspects})
    if (other != task && line.contains(output_key(other)))
      throw place.error(
          cat("there is no key \"", key, "\", which task ", number_of(task), " needs, but \"",
              output_key(other), "\""),
          cat("that is the key of task ", number_of(other), ": set task=", number_of(other)));
}

// Returns the first key with tuples. If none has tuples, the first key that exists; if none exists,
// the key of the task.
const char* labelled_key(const nlohmann::json& line, Task task) {
  static const std::vector<const char*> of_aspects{"Aspect_VA", "Quadruplet", "Triplet"},
      of_triplets{"Quadruplet", "Triplet"}, of_quadruplets{"Quadruplet"};
  const auto& keys = task == Task::aspects    ? of_aspects
                     : task == Task::triplets ? of_triplets
                                              : of_quadruplets;
  for (const char* const key : keys)
    if (has_tuples(line, key)) return key;
  for (const char* const key : keys)
    if (line.contains(key)) return key;
  return output_key(task);
}

}  // namespace

const char* output_key(Task task) {
  switch (task) {
    case Task::aspects:
      return "Aspect_VA";
    case Task::triplets:
      return "Triplet";
    case Task::quadruplets:
      return "Quadruplet";
  }
  return "";
}

std::vector<Tuple> labelled_tuples(const nlohmann::json& line, Task task, const LinePlace& place) {
  const std::string key = labelled_key(line, task);
  check_task(line, task, key.c_str(), place);
  std::vector<Tuple> tuples = tuples_under(line, key.c_str(), task, place);
  if (task == Task::aspects && key != "Aspect_VA") keep_first_of_each_aspect(tuples);
  return tuples;
}

std::vector<Tuple> predicted_tuples(const nlohmann::json& line, Task task, const LinePlace& place) {
  check_task(line, task, output_key(task), place);
  return tuples_under(line, output_key(task), task, place);
}

std::vector<Tuple> given_aspects(const nlohmann::json& line, const LinePlace& place) {
  std::vector<Tuple> tuples;
  if (!line.contains("Aspect") && line.contains(labelled_key(line, Task::aspects))) {
    tuples = labelled_tuples(line, Task::aspects, place);
    for (Tuple& tuple : tuples) tuple.va.reset();
  } else {
    for (const nlohmann::json& aspect : list_at(line, "Aspect", place)) {
      if (!aspect.is_string()) throw place.error("\"Aspect\" must be a list of texts");
      tuples.push_back({.aspect = aspect.get<std::string>()});
    }
  }
  keep_first_of_each_aspect(tuples);
  return tuples;
}

}  // namespace lockstep::dimabsa
