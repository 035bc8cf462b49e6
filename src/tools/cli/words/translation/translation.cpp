#include "tools/cli/words/translation/translation.h"

#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "core/config/parse.h"
#include "core/config/value.h"
#include "planning/options/no_effect.h"
#include "planning/schedule/schedule.h"
#include "tools/cli/words/both_words.h"
#include "tools/cli/words/translation/device_words.h"
#include "tools/cli/words/translation/name_words.h"

#include <algorithm>
#include <memory>
#include <optional>

namespace lockstep::cli {
namespace {

// Computes values that depend on another option. "1e-5/optimizer.lr" is 1e-5 divided by that
// option, and "0.1*stop.epochs" is a tenth of it. The other option's value is taken from the new
// line, or else from the options in force.
void combine_values(const Vocabulary& known, const TypedLine& line, std::vector<OurWord>& words) {
  for (OurWord& word : words) {
    const std::size_t sign = word.value.find_first_of("/*");
    const std::string other = sign == word.value.npos ? "" : word.value.substr(sign + 1);
    const OptionInfo* const option = known.find(word.name);
    if (option == nullptr || option->type != OptionType::real || !known.has(other)) continue;
    const bool divides = word.value[sign] == '/';
    const auto written = std::find_if(words.begin(), words.end(),
                                      [&](const OurWord& each) { return each.name == other; });
    const auto in_force = options_in_force(line.recipe, line.names, line.has_gpu);
    const auto by = detail::parse_real(written != words.end()       ? written->value
                                       : in_force->table.has(other) ? in_force->table.get(other)
                                                                    : "");
    const auto value = detail::parse_real(word.value.substr(0, sign));
    word.value = value && by && *by > 0 ? general(divides ? *value / *by : *value * *by, 6)
                 : divides              ? unknown_factor
                                        : unknown_value;
  }
}

// Removes words that the recipe rejects because they have no effect with the rest of the line.
void drop_without_effect(const Vocabulary& known, const TypedLine& line, Translation& all) {
  while (true) {
    std::vector<TypedName> names = line.names;
    for (const OurWord& word : all.words) names.push_back({word.name, word.value});
    const std::optional<NoEffect> idle = without_effect(line.recipe, names);
    const auto word = std::find_if(all.words.begin(), all.words.end(), [&](const OurWord& each) {
      return idle && each.name == idle->key;
    });
    if (word == all.words.end()) return;
    const auto typed =
        std::find_if(line.names.begin(), line.names.end(), [&](const TypedName& name) {
          const Synonym* const synonym =
              known.has(name.name) ? nullptr : find_synonym(known.synonyms, name.name);
          return synonym != nullptr &&
                 synonym->ours.find(cat(word->name, "=")) != std::string::npos;
        });
    all.without_effect.push_back(
        typed == line.names.end() ? idle->what()
                                  : cat("leave out ", plain_name(typed->name), ": ", idle->what()));
    all.words.erase(word);
  }
}

// Removes words that the recipe refuses, and keeps the reason. Lines with a placeholder are not
// checked. Lines for a run are not checked either, because its options are unknown here.
void drop_refused(const Vocabulary& known, const TypedLine& line, Translation& all) {
  const bool has_place = std::any_of(all.words.begin(), all.words.end(), [](const OurWord& word) {
    return is_placeholder(word.value);
  });
  if (has_place || !line.flags.group.empty() || !line.flags.of_run.empty()) return;
  const auto refusal = [&](const OurWord* without) {
    std::vector<TypedName> names = line.names;
    for (const OurWord& word : all.words)
      if (&word != without) names.push_back({word.name, word.value});
    return refusal_of(line.recipe, names, line.has_gpu);
  };
  while (const std::optional<Error> refused = refusal(nullptr)) {
    const auto word = std::find_if(all.words.begin(), all.words.end(), [&](const OurWord& each) {
      return known.has(each.name) && !refusal(&each);
    });
    if (word == all.words.end()) return;
    const TypedName& typed = all.typed[word->name];
    all.without_effect.push_back(cat(
        typed.name.empty() ? cat(word->name, "=", word->value) : name_as_typed(typed),
        " is refused: ", refused->what(), refused->hint().empty() ? "" : "; ", refused->hint()));
    all.words.erase(word);
  }
}

// Leaves values that the option would reject to the user, and lists the allowed ones.
void check_values(const Vocabulary& known, Translation& all) {
  for (OurWord& word : all.words) {
    const OptionInfo* const option = known.find(word.name);
    if (option == nullptr || is_placeholder(word.value) || is_valid(*option, word.value)) continue;
    word.value = unknown_value;
    all.must_be[word.name] = detail::requirement(*option);
  }
}

// Adds lengths that a schedule needs and that nothing sets yet.
void add_schedule_lengths(const Vocabulary& known, const TypedLine& line, Translation& all) {
  const auto kind_word = std::find_if(all.words.begin(), all.words.end(), [](const OurWord& word) {
    return word.name == "schedule.kind";
  });
  if (kind_word == all.words.end()) return;
  const ScheduleKind* const kind = find_schedule_kind(kind_word->value);
  if (kind == nullptr) return;
  const std::unique_ptr<TrainOptions> in_force =
      options_in_force(line.recipe, line.names, line.has_gpu);
  for (const ScheduleParameter& parameter : kind->parameters) {
    const std::string key = cat("schedule.", parameter.name);
    const bool is_open = parameter.is_length && in_force->schedule.parameters[parameter.name] <= 0;
    const bool is_written = std::any_of(all.words.begin(), all.words.end(),
                                        [&](const OurWord& word) { return word.name == key; });
    if (is_open && !is_written && known.has(key)) all.words.push_back({key, unknown_value});
  }
}

// Sets a length from a recipe or preset to 0 if it could end the run before the typed length.
void set_aside_other_length(const TypedLine& line, Translation& all) {
  if (!line.flags.group.empty()) return;
  const auto find = [&](const char* key) {
    return std::find_if(all.words.begin(), all.words.end(),
                        [&](const OurWord& word) { return word.name == key; });
  };
  const auto in_force = options_in_force(line.recipe, line.names, line.has_gpu);
  const auto set_aside = [&](const char* typed, const char* other, double value) {
    const auto word = find(typed);
    if (word == all.words.end() || value <= 0 || find(other) != all.words.end() ||
        detail::parse_real(word->value) == 0 || is_typed_as_it_should_be(line, other))
      return;
    all.words.insert(word + 1, {.name = other, .value = "0"});
  };
  if (find("stop.epochs") != all.words.end())
    set_aside("stop.epochs", "stop.steps", static_cast<double>(in_force->stop.steps));
  else
    set_aside("stop.steps", "stop.epochs", in_force->stop.epochs);
}

}  // namespace

const OurWord* devices_word(const std::vector<OurWord>& words) {
  const auto word = std::find_if(words.begin(), words.end(),
                                 [](const OurWord& each) { return each.name == "--devices"; });
  return word == words.end() ? nullptr : &*word;
}

namespace {

// Whether "--gpus 1,2,4" lists numbers of GPUs instead of indexes. A number of GPUs cannot be 0.
bool are_counts(const Vocabulary& known, const TypedLine& line, const std::string& list) {
  const Words counts = split(list, ',');
  return line.flags.lists_counts && counts.size() > 1 &&
         std::find(counts.begin(), counts.end(), "0") == counts.end() &&
         std::any_of(line.names.begin(), line.names.end(), [&](const TypedName& name) {
           const Synonym* const synonym = find_synonym(known.synonyms, name.name);
           return synonym != nullptr && synonym->ours.find("{first}") != std::string::npos;
         });
}

// Finds the number of devices first, because it determines the global batch.
std::size_t devices_meant(const Vocabulary& known, const TypedLine& line) {
  const Translation without_count = translated_for(known, line, 0);
  const OurWord* const word = devices_word(without_count.words);
  if (word == nullptr || word->value == "all") return line.devices;
  if (!are_counts(known, line, word->value)) return devices_in(word->value, false);
  std::size_t most = 0;
  for (const std::string& count : split(word->value, ','))
    most = std::max(most, static_cast<std::size_t>(whole_number(count).value_or(0)));
  return most;
}

// Changes --devices for a command that expects numbers of devices. A list becomes its length, and
// "all" is removed.
void count_devices(const Vocabulary& known, const TypedLine& line, Translation& all) {
  std::erase_if(all.words, [](const OurWord& word) {
    return word.name == "--devices" && word.value == "all";
  });
  for (OurWord& word : all.words) {
    if (word.name != "--devices" || are_counts(known, line, word.value)) continue;
    const std::size_t count = indexes_in(word.value);
    if (count == 0) continue;
    all.to_train = word.value;
    word.value = cat(count);
  }
}

}  // namespace

Translation translated(const Vocabulary& known, const TypedLine& line) {
  Translation translation = translated_for(known, line, devices_meant(known, line));
  combine_values(known, line, translation.words);
  check_values(known, translation);
  set_aside_other_length(line, translation);
  drop_without_effect(known, line, translation);
  drop_refused(known, line, translation);
  add_schedule_lengths(known, line, translation);
  if (line.flags.counts_devices) count_devices(known, line, translation);
  return translation;
}

}  // namespace lockstep::cli
