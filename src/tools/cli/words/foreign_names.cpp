#include "tools/cli/words/foreign_names.h"

#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "core/config/parse.h"
#include "core/config/read_toml.h"
#include "core/config/synonym.h"
#include "core/config/value.h"
#include "core/devices/gpus/visible_gpus.h"
#include "planning/recipe_info.h"
#include "planning/schedule/schedule.h"
#include "tools/cli/context.h"
#include "tools/cli/run_root.h"
#include "tools/cli/words/both_words.h"
#include "tools/cli/words/foreign_batch.h"
#include "tools/cli/words/schedule_words.h"
#include "tools/cli/words/vocabulary.h"
#include "tools/jobs/job_file/job_keys.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace lockstep::cli {
namespace {

using Words = std::vector<std::string>;

constexpr const char* first_weights = "init.from";

// The typed names, and the facts about their place.
struct TypedLine {
  std::string recipe;  // "": not known
  std::vector<TypedName> names;
  FlagsHere flags;
  std::size_t devices = 0;  // 0: nobody knows
  bool has_gpu = false;     // among them
  std::string file{};       // in which the names stand; "": on the command line
  Words faults{};           // of values of the command's own flags, phrases
};

// The typed names that are no options, in the words of Lockstep, each once.
struct Translation {
  std::vector<OurWord> words;
  Words left_out;                              // names for which there is nothing to write
  Words unknown;                               // names without a known meaning
  Words without_effect;                        // why words were taken out again
  Words contradictions;                        // names that mean the same, with different values
  std::map<std::string, TypedName> typed;      // for each word: the name that it stands for
  std::map<std::string, std::string> must_be;  // for words without a value: the allowed ones
  std::map<std::string, std::string> reasons;  // for names that are left out, phrases
  std::size_t devices = 0;                     // that the words are for
  bool sums_up_devices = false;                // a value is of all devices
};

// "lr=1" of --lr 1, "use_multi_gpu" of a switch.
std::string name_as_typed(const TypedName& name) {
  return cat(plain_name(name.name), name.value.empty() ? "" : cat("=", name.value));
}

// Two names that mean the same and have different values: the later one counts.
std::string contradiction(const TypedName& one, const TypedName& other, const std::string& what,
                          const TypedName& counts) {
  return cat(name_as_typed(one), " and ", name_as_typed(other), " both mean ", what, "; ",
             name_as_typed(counts), " counts");
}

// Two names whose lengths of the schedule are in different units: the other one counts.
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

// -1 of a program where it means that nothing is set.
bool says_nothing(const Vocabulary& known, const OurWord& word) {
  const OptionInfo* const option = known.find(word.name);
  return option != nullptr && word.value == "-1" && option->spec.min >= 0 && option->spec.min <= 1;
}

bool is_flag_of(const FlagsHere& flags, const std::string& name) {
  return std::find(flags.names.begin(), flags.names.end(), name) != flags.names.end();
}

bool is_typed_as_it_should_be(const TypedLine& line, const std::string& key) {
  return std::any_of(line.names.begin(), line.names.end(),
                     [&](const TypedName& name) { return name.name == key; });
}

std::string value_typed_for(const TypedLine& line, const std::string& key) {
  std::string value;
  for (const TypedName& name : line.names)
    if (name.name == key) value = name.value;
  return value;
}

// Groups whose options some lines name without the group.
bool is_of_step(const std::string& key) {
  return key.starts_with("predict.") || key.starts_with("evaluate.") || key.starts_with("score.");
}

// The options that are `name` in a group other than those: optimizer.clip for clip.
Words in_its_groups(const Vocabulary& known, const std::string& name) {
  Words found = keys_in_a_group(known.keys(), name);
  std::erase_if(found, is_of_step);
  return found;
}

bool is_own_name(const Vocabulary& known, const std::string& name) {
  const std::string key = plain_name(name);
  return known.has(key) ||
         (find_synonym(known.synonyms, name) == nullptr && in_its_groups(known, key).size() == 1);
}

// A name that stands for the checkpoint to take.
bool is_of_checkpoint(const Synonym& synonym) {
  return synonym.ours.starts_with("init.from=") || synonym.ours == "--resume auto";
}

// "best", or "last" for all words of the newest one; "": another value, such as a file.
std::string checkpoint_meant(const Synonym& synonym, const std::string& value) {
  if (!is_of_checkpoint(synonym)) return "";
  const std::string word = plain_name(value);
  if (word == "best") return word;
  return word == "last" || word == "latest" || word == "newest" ? "last" : "";
}

// Whether a command that reads a run takes the option, rather than leaving it to the run.
bool is_for_reading(const Vocabulary& known, const std::string& key) {
  if (key.starts_with("--") || is_of_step(key)) return true;
  for (const char* part : {"eval.", "files.", "matmul.", "data.threads", "data.prefetch"})
    if (key.starts_with(part)) return true;
  const OptionInfo* const option = known.find(key);
  return key == "precision" ||
         (option != nullptr && option->spec.is_path && key.starts_with("data."));
}

// The option of the command's own group, or of the only step that has it: threshold as
// predict.threshold. "": there is none, or the command does not read a run.
std::string key_for_reading(const Vocabulary& known, const std::string& group,
                            const std::string& typed) {
  const std::string key = plain_name(typed);
  if (group.empty() || find_synonym(known.synonyms, typed) != nullptr) return "";
  if (const std::string own = cat(group, ".", key); known.has(own)) return own;
  Words keys = keys_in_a_group(known.keys(), key);
  std::erase_if(keys, [](const std::string& each) { return !is_of_step(each); });
  return keys.size() == 1 ? keys.front() : "";
}

// The words as a command that reads a run takes them: seed as predict.seed, and the folder of runs,
// which is another program's for its outputs, as predict.out. Others are the run's own.
std::vector<OurWord> words_for_reading(const Vocabulary& known, const std::string& group,
                                       std::vector<OurWord> words) {
  for (OurWord& word : words) {
    if (word.name.starts_with("--") || is_of_step(word.name)) continue;
    const std::string last =
        word.name == "run.root" ? "out" : word.name.substr(word.name.rfind('.') + 1);
    if (const std::string own = cat(group, ".", last); known.has(own)) word.name = own;
  }
  std::erase_if(words, [&](const OurWord& word) { return !is_for_reading(known, word.name); });
  return words;
}

// The words that can be written here, with "true" for a switch without a value. An option that the
// line sets in its own name stays as it is there.
std::vector<OurWord> words_that_fit(const Vocabulary& known, const TypedLine& line,
                                    std::vector<OurWord> words) {
  std::erase_if(words, [&](const OurWord& word) {
    if (word.name == "--devices" && !line.flags.devices.empty()) return true;
    if (word.name.starts_with("--")) return !is_flag_of(line.flags, word.name);
    if (word.name == first_weights && !line.flags.of_run.empty()) return true;
    return says_nothing(known, word) || is_typed_as_it_should_be(line, word.name);
  });
  for (OurWord& word : words) {
    const OptionInfo* const option = known.find(word.name);
    if (option != nullptr && option->type == OptionType::boolean && word.value == unknown_value)
      word.value = "true";
  }
  return words;
}

// A name in a table of a file, such as training.batch_size, is the name itself.
std::string without_table(const Vocabulary& known, const std::string& name) {
  if (known.has(plain_name(name)) || find_synonym(known.synonyms, name) != nullptr) return name;
  return name.substr(name.rfind('.') + 1);
}

// The devices that a value of --devices means. Devices given by index need not exist. Throws Error.
std::vector<Device> devices_of_spec(const std::string& spec, bool counts_devices) {
  if (!counts_devices && indexes_in(spec) > 0) {
    Device gpu;
    gpu.kind = DeviceKind::cuda;
    return std::vector<Device>(indexes_in(spec), gpu);
  }
  return imagine_devices(spec, probe(), host_info(), std::getenv("CUDA_VISIBLE_DEVICES"));
}

// 0: nobody knows.
std::size_t devices_in(const std::string& spec, bool counts_devices) try {
  return devices_of_spec(spec, counts_devices).size();
} catch (const Error&) {
  return 0;
}

bool is_list_of_devices(const std::string& value) {
  const Words parts = split(value, ',');
  return std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
    return part == "all" || part == "cpu" || part.starts_with("cpu:") || is_uuid(part) ||
           whole_number(part).has_value();
  });
}

// Whether the value names GPUs that need not be there, as "2xT4" does.
bool names_kinds(const std::string& value) {
  const bool is_number = value.find_first_not_of("-0123456789") == value.npos;
  const bool has_number = value.find_first_of("0123456789") != value.npos;
  return has_number && !is_number && devices_in(value, true) > 0;
}

// A kind of GPU, as notebook services have it for an accelerator: "GPU T4 x 2". Where --devices
// takes none, it stands for all GPUs that there are.
void replace_kinds(const FlagsHere& flags, const std::string& typed, std::vector<OurWord>& words) {
  for (OurWord& word : words) {
    if (word.name != "--devices") continue;
    const bool is_list = is_list_of_devices(word.value);
    if (flags.takes_kinds && (word.value == "all" || !is_list) && names_kinds(typed))
      word.value = typed;
    else if (!is_list)
      word.value = "all";
  }
}

// The value of a file's name, in the folder that another name of the line gives: the last one.
std::string in_its_folder(const Synonym& synonym, const TypedLine& line, const std::string& file) {
  std::string folder;
  for (const TypedName& name : line.names)
    if (std::find(synonym.folders.begin(), synonym.folders.end(), plain_name(name.name)) !=
            synonym.folders.end() &&
        !name.value.empty())
      folder = name.value;
  if (folder.empty() || file.empty() || is_below(folder, file)) return file;
  return (std::filesystem::path(folder) / file).string();
}

// The name's meaning here: another one where the names are missing beside which the first holds.
Synonym meaning_beside(Synonym synonym, const TypedLine& line) {
  const bool is_beside = std::any_of(line.names.begin(), line.names.end(), [&](const auto& name) {
    return std::find(synonym.beside.begin(), synonym.beside.end(), plain_name(name.name)) !=
           synonym.beside.end();
  });
  if (!synonym.beside.empty() && !is_beside) synonym.ours = synonym.ours_alone;
  return synonym;
}

// Whether the run of the line ends after a number of steps, by its names or else a preset.
bool ends_by_steps(const Vocabulary& known, const TypedLine& line, const TrainOptions& in_force) {
  std::optional<std::int64_t> steps;
  for (const TypedName& name : line.names) {
    const Synonym* const synonym = find_synonym(known.synonyms, name.name);
    if (synonym == nullptr || known.has(plain_name(name.name))) continue;
    for (const OurWord& word : written_here(*synonym, name.value, {}))
      if (word.name == "stop.steps") steps = whole_number(word.value);
  }
  if (is_typed_as_it_should_be(line, "stop.steps")) steps.reset();  // that one counts
  return steps.value_or(0) > 0 || in_force.stop.steps > 0;
}

bool is_valid(const OptionInfo& option, const std::string& value) {
  try {
    detail::parse_value(option, value);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// The value of an option of ours in our words: fp16 of 16-mixed, true of True.
std::string value_as_ours(const Vocabulary& known, const std::string& key,
                          const std::string& value) {
  const OptionInfo& option = *known.find(key);
  if (is_valid(option, value)) return value;
  const std::string meant = our_value(known.synonyms, key, value);
  if (!meant.empty()) return meant;
  std::string small = value;
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return is_valid(option, small) ? small : value;
}

// A run that goes on keeps its global batch, so that one of the other two sizes gives both.
std::vector<OurWord> batch_words_for_resume(const Vocabulary& known, const TypedLine& line,
                                            const TypedName& name, const std::string& value) {
  const auto is_micro = [&](const TypedName& one) {
    return plain_name(one.name) == "batch.micro" ||
           batch_name(known, one.name) == BatchName::per_device;
  };
  if (is_micro(name)) return {{"batch.micro", value}};
  const bool is_enough = std::any_of(line.names.begin(), line.names.end(), is_micro);
  if (batch_name(known, name.name) != BatchName::accumulation || is_enough) return {};
  return {{"batch.accumulation", value}};
}

// The words of one name but those of the batch, whatever the rest of the line says; nothing where
// the name is not known.
std::optional<std::vector<OurWord>> words_alone(const Vocabulary& known, const TypedLine& line,
                                                const TypedName& name, const TypedBatch& batch) {
  const std::string key = plain_name(name.name), &group = line.flags.group;
  const std::string value = name.value.empty() ? unknown_value : name.value;
  std::vector<OurWord> words;
  if (known.has(key))
    words = {{key, value_as_ours(known, key, value)}};
  else if (const std::string own = key_for_reading(known, group, name.name); !own.empty())
    words = {{own, value_as_ours(known, own, value)}};
  else if (!group.empty() && batch_name(known, name.name) == BatchName::per_device)
    words = {{"eval.batch", value}};
  else if (line.flags.resumes() && batch_name(known, name.name) != BatchName::none)
    words = batch_words_for_resume(known, line, name, value);
  else if (const Synonym* const synonym = find_synonym(known.synonyms, name.name);
           synonym != nullptr && !group.empty() && !checkpoint_meant(*synonym, name.value).empty())
    words = checkpoint_meant(*synonym, name.value) == "best" ? std::vector<OurWord>{{"--best", ""}}
                                                             : std::vector<OurWord>{};
  else if (synonym != nullptr)
    words = written_here(meaning_beside(*synonym, line), in_its_folder(*synonym, line, name.value),
                         batch);
  else if (is_own_name(known, name.name))
    words = {{in_its_groups(known, key).front(), value}};
  else
    return std::nullopt;
  replace_kinds(line.flags, name.value, words);
  return group.empty() || known.has(key) ? words
                                         : words_for_reading(known, group, std::move(words));
}

// The name of the line whose lengths of the schedule count, where the words of another program's
// name are in the other unit: one of ours, else one in steps. Null: there is none.
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

// Adds the batch words; names that are no part of them are left out.
void add_batch_words(const Vocabulary& known, const TypedLine& line, const BatchWords& batch,
                     Translation& all) {
  for (const OurWord& word : words_that_fit(known, line, batch.words)) add_word(all, word);
  all.sums_up_devices |= batch.sums_up_devices;
  const auto is_written = [&](const char* key) {
    return std::any_of(batch.words.begin(), batch.words.end(),
                       [&](const OurWord& word) { return word.name == key; });
  };
  for (const TypedName& name : line.names) {
    const BatchName which = batch_name(known, name.name);
    const bool stays =
        which == BatchName::none ||
        (which == BatchName::accumulation ? is_written("batch.accumulation")
         : which == BatchName::per_device ? is_written("batch.micro") || batch.sums_up_devices
                                          : true);
    if (!stays) all.left_out.push_back(plain_name(name.name));
  }
}

// Two sizes of one kind: foreign_batch takes the later one.
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

// Why a name is left out: the line sets its option itself, or the command reads a run.
void add_reason(const Vocabulary& known, const TypedLine& line, const TypedName& name,
                const std::vector<OurWord>& words, Translation& all) {
  const std::string key = plain_name(name.name);
  for (const OurWord& word : words) {
    if (!is_typed_as_it_should_be(line, word.name) || word.name == name.name) continue;
    const std::string value = value_typed_for(line, word.name);
    if (words.size() > 1 && value == word.value) continue;  // the others are what the hint is about
    all.reasons[key] = cat(word.name, "=", value, " is set already and counts");
  }
  const Synonym* const synonym = find_synonym(known.synonyms, name.name);
  const bool is_needless = synonym != nullptr && synonym->ours.empty();
  if (line.flags.resumes() && words.empty() && batch_name(known, name.name) != BatchName::none)
    all.reasons[key] = "the global batch of a run stays as it is";
  if (line.flags.group.empty() || !words.empty() || is_needless) return;
  const bool is_folder = synonym != nullptr && synonym->ours.starts_with("run.root=");
  const bool is_newest = synonym != nullptr && checkpoint_meant(*synonym, name.value) == "last";
  all.reasons[key] = is_newest   ? "the newest checkpoint is the default"
                     : is_folder ? "--items FILE says where the table of items goes"
                                 : "the run keeps its settings of training";
}

// has_presets: whether the program did as the preset does, where the line leaves it open.
Translation translated_for(const Vocabulary& known, const TypedLine& line, std::size_t devices,
                           bool has_presets = true) {
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
    if (known.has(key) && name.name == key) continue;  // as it should be
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

// A synonym's value "1e-5/optimizer.lr" means that many times the other option, and
// "0.1*stop.epochs" that share of it: of the new line's, else of the present value.
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

// Removes words that the recipe rejects because they have no effect beside the rest of the line.
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

// Values that the option would reject are left to the user, with the allowed ones.
void check_values(const Vocabulary& known, Translation& all) {
  for (OurWord& word : all.words) {
    const OptionInfo* const option = known.find(word.name);
    if (option == nullptr || is_placeholder(word.value) || is_valid(*option, word.value)) continue;
    word.value = unknown_value;
    all.must_be[word.name] = detail::requirement(*option);
  }
}

// A schedule needs the lengths that nothing sets yet.
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

const OurWord* devices_word(const std::vector<OurWord>& words) {
  const auto word = std::find_if(words.begin(), words.end(),
                                 [](const OurWord& each) { return each.name == "--devices"; });
  return word == words.end() ? nullptr : &*word;
}

// "--gpus 1,2,4" gives numbers of GPUs, among which 0 is impossible, rather than indexes.
bool are_counts(const Vocabulary& known, const TypedLine& line, const std::string& list) {
  const Words counts = split(list, ',');
  return line.flags.lists_counts && counts.size() > 1 &&
         std::find(counts.begin(), counts.end(), "0") == counts.end() &&
         std::any_of(line.names.begin(), line.names.end(), [&](const TypedName& name) {
           const Synonym* const synonym = find_synonym(known.synonyms, name.name);
           return synonym != nullptr && synonym->ours.find("{first}") != std::string::npos;
         });
}

// Devices come first: their number decides what all of them take in a step.
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

// --devices of a command that counts them: their number, and all without it.
void count_devices(const Vocabulary& known, const TypedLine& line, std::vector<OurWord>& words) {
  std::erase_if(
      words, [](const OurWord& word) { return word.name == "--devices" && word.value == "all"; });
  for (OurWord& word : words)
    if (word.name == "--devices" && !are_counts(known, line, word.value))
      if (const std::size_t count = indexes_in(word.value); count > 0) word.value = cat(count);
}

Translation translated(const Vocabulary& known, const TypedLine& line) {
  Translation translation = translated_for(known, line, devices_meant(known, line));
  combine_values(known, line, translation.words);
  check_values(known, translation);
  drop_without_effect(known, line, translation);
  add_schedule_lengths(known, line, translation);
  if (line.flags.counts_devices) count_devices(known, line, translation.words);
  return translation;
}

std::string as_typed(const OurWord& word) {
  if (word.name == "--best") return word.name;  // a switch
  return word.name.starts_with("--") ? cat(word.name, " ", shell_word(word.value))
                                     : shell_word(cat(word.name, "=", word.value));
}

bool is_plain_in_toml(const OptionInfo* option) {
  if (option == nullptr) return false;
  return option->type == OptionType::integer || option->type == OptionType::real ||
         option->type == OptionType::boolean;
}

// "batch.global = 32", "precision = "fp16""; of JSON likewise.
std::string as_line_of_file(const Vocabulary& known, const OurWord& word, bool is_json) {
  const bool plain = is_plain_in_toml(known.find(word.name)) || word.value == unknown_value;
  const std::string value =
      plain ? word.value
            : nlohmann::json(word.value)
                  .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return is_json ? cat('"', word.name, "\": ", value, ",") : cat(word.name, " = ", value);
}

// Options as lines of the file, and flags for the command.
std::string write_in_file(const Vocabulary& known, const TypedLine& line,
                          const std::vector<OurWord>& words) {
  Words lines, flags;
  const bool is_json = line.file.ends_with(".json");
  for (const OurWord& word : words)
    if (word.name.starts_with("--"))
      flags.push_back(as_typed(word));
    else
      lines.push_back(as_line_of_file(known, word, is_json));
  if (is_json && !lines.empty() && lines.back().ends_with(',')) lines.back().pop_back();
  std::string text;
  if (!lines.empty())
    text = cat("write in ", line.file, ", in place of these names",
               is_json ? ", at the top level" : " and above any [table]", ":\n", join(lines, "\n"));
  if (!flags.empty())
    text += cat(text.empty() ? "leave it out of the file, and write " : "\nand write ",
                join(flags, " "), " on the command line");
  return text;
}

std::string write_on_line(const std::vector<OurWord>& words) {
  Words typed;
  for (const OurWord& word : words) typed.push_back(as_typed(word));
  return words.empty() ? "" : cat("write ", join(typed, " "));
}

// batch.global of the line if its program used one device. "": it would say no other.
std::string batch_of_one(const Vocabulary& known, const TypedLine& line, const Translation& all) {
  const OurWord* const devices = devices_word(all.words);
  if (all.devices == 1 || (devices != nullptr && devices->value != "all")) return "";
  for (const OurWord& word : translated_for(known, line, 1, /*has_presets=*/false).words)
    if (word.name == "batch.global") return word.value;
  return "";
}

// If a value is for all devices: for which, and the value for a program that used one.
std::string batch_note(const Vocabulary& known, const TypedLine& line, const Translation& all) {
  if (!all.sums_up_devices) return "";
  Words notes;
  if (all.devices > 0)
    notes.push_back(cat("batch.global is of ", all.devices,
                        all.devices == 1 ? " device" : " devices together"));
  else if (!line.file.empty())
    notes.emplace_back("batch.global is of all devices together, times batch.accumulation");
  if (const std::string one = batch_of_one(known, line, all); !one.empty())
    notes.push_back(cat("for a script that used one GPU, batch.global=", one,
                        " and no other batch.* train as it did"));
  return join(notes, "; ");
}

// For a name that means first weights, in a command that takes a run; "" for others.
std::string note_of_run(const FlagsHere& flags, const Synonym& synonym, const std::string& value) {
  const std::vector<OurWord> words = written_here(synonym, value, {});
  const auto weights = std::find_if(words.begin(), words.end(),
                                    [](const OurWord& word) { return word.name == first_weights; });
  if (flags.of_run.empty() || weights == words.end()) return "";
  const std::string file = is_placeholder(weights->value) ? "FILE" : shell_word(weights->value);
  const std::string begun = cat("`lockstep train RECIPE init.from=", file, "`");
  if (flags.of_run != "predict" && flags.of_run != "evaluate")
    return cat("a run goes on from its own newest checkpoint; ", begun,
               " begins a new run with these weights");
  constexpr const char* best = "; of a run, --best takes the best checkpoint";
  if (weights->value.ends_with(".safetensors"))
    return cat("an export of a run goes in place of RUN, as `lockstep ", flags.of_run, " ", file,
               "`", best);
  return cat("it needs a run: ", begun,
             " trains one that begins with these weights, and `lockstep ", flags.of_run,
             " RUN` takes it", best);
}

// Further advice about a name; nothing if it is simply off.
std::string note_of(const Vocabulary& known, const FlagsHere& flags, const Translation& all,
                    const std::string& key, const std::string& value) {
  const Synonym* const synonym = known.has(key) ? nullptr : find_synonym(known.synonyms, key);
  if (synonym == nullptr) return "";
  if (checkpoint_meant(*synonym, value).empty())
    if (std::string note = note_of_run(flags, *synonym, value); !note.empty()) return note;
  if (!flags.devices.empty() && synonym->ours.find("--devices") != std::string::npos)
    return cat("--devices ", shell_word(flags.devices), " is given");
  if (const auto reason = all.reasons.find(key); reason != all.reasons.end()) return reason->second;
  if (!flags.group.empty()) return "";  // notes are of training
  if (flags.resumes() && batch_name(known, key) != BatchName::none) return "";
  const bool is_left_out =
      std::find(all.left_out.begin(), all.left_out.end(), key) != all.left_out.end();
  return is_left_out && synonym->none_when_off ? "" : note_for_value(*synonym, value);
}

// Names without a known meaning. Left out are those that may be options of a following step without
// its group: "input" for "predict.input".
Words unknown_names(const Vocabulary& known, const Translation& all) {
  Words names;
  for (const std::string& name : all.unknown) {
    const Words keys = in_its_groups(known, plain_name(name));
    if (!keys.empty())
      names.push_back(cat(name, " (", join(keys, " or "), "?)"));
    else if (keys_in_a_group(known.keys(), name).empty())
      names.push_back(name);
  }
  return names;
}

// Remarks after the translated words.
Words remarks_of(const Vocabulary& known, const TypedLine& line, const Translation& all,
                 const TypedName& asked) {
  Words remarks;
  Words names = all.left_out, unknown = unknown_names(known, all);
  std::erase(unknown, asked.name);
  if (std::find(all.unknown.begin(), all.unknown.end(), asked.name) != all.unknown.end() &&
      in_its_groups(known, plain_name(asked.name)).empty())
    names.push_back(asked.name);
  if (!names.empty()) remarks.push_back(cat("leave out ", join(names, ", ")));
  remarks.insert(remarks.end(), all.contradictions.begin(), all.contradictions.end());
  remarks.insert(remarks.end(), all.without_effect.begin(), all.without_effect.end());
  for (const auto& [key, reason] : all.reasons)
    if (key != plain_name(asked.name) &&
        std::find(remarks.begin(), remarks.end(), reason) == remarks.end())
      remarks.push_back(reason);
  if (!unknown.empty()) remarks.push_back(cat("not known: ", join(unknown, ", ")));
  remarks.insert(remarks.end(), line.faults.begin(), line.faults.end());
  for (const auto& [key, requirement] : all.must_be)
    remarks.push_back(cat(key, " must be ", requirement));
  return remarks;
}

// evaluate or predict if a name of the line asks for that in place of training.
std::string command_instead(const Vocabulary& known, const TypedLine& line) {
  std::string command;
  for (const TypedName& name : line.names)
    if (const Synonym* const synonym = find_synonym(known.synonyms, name.name);
        synonym != nullptr && !known.has(plain_name(name.name)))
      if (const std::string meant = command_of_value(*synonym, name.value); !meant.empty())
        command = meant;
  return command;
}

// The line of that command, with those of the words that concern it.
std::string line_of_command(const Vocabulary& known, const TypedLine& line,
                            const std::string& command) {
  TypedLine reading = line;
  reading.flags = {.names = {"--devices"}, .devices = line.flags.devices, .group = command};
  std::string run = "RUN", input, words;
  for (const OurWord& word : translated(known, line).words)
    if (word.name == "--name") run = shell_word(word.value);
  if (!line.flags.devices.empty()) words = cat(" --devices ", shell_word(line.flags.devices));
  for (const OurWord& word : translated(known, reading).words)
    if (word.name == input_key && command == "predict")
      input = cat(" ", shell_word(word.value));
    else if (word.name.starts_with("--") || word.name.starts_with(command + "."))
      words += cat(" ", as_typed(word));
  return cat("to ", command, " is a command of its own, on a run that has trained: lockstep ",
             command, " ", run, input, words,
             run == "RUN" ? "; `lockstep runs` lists the runs" : "");
}

std::string foreign_hint(const Vocabulary& known, const TypedLine& line, const TypedName& asked) {
  if (const std::string command = command_instead(known, line);
      !command.empty() && line.flags.group.empty())
    return line_of_command(known, line, command);
  const Translation all = translated(known, line);
  const std::string note = note_of(known, line.flags, all, plain_name(asked.name), asked.value);
  const bool is_file = !line.file.empty();
  if (all.words.empty()) {
    Words remarks = remarks_of(known, line, all, asked);
    std::replace(remarks.begin(), remarks.end(), cat("leave out ", plain_name(asked.name)),
                 std::string("leave it out"));
    const auto has = [&](const Words& names, const std::string& name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (!has(all.left_out, plain_name(asked.name)) && !has(all.unknown, asked.name) &&
        all.without_effect.empty())
      remarks.insert(remarks.begin(), "leave it out");
    if (note.empty() || !all.without_effect.empty()) return join(remarks, "; ");
    return cat(join(remarks, "; "), ": ", note);
  }
  std::string hint = is_file ? write_in_file(known, line, all.words) : write_on_line(all.words);
  if (const std::string sizes = batch_note(known, line, all); !sizes.empty())
    hint += cat(is_file ? "\n" : ": ", sizes);
  for (const std::string& remark : remarks_of(known, line, all, asked))
    hint += cat(is_file ? "\n" : "; ", remark);
  return note.empty() ? hint : cat(hint, is_file ? "\n(" : " (", note, ")");
}

std::vector<TypedName> typed_names_of(const Words& assignments) {
  std::vector<TypedName> typed;
  for (const std::string& word : assignments) {
    const std::size_t equals = word.find('=');
    if (equals != word.npos)
      typed.push_back({trim(word.substr(0, equals)), word.substr(equals + 1)});
  }
  return typed;
}

std::string recipe_named_in(const Command& command, const Words& words) {
  constexpr std::string_view batch = "batch ";
  if (command.name.starts_with(batch)) return command.name.substr(batch.size());
  if (command.complete == "run") return recipe_of_named_run(words);
  const auto named = std::find_if(words.begin(), words.end(), is_recipe_name);
  return named == words.end() ? "" : *named;
}

const Flag* own_flag(const Command& command, const std::string& name) {
  const auto flag = std::find_if(command.flags.begin(), command.flags.end(),
                                 [&](const Flag& each) { return each.name == name; });
  return flag == command.flags.end() ? nullptr : &*flag;
}

// A number may be less than zero.
bool is_flag_word(const std::string& word) {
  return word.starts_with("-") && !whole_number(word, std::numeric_limits<std::int64_t>::min());
}

// Whether the name is, or stands for, an option whose values are a list.
bool is_list(const Vocabulary& known, const std::string& name) {
  const Synonym* const synonym = find_synonym(known.synonyms, name);
  const std::string key = known.has(plain_name(name)) || synonym == nullptr
                              ? plain_name(name)
                              : synonym->ours.substr(0, synonym->ours.find('='));
  const OptionInfo* const option = known.find(key);
  return option != nullptr && option->type == OptionType::list;
}

// The word and those behind it, up to a flag, an option or a recipe, with commas between them.
std::string list_at(const Words& words, std::size_t& at) {
  std::string list = words[at];
  while (at + 1 < words.size() && !is_flag_word(words[at + 1]) &&
         words[at + 1].find('=') == std::string::npos && !is_recipe_name(words[at + 1]))
    list += cat(list.ends_with(',') ? "" : ",", words[++at]);
  return list;
}

// The flags that the command lacks, and all words with an equals sign. others: gets the rest.
std::vector<TypedName> names_in_line(const Command& command, const Words& words,
                                     const Vocabulary& known, Words* others = nullptr) {
  std::vector<TypedName> typed;
  const auto keep = [&](std::size_t from, std::size_t to) {
    if (others != nullptr)
      for (; from < to; ++from) others->push_back(words[from]);
  };
  std::size_t i = 0;
  for (; i < words.size() && words[i] != "--"; ++i) {
    const std::size_t at = i;
    const std::string name = words[i].substr(0, words[i].find('='));
    const bool has_value = name.size() < words[i].size();
    if (words[i].size() < 2 || words[i][0] != '-') {
      if (has_value)
        typed.push_back({name, words[i].substr(name.size() + 1)});
      else
        keep(i, i + 1);
      continue;
    }
    const Flag* const flag = own_flag(command, name);
    const bool value_follows = !has_value && i + 1 < words.size() && !is_flag_word(words[i + 1]) &&
                               (flag == nullptr ? words[i + 1].find('=') == std::string::npos &&
                                                      !is_recipe_name(words[i + 1])
                                                : !flag->value.empty());
    std::string value;
    if (has_value)
      value = words[i].substr(name.size() + 1);
    else if (value_follows)
      value = flag == nullptr && is_list(known, name) ? list_at(words, ++i) : words[++i];
    if (flag == nullptr)
      typed.push_back({name, value});
    else
      keep(at, i + 1);
  }
  keep(i, words.size());
  return typed;
}

// Values of the command's own flags that are none of the few that the flag takes. Where completion
// offers lists, they are examples.
Words faults_of_flags(const Command& command, const Words& words) {
  constexpr std::string_view choice = "word ";
  Words faults;
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    const Flag* const flag = own_flag(command, name);
    if (flag == nullptr || flag->value.empty() || !flag->complete.starts_with(choice) ||
        flag->complete.find(',') != std::string::npos)
      continue;
    const bool has_value = name.size() < words[i].size();
    if (!has_value && (i + 1 == words.size() || is_flag_word(words[i + 1]))) continue;
    const std::string value = has_value ? words[i].substr(name.size() + 1) : words[++i];
    const Words allowed = split(flag->complete.substr(choice.size()), '|');
    if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
      faults.push_back(cat(name, " takes ", join(allowed, " or "), ", not ", shell_word(value)));
  }
  return faults;
}

// The value of --devices; "" if it is not given.
std::string devices_given(const Words& words) {
  std::string spec;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].starts_with("--devices=")) spec = words[i].substr(words[i].find('=') + 1);
    if (words[i] == "--devices" && i + 1 < words.size()) spec = words[i + 1];
  }
  return spec;
}

// That --devices names, or this machine has; none: nobody knows.
std::vector<Device> devices_of_line(const FlagsHere& flags) try {
  return devices_of_spec(flags.devices.empty() ? "all" : flags.devices, flags.counts_devices);
} catch (const Error&) {
  return {};
}

Error foreign_name(const Vocabulary& known, const TypedLine& line, const TypedName& asked) {
  const Synonym& synonym = *find_synonym(known.synonyms, asked.name);
  return Error(cat(asked.name, " is not an option; it is a name of ", synonym.from),
               foreign_hint(known, line, asked));
}

}  // namespace

FlagsHere flags_here(const Command& command) {
  FlagsHere here{.names = {}, .of_run = command.complete == "run" ? command.name : ""};
  for (const Flag& flag : command.flags) here.names.push_back(flag.name);
  for (const char* counting : {"plan", "config", "bench"})
    here.counts_devices |= command.name == counting;
  here.takes_kinds = here.counts_devices && command.name != "bench";
  here.lists_counts = command.name == "bench";
  if (command.group == "evaluate" || command.group == "predict") here.group = command.group;
  if (command.complete == "run") here.of_run = command.name;
  return here;
}

FlagsHere flags_here(const Command& command, const Parsed& parsed) {
  FlagsHere here = flags_here(command);
  here.devices = parsed.value("--devices");
  return here;
}

namespace {

bool has_gpus(const std::vector<Device>& devices) {
  return !devices.empty() && devices.front().kind == DeviceKind::cuda;
}

// As it would be typed on the command line.
std::string text_of_entry(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (!value.is_array()) return value.dump();
  Words items;
  for (const nlohmann::json& item : value) items.push_back(text_of_entry(item));
  return join(items, ",");
}

// The names of the file that has this one, without those of its tables.
bool read_names(const Words& files, const Vocabulary& known, std::string_view key,
                TypedLine& line) {
  for (const std::string& file : files) {
    const std::vector<detail::TomlEntry> entries = detail::read_toml(file);
    if (std::none_of(entries.begin(), entries.end(),
                     [&](const detail::TomlEntry& entry) { return entry.key == key; }))
      continue;
    line.file = file;
    line.names.clear();
    for (const detail::TomlEntry& entry : entries)
      line.names.push_back({without_table(known, entry.key), text_of_entry(entry.value)});
    return true;
  }
  return false;
}

bool is_known_name(const Vocabulary& known, const std::string& name) {
  return known.has(plain_name(name)) || find_synonym(known.synonyms, name) != nullptr;
}

// For an unknown name, if others on the line have a translation.
std::string hint_beside(const Vocabulary& known, const TypedLine& line, const std::string& name) {
  const bool any = std::any_of(line.names.begin(), line.names.end(), [&](const TypedName& each) {
    return each.name != name && !known.has(each.name) &&
           (is_known_name(known, each.name) || is_own_name(known, each.name));
  });
  if (!any) return "";
  const std::string near = is_own_name(known, name) ? "" : nearest(name, known.keys());
  return cat(near.empty() ? "" : cat("if you mean ", near, ", write that; else "),
             foreign_hint(known, line, {name, ""}));
}

bool is_job_key(const std::string& name) {
  const std::vector<JobKey>& keys = job_keys();
  return std::any_of(keys.begin(), keys.end(), [&](const JobKey& key) { return key.key == name; });
}

// For a key of job files in a command that writes one.
std::string hint_for_job_key(const std::string& recipe, const std::string& key,
                             const std::string& value) {
  return cat("--write FILE.toml writes the job file of lockstep batch ", recipe, "; set ", key,
             " = ", value.empty() ? unknown_value : value,
             " there, and lockstep batch run FILE.toml runs it");
}

// For a flag or a key of job files that is typed as an option.
std::optional<Error> of_command(const FlagsHere& flags, const std::string& recipe,
                                const std::string& key, const std::string& value) {
  std::string flag = cat("--", key);
  std::replace(flag.begin(), flag.end(), '_', '-');
  if (is_flag_of(flags, flag))
    return Error(cat(key, " is not an option, but a flag of the command"),
                 cat("write ", flag, value.empty() ? "" : cat(" ", shell_word(value))));
  if (is_flag_of(flags, "--slots") && is_job_key(key))
    return Error(cat(key, " is not an option, but a key of job files"),
                 hint_for_job_key(recipe, key, value));
  return std::nullopt;
}

// Nothing where the key is an option of no recipe.
std::optional<Error> of_other_recipe(const Vocabulary& known, const std::string& recipe,
                                     std::string_view key) {
  const std::string hint = cat("`lockstep config ", recipe, "` lists its options");
  if (!known.is_of_engine && TrainOptions().table.has(key))
    return Error(cat(key, " is an option of the engine, without which ", recipe, " trains"), hint);
  const Words others = recipes_with(key);
  if (others.empty()) return std::nullopt;
  if (const Words own = keys_in_a_group(known.keys(), key); !own.empty())
    return Error(cat(key, " is not an option"), cat("did you mean ", join(own, " or "), "?"));
  return Error(cat(key, " is an option of the recipe", others.size() == 1 ? " " : "s ",
                   join(others, ", "), ", not of ", recipe),
               hint);
}

}  // namespace

ExplainKey explain_keys(const std::string& recipe, const Words& assignments,
                        const std::vector<Device>& devices, const FlagsHere& flags,
                        const Words& files) {
  return [=](std::string_view key, const std::string& value) -> std::optional<Error> {
    const Vocabulary known = vocabulary_of(recipe);
    TypedLine line{.recipe = recipe,
                   .names = typed_names_of(assignments),
                   .flags = flags,
                   .devices = devices.size(),
                   .has_gpu = has_gpus(devices)};
    TypedName asked{std::string(key), value};
    const bool is_typed = is_typed_as_it_should_be(line, asked.name);
    if (!is_typed && read_names(files, known, key, line))
      asked.name = without_table(known, asked.name);
    if (find_synonym(known.synonyms, asked.name) != nullptr)
      return foreign_name(known, line, asked);
    if (auto own = of_command(flags, recipe, asked.name, value)) return own;
    if (auto other = of_other_recipe(known, recipe, key)) return other;
    if (const std::string hint = hint_beside(known, line, asked.name); !hint.empty())
      return Error(cat(key, " is not an option"), hint);
    return std::nullopt;
  };
}

ExplainKey with_name_of(const std::string& recipe, ExplainKey explain) {
  return [=](std::string_view key, const std::string& value) -> std::optional<Error> {
    if (auto known = explain(key, value)) return known;
    const std::vector<std::string> keys = vocabulary_of(recipe).keys();
    const bool is_group = std::any_of(keys.begin(), keys.end(), [&](const std::string& one) {
      return one.starts_with(cat(key, "."));
    });
    if (is_group || !nearest(key, keys).empty()) return std::nullopt;
    return Error(cat(key, " is not an option"),
                 cat("`lockstep config ", recipe, "` lists all options"));
  };
}

std::string hint_for_word(const Command& command, const Words& words, const std::string& word) {
  if (!command.takes_assignments || !command.only_options.empty()) return "";
  const std::string recipe = recipe_named_in(command, words);
  const Vocabulary known = vocabulary_of(recipe);
  FlagsHere flags = flags_here(command);
  flags.devices = devices_given(words);
  const std::vector<Device> devices = devices_of_line(flags);
  const TypedLine line{.recipe = recipe,
                       .names = names_in_line(command, words, known),
                       .flags = flags,
                       .devices = devices.size(),
                       .has_gpu = has_gpus(devices),
                       .faults = faults_of_flags(command, words)};
  const std::string name = word.substr(0, word.find('='));
  const auto asked = std::find_if(line.names.begin(), line.names.end(),
                                  [&](const TypedName& each) { return each.name == name; });
  if (asked == line.names.end()) return "";
  if (is_known_name(known, name) || !key_for_reading(known, flags.group, name).empty())
    return foreign_hint(known, line, *asked);
  if (is_flag_of(flags, "--slots") && is_job_key(plain_name(name)))
    return hint_for_job_key(recipe, plain_name(name), asked->value);
  if (!nearest(name, flags.names).empty()) return "";  // that is what is meant
  return hint_beside(known, line, name);
}

std::string hint_for_list(const Command& command, const Words& words, const std::string& operand) {
  if (!command.takes_assignments || !command.only_options.empty()) return "";
  const Vocabulary known = vocabulary_of(recipe_named_in(command, words));
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('='), first = i;
    if (words[i].starts_with('-') || equals == std::string::npos ||
        !is_list(known, words[i].substr(0, equals)))
      continue;
    const std::string list = list_at(words, i);
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(first),
               end = words.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    if (std::find(begin + 1, end, operand) != end)
      return cat("write ", shell_word(list), ": the values of a list have commas between them");
  }
  return "";
}

namespace {

// The words as the recipe takes them, each after a blank. Those without a known meaning stay.
std::string line_in_our_words(const Command& command, const std::string& recipe,
                              const Words& words) {
  const Vocabulary known = vocabulary_of(recipe);
  FlagsHere flags = flags_here(command);
  flags.devices = devices_given(words);
  const std::vector<Device> devices = devices_of_line(flags);
  Words others;
  const TypedLine line{.recipe = recipe,
                       .names = names_in_line(command, words, known, &others),
                       .flags = flags,
                       .devices = devices.size(),
                       .has_gpu = has_gpus(devices)};
  const Translation all = translated(known, line);
  const auto stays = [&](const std::string& name) {
    return known.has(name) ||
           std::find(all.unknown.begin(), all.unknown.end(), name) != all.unknown.end();
  };
  std::string text;
  const auto rest = std::find(others.begin(), others.end(), "--");  // no flag may follow it
  const auto add = [&](auto from, auto to) {
    for (; from != to; ++from) text += cat(" ", shell_word(*from));
  };
  add(others.begin(), rest);
  for (const TypedName& name : line.names)
    if (stays(name.name)) {
      const bool is_flag = name.name.starts_with('-');
      if (!is_flag || name.value.empty())
        text += cat(" ", shell_word(is_flag ? name.name : cat(name.name, "=", name.value)));
      else
        text += cat(" ", name.name, " ", shell_word(name.value));
    }
  for (const OurWord& word : all.words) text += cat(" ", as_typed(word));
  add(rest, others.end());
  return text;
}

}  // namespace

std::string hint_for_recipe(const Command& command, const Words& words) {
  const bool names_plugin = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word.starts_with("--plugin");
  });
  if (command.complete != "recipe" || command.min_positionals == 0 || names_plugin ||
      !words.front().starts_with('-') || !recipe_named_in(command, words).empty())
    return "";
  const Words recipes = recipe_names(command.name == "train" || command.name == "config");
  const std::vector<TypedName> names = names_in_line(command, words, vocabulary_of(""));
  const auto known_in = [&](const std::string& recipe) {
    const Vocabulary known = vocabulary_of(recipe);
    return std::count_if(names.begin(), names.end(),
                         [&](const TypedName& name) { return is_known_name(known, name.name); });
  };
  const auto best = std::max_element(
      recipes.begin(), recipes.end(),
      [&](const std::string& a, const std::string& b) { return known_in(a) < known_in(b); });
  if (best == recipes.end()) return "";
  return cat("name the recipe first, one of ", join(recipes, ", "), ": lockstep ", command.name,
             " ", *best, line_in_our_words(command, *best, words));
}

}  // namespace lockstep::cli
