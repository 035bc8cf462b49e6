#include "tools/cli/words/translation/translated_names.h"

#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "core/config/parse.h"
#include "planning/schedule/schedule.h"
#include "tools/cli/words/both_words.h"
#include "tools/cli/words/foreign_batch.h"
#include "tools/cli/words/schedule_words.h"
#include "tools/cli/words/translation/name_words.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace lockstep::cli {

std::string name_as_typed(const TypedName& name) {
  return cat(plain_name(name.name), name.value.empty() ? "" : cat("=", name.value));
}

namespace {

// Reports two names with the same meaning and different values. The later one counts.
std::string contradiction(const TypedName& one, const TypedName& other, const std::string& what,
                          const TypedName& counts) {
  return cat(name_as_typed(one), " and ", name_as_typed(other), " both mean ", what, "; ",
             name_as_typed(counts), " counts");
}

// Reports two names whose schedule lengths are in different units. The second one counts.
std::string other_unit(const TypedName& name, const TypedName& other,
                       const std::vector<OurWord>& words) {
  const bool in_epochs = unit_of_lengths(words, TimeUnit::steps) == TimeUnit::epochs;
  return cat(name_as_typed(name), " counts ", in_epochs ? "epochs" : "steps", " here and ",
             name_as_typed(other), in_epochs ? " steps" : " epochs",
             ", but schedule.unit is one for both; ", name_as_typed(other), " counts");
}

void add_word(Translation& all, const OurWord& word, const TypedName& name = {}) {
  const auto before = std::find_if(all.words.begin(), all.words.end(),
                                   [&](const OurWord& each) { return each.name == word.name; });
  if (before == all.words.end()) {
    all.words.push_back(word);
    all.typed[word.name] = name;
    return;
  }
  const BothWords both = word_of_both(*before, word);
  TypedName& earlier = all.typed[word.name];
  const bool is_later = both.word.value == word.value;
  if (both.contradict && plain_name(earlier.name) != plain_name(name.name))
    all.contradictions.push_back(
        contradiction(earlier, name, word.name, is_later ? name : earlier));
  *before = both.word;
  if (is_later) earlier = name;
}

// Whether the run ends after a number of steps. Names on the line decide, or else a preset. Epochs
// on the line override steps of a preset.
bool ends_by_steps(const Vocabulary& known, const TypedLine& line, const TrainOptions& in_force) {
  if (is_typed_as_it_should_be(line, "stop.steps")) return in_force.stop.steps > 0;
  std::optional<std::int64_t> steps;
  double epochs = 0;
  for (const TypedName& name : line.names) {
    const Synonym* const synonym = find_synonym(known.synonyms, name.name);
    if (synonym == nullptr || known.has(plain_name(name.name))) continue;
    for (const OurWord& word : written_here(*synonym, name.value, {})) {
      if (word.name == "stop.steps") steps = whole_number(word.value);
      if (word.name == "stop.epochs") epochs = detail::parse_real(word.value).value_or(0);
    }
  }
  if (steps.value_or(0) > 0 || epochs > 0) return steps.value_or(0) > 0;
  return in_force.stop.steps > 0;
}

// If the name's lengths are in another unit than the schedule's, returns the name on the line whose
// unit counts. It is one of our names, or else one in steps. Null if there is none.
const TypedName* of_other_unit(const Vocabulary& known, const TypedLine& line, bool by_steps,
                               const TrainOptions& in_force, const std::vector<OurWord>& words) {
  const std::optional<TimeUnit> unit = unit_of_lengths(words, TimeUnit::steps);
  if (!unit) return nullptr;
  TimeUnit own_unit = in_force.schedule.unit;
  for (const TypedName& each : line.names)
    if (plain_name(each.name) == "schedule.unit")
      own_unit = each.value == "epochs" ? TimeUnit::epochs : TimeUnit::steps;
  const TypedName* other = nullptr;
  for (const TypedName& each : line.names) {
    const bool is_own = is_own_name(known, each.name);
    auto of_each = words_alone(known, line, each, {});
    if (!of_each) continue;
    if (by_steps) take_share_of_steps(*of_each);
    const auto its_unit = unit_of_lengths(*of_each, is_own ? own_unit : TimeUnit::steps);
    if (!its_unit || *its_unit == *unit) continue;
    if (is_own) return &each;
    if (other == nullptr && *its_unit == TimeUnit::steps) other = &each;
  }
  return other;
}

// Adds the words of the batch. Names that are not part of them are marked as left out.
void add_batch_words(const Vocabulary& known, const TypedLine& line, const BatchWords& batch,
                     Translation& all) {
  for (const OurWord& word : words_that_fit(known, line, batch.words)) add_word(all, word);
  all.sums_up_devices |= batch.sums_up_devices;
  all.shares_batch |= batch.is_shared;
  const auto is_written = [&](const char* key) {
    return std::any_of(batch.words.begin(), batch.words.end(),
                       [&](const OurWord& word) { return word.name == key; });
  };
  for (const TypedName& name : line.names) {
    const BatchName which = batch_name(known, name.name);
    const bool stays = which == BatchName::none ||
                       (which == BatchName::accumulation ? is_written("batch.accumulation")
                        : which == BatchName::per_device
                            ? is_written("batch.micro") || batch.sums_up_devices || batch.is_shared
                            : true);
    if (!stays) all.left_out.push_back(plain_name(name.name));
  }
}

// Reports two sizes of the same kind. foreign_batch uses the later one.
Words batch_contradictions(const Vocabulary& known, const TypedLine& line) {
  std::map<BatchName, TypedName> sizes;
  Words all;
  for (const TypedName& name : line.names) {
    const BatchName which = batch_name(known, name.name);
    if (which == BatchName::none || !whole_number(name.value)) continue;
    TypedName& before = sizes.try_emplace(which, name).first->second;
    if (before.value != name.value && plain_name(before.name) != plain_name(name.name))
      all.push_back(contradiction(before, name,
                                  which == BatchName::global       ? "batch.global"
                                  : which == BatchName::per_device ? "the batch of a device"
                                                                   : "batch.accumulation",
                                  name));
    before = name;
  }
  return all;
}

// Adds the reason for leaving out a name. The line sets its option directly, or the command only
// reads a run.
void add_reason(const Vocabulary& known, const TypedLine& line, const TypedName& name,
                const std::vector<OurWord>& words, Translation& all) {
  const std::string key = plain_name(name.name);
  for (const OurWord& word : words) {
    if (!is_typed_as_it_should_be(line, word.name) || word.name == name.name) continue;
    const std::string value = value_typed_for(line, word.name);
    const bool agrees = value == word.value || is_placeholder(word.value);
    if (words.size() > 1 && agrees) continue;  // the reason concerns only words that differ
    all.reasons[key] = cat(word.name, "=", value, " is set already and counts");
  }
  const Synonym* const synonym = find_synonym(known.synonyms, name.name);
  const bool is_needless =
      synonym != nullptr &&
      (synonym->ours.empty() || meaning_in(*synonym, line.flags.group) != nullptr);
  if (line.flags.resumes() && words.empty() && batch_name(known, name.name) != BatchName::none)
    all.reasons[key] = "the global batch of a run stays as it is";
  if (line.flags.group.empty() || !words.empty() || is_needless) return;
  const bool is_folder = synonym != nullptr && synonym->ours.starts_with("run.root=");
  const bool is_newest = synonym != nullptr && checkpoint_meant(*synonym, name.value) == "last";
  all.reasons[key] = is_newest   ? "the newest checkpoint is the default"
                     : is_folder ? "--items FILE says where the table of items goes"
                                 : "the run keeps its settings of training";
}

}  // namespace

Translation translated_for(const Vocabulary& known, const TypedLine& line, std::size_t devices,
                           bool has_presets) {
  Translation all;
  all.devices = devices;
  all.contradictions = batch_contradictions(known, line);
  ForeignBatch sizes = foreign_batch(known, line.names);
  sizes.has_presets_accumulation = has_presets;
  const std::unique_ptr<TrainOptions> in_force =
      options_in_force(line.recipe, line.names, line.has_gpu);
  const bool by_steps = ends_by_steps(known, line, *in_force);
  std::optional<BatchWords> batch;
  if (sizes.is_typed() && !line.flags.keeps_batch())
    batch = batch_words(sizes, *in_force, static_cast<std::int64_t>(devices));
  bool has_batch = false;
  for (const TypedName& name : line.names) {
    const std::string key = plain_name(name.name);
    if (known.has(key) && name.name == key) continue;  // the name is already correct
    if (batch && batch_name(known, name.name) != BatchName::none) {
      if (!has_batch) add_batch_words(known, line, *batch, all);
      has_batch = true;
      continue;
    }
    auto alone = words_alone(known, line, name,
                             {.devices = static_cast<int>(devices),
                              .accumulation = std::max<std::int64_t>(1, sizes.accumulation),
                              .makes_jobs = is_flag_of(line.flags, "--slots")});
    if (!alone) {
      all.unknown.push_back(name.name);
      continue;
    }
    const bool is_own = is_own_name(known, name.name);
    add_reason(known, line, name, *alone, all);
    if (by_steps) take_share_of_steps(*alone);
    const TypedName* const other =
        is_own ? nullptr : of_other_unit(known, line, by_steps, *in_force, *alone);
    if (other != nullptr) {
      all.contradictions.push_back(other_unit(name, *other, *alone));
      all.reasons.erase(plain_name(name.name));
      continue;
    }
    std::vector<OurWord> words = words_that_fit(known, line, std::move(*alone));
    if (!is_own) drop_idle_unit(words);
    if (words.empty()) all.left_out.push_back(key);
    all.sums_up_devices |=
        !line.flags.keeps_batch() && batch_name(known, name.name) == BatchName::per_device;
    for (const OurWord& word : words) add_word(all, word, name);
  }
  return all;
}

}  // namespace lockstep::cli
