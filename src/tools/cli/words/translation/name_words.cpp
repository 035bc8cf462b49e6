#include "tools/cli/words/translation/name_words.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/config/value.h"
#include "tools/cli/words/both_words.h"
#include "tools/cli/words/foreign_batch.h"
#include "tools/cli/words/translation/device_words.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

namespace lockstep::cli {
namespace {

// Whether the value means that nothing is set, such as another program's -1.
bool says_nothing(const Vocabulary& known, const OurWord& word) {
  const OptionInfo* const option = known.find(word.name);
  return option != nullptr && word.value == "-1" && option->spec.min >= 0 && option->spec.min <= 1;
}

}  // namespace

bool is_flag_of(const FlagsHere& flags, const std::string& name) {
  return std::find(flags.names.begin(), flags.names.end(), name) != flags.names.end();
}

namespace {

// Whether the option belongs to a group that some commands accept without the group's name.
bool is_of_step(const std::string& key) {
  return key.starts_with("predict.") || key.starts_with("evaluate.") || key.starts_with("score.");
}

}  // namespace

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

bool is_known_name(const Vocabulary& known, const std::string& name) {
  return known.has(plain_name(name)) || find_synonym(known.synonyms, name) != nullptr;
}

namespace {

// Whether the synonym names the checkpoint to use.
bool is_of_checkpoint(const Synonym& synonym) {
  return synonym.ours.starts_with("init.from=") || synonym.ours == "--resume auto";
}

}  // namespace

std::string checkpoint_meant(const Synonym& synonym, const std::string& value) {
  if (!is_of_checkpoint(synonym)) return "";
  const std::string word = plain_name(value);
  if (word == "best") return word;
  return word == "last" || word == "latest" || word == "newest" ? "last" : "";
}

bool is_for_reading(const Vocabulary& known, const std::string& group, const std::string& key) {
  if (key.starts_with("evaluate.")) return group == "evaluate";
  if (key.starts_with("--") || is_of_step(key)) return true;
  for (const char* part : {"eval.", "files.", "matmul.", "data.threads", "data.prefetch"})
    if (key.starts_with(part)) return true;
  if (key == "precision") return true;
  for (const char* part : {"init.", "model.", "run."})
    if (key.starts_with(part)) return false;
  const OptionInfo* const option = known.find(key);  // paths of data, or of files needed to read it
  return option != nullptr && option->spec.is_path;
}

std::string key_for_reading(const Vocabulary& known, const std::string& group,
                            const std::string& typed) {
  const std::string key = plain_name(typed);
  if (group.empty()) return "";
  if (const std::string own = cat(group, ".", key); known.has(own)) return own;
  if (find_synonym(known.synonyms, typed) != nullptr) return "";
  Words keys = keys_in_a_group(known.keys(), key);
  std::erase_if(keys, [&](const std::string& each) {
    return !is_of_step(each) || !is_for_reading(known, group, each);
  });
  return keys.size() == 1 ? keys.front() : "";
}

namespace {

// The words in the form that a command for reading a run takes. For example, `seed` becomes
// predict.seed. run.root becomes predict.out, because other programs use it for outputs. Words that
// belong to the run itself are removed.
std::vector<OurWord> words_for_reading(const Vocabulary& known, const std::string& group,
                                       std::vector<OurWord> words) {
  for (OurWord& word : words) {
    if (word.name.starts_with("--") || is_of_step(word.name)) continue;
    const std::string last =
        word.name == "run.root" ? "out" : word.name.substr(word.name.rfind('.') + 1);
    if (const std::string own = cat(group, ".", last); known.has(own)) word.name = own;
  }
  std::erase_if(words,
                [&](const OurWord& word) { return !is_for_reading(known, group, word.name); });
  return words;
}

}  // namespace

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

namespace {

// A file name together with the folder that another name of the line gives. If several give one,
// the last counts.
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

// The meaning of the name on this line. Some commands have their own meaning. Another meaning may
// hold only if certain names are on the same line.
Synonym meaning_here(Synonym synonym, const TypedLine& line) {
  const bool is_beside = std::any_of(line.names.begin(), line.names.end(), [&](const auto& name) {
    return std::find(synonym.beside.begin(), synonym.beside.end(), plain_name(name.name)) !=
           synonym.beside.end();
  });
  if (!synonym.beside.empty() && !is_beside) synonym.ours = synonym.ours_alone;
  if (const MeaningInCommand* const other = meaning_in(synonym, line.flags.group))
    synonym.ours = other->ours;
  return synonym;
}

}  // namespace

bool is_valid(const OptionInfo& option, const std::string& value) {
  try {
    detail::parse_value(option, value);
    return true;
  } catch (const Error&) {
    return false;
  }
}

namespace {

// Another program's value in our form, such as fp16 for 16-mixed, or true for True.
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

// A resumed run keeps its global batch. One of the other two sizes therefore determines both.
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

}  // namespace

std::optional<std::vector<OurWord>> words_alone(const Vocabulary& known, const TypedLine& line,
                                                const TypedName& name, const TypedBatch& batch) {
  const std::string key = plain_name(name.name), &group = line.flags.group;
  const std::string value = name.value.empty() ? unknown_value : name.value;
  std::vector<OurWord> words;
  if (known.has(key))
    words = {{key, value_as_ours(known, key, value)}};
  else if (const std::string own = key_for_reading(known, group, name.name); !own.empty())
    words = {{own, value_as_ours(known, own, value)}};
  else if (!group.empty() && batch_name(known, name.name) == BatchName::per_device &&
           meaning_in(*find_synonym(known.synonyms, name.name), group) == nullptr)
    words = {{"eval.batch", value}};
  else if (line.flags.resumes() && batch_name(known, name.name) != BatchName::none)
    words = batch_words_for_resume(known, line, name, value);
  else if (const Synonym* const synonym = find_synonym(known.synonyms, name.name);
           synonym != nullptr && !group.empty() && !checkpoint_meant(*synonym, name.value).empty())
    words = checkpoint_meant(*synonym, name.value) == "best" ? std::vector<OurWord>{{"--best", ""}}
                                                             : std::vector<OurWord>{};
  else if (synonym != nullptr)
    words = written_here(meaning_here(*synonym, line), in_its_folder(*synonym, line, name.value),
                         batch);
  else if (is_own_name(known, name.name))
    words = {{in_its_groups(known, key).front(), value}};
  else
    return std::nullopt;
  replace_kinds(line.flags, name.value, words);
  return group.empty() || known.has(key) ? words
                                         : words_for_reading(known, group, std::move(words));
}

}  // namespace lockstep::cli
