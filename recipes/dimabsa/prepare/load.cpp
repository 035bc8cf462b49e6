#include "recipes/dimabsa/prepare/load.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <set>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/hash.h"
#include "core/base/philox.h"
#include "core/base/text/text.h"
#include "recipes/dimabsa/sentences/categories.h"
#include "recipes/dimabsa/sentences/files/file_name.h"
#include "recipes/dimabsa/sentences/files/reader.h"
#include "recipes/dimabsa/sentences/made_sentences.h"
#include "recipes/dimabsa/sentences/phrase.h"

namespace lockstep::dimabsa {
namespace {

constexpr std::int64_t made_count = 2000;

std::string language_of(const DimabsaOptions& options, const std::string& path) {
  if (!options.data.language.empty()) return options.data.language;
  const auto name = parse_file_name(path);
  return name ? name->language : "";
}

// Throws Error for a folder, a list or a pattern, because sentences are read from one file.
void check_one_file(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const bool is_folder = fs::is_directory(path, ignored);
  const bool is_several = path.find_first_of(",*?") != std::string::npos;
  if (!is_folder && (!is_several || fs::exists(path, ignored))) return;
  throw Error(cat("sentences are read from one file, but ", path,
                  is_folder ? " is a folder" : " names several"),
              cat("put the files together first, for example: cat ",
                  is_folder ? "FOLDER/*.jsonl" : "a.jsonl b.jsonl",
                  " > all.jsonl; and say what the outputs are named after: data.language=eng "
                  "data.domain=restaurant"));
}

// Phrases that are missing in their texts are kept, because validation uses the file's exact
// content.
SentenceFile read(const DimabsaOptions& options, const std::string& path,
                  const std::vector<std::string>& categories, NotInList not_in_list) {
  check_one_file(path);
  const NotInText how =
      options.data.not_found == NotFound::refuse ? NotInText::refuse : NotInText::keep;
  return read_sentences(path, {.task = options.task(),
                               .labelled = true,
                               .categories = categories,
                               .not_in_list = not_in_list,
                               .not_in_text = how,
                               .out_of_range = options.data.out_of_range,
                               .language = language_of(options, path)});
}

// Calls found(phrase) for each phrase that is missing in its text. Returns the number of such
// phrases.
template <class Sentences, class Found>
std::int64_t for_each_absent(Sentences& sentences, Task task, const Found& found) {
  std::int64_t count = 0;
  for (auto& sentence : sentences)
    for (auto& tuple : sentence.tuples)
      for (auto* const phrase : {&tuple.aspect, &tuple.opinion}) {
        if (phrase == &tuple.opinion && task == Task::aspects) continue;
        if (*phrase == null_phrase || find_phrase(sentence.text, *phrase)) continue;
        found(*phrase);
        ++count;
      }
  return count;
}

const char* phrases(std::int64_t count) { return count == 1 ? " such phrase" : " such phrases"; }

// Replaces missing phrases by NULL in training, because a model can only learn phrases in the text.
void make_absent_null(LoadedSentences& loaded, Task task) {
  const std::int64_t count =
      for_each_absent(loaded.train, task, [](std::string& phrase) { phrase = null_phrase; });
  if (count > 0)
    loaded.warnings.push_back(
        cat(count, phrases(count), count == 1 ? " counts" : " count", " as NULL in training"));
}

void tell_absent_gold(LoadedSentences& loaded, Task task) {
  if (task == Task::aspects) return;  // this task gives the aspects
  const std::int64_t count = for_each_absent(loaded.valid, task, [](const std::string&) {});
  if (count > 0)
    loaded.warnings.push_back(cat(count, phrases(count), count == 1 ? " stays" : " stay",
                                  " in the sentences that are evaluated: no prediction has it"));
}

std::vector<std::string> categories_in(const std::vector<Sentence>& sentences) {
  std::set<std::string> found;
  for (const Sentence& sentence : sentences)
    for (const Tuple& tuple : sentence.tuples)
      if (!tuple.category.empty()) found.insert(tuple.category);
  return {found.begin(), found.end()};
}

void split(std::vector<Sentence> all, const DimabsaOptions& options, LoadedSentences& loaded) {
  const std::vector<bool> is_valid =
      choose_valid(all.size(), options.data.valid_share, options.data.split_seed);
  for (std::size_t i = 0; i < all.size(); ++i)
    (is_valid[i] ? loaded.valid : loaded.train).push_back(std::move(all[i]));
}

void add_warnings(SentenceFile& file, LoadedSentences& loaded) {
  for (std::string& line : file.warnings) loaded.warnings.push_back(std::move(line));
}

std::vector<std::string> wanted_categories(const DimabsaOptions& options,
                                           const std::vector<std::string>& categories) {
  if (options.task() != Task::quadruplets || !categories.empty() || options.data.categories.empty())
    return categories;
  return read_categories(options.data.categories);
}

std::string hash_of(const std::string& path) {
  return path.empty() ? "" : hash128_hex(read_file(path, list_bytes));
}

}  // namespace

std::vector<bool> choose_valid(std::size_t count, double share, std::int64_t seed) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(static_cast<std::uint64_t>(seed), RandomStream::order, 0, 0);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  auto wanted = static_cast<std::size_t>(std::llround(static_cast<double>(count) * share));
  if (share > 0 && count > 1) wanted = std::clamp<std::size_t>(wanted, 1, count - 1);
  std::vector<bool> is_valid(count, false);
  for (std::size_t i = 0; i < std::min(wanted, count); ++i) is_valid[order[i]] = true;
  return is_valid;
}

LoadedSentences load_sentences(const DimabsaOptions& options,
                               const std::vector<std::string>& categories) {
  LoadedSentences loaded;
  loaded.categories = wanted_categories(options, categories);
  if (options.made()) {
    const auto seed = static_cast<std::uint64_t>(options.data.split_seed);
    split(made_sentences(made_count, seed, options.task()), options, loaded);
    if (options.task() == Task::quadruplets) loaded.categories = made_categories();
  } else {
    SentenceFile file = read(options, options.data.path, loaded.categories, NotInList::refuse);
    add_warnings(file, loaded);
    if (options.data.valid_path.empty())
      split(std::move(file.sentences), options, loaded);
    else
      loaded.train = std::move(file.sentences);
    make_absent_null(loaded, options.task());
    tell_absent_gold(loaded, options.task());
  }
  if (options.task() == Task::quadruplets && loaded.categories.empty()) {
    loaded.categories = categories_in(loaded.train);
    const std::vector<std::string> others = categories_in(loaded.valid);
    std::set<std::string> all(others.begin(), others.end());
    all.insert(loaded.categories.begin(), loaded.categories.end());
    loaded.categories.assign(all.begin(), all.end());
    if (all.empty())
      throw Error(cat("there is no category in the data: no sentence of ", options.data.path,
                      " has a quadruplet"),
                  "take a file that has some, or name the domain's categories in a file, one a "
                  "line: data.categories=FILE");
    loaded.warnings.push_back(cat("data.categories is not given: the ", all.size(),
                                  " categories of the training data are taken"));
  }
  if (!options.data.valid_path.empty()) {
    LoadedSentences gold =
        load_gold(options, options.data.valid_path, loaded.categories, NotInList::refuse);
    loaded.valid = std::move(gold.valid);
    loaded.warnings.insert(loaded.warnings.end(), gold.warnings.begin(), gold.warnings.end());
  }
  return loaded;
}

LoadedSentences load_gold(const DimabsaOptions& options, const std::string& path,
                          const std::vector<std::string>& categories, NotInList not_in_list) {
  LoadedSentences loaded;
  loaded.categories = categories;
  SentenceFile file = read(options, path, categories, not_in_list);
  add_warnings(file, loaded);
  loaded.valid = std::move(file.sentences);
  tell_absent_gold(loaded, options.task());
  return loaded;
}

nlohmann::json hashes_of(const DimabsaOptions& options) {
  return {{"path", hash_of(options.data.path)}, {"valid_path", hash_of(options.data.valid_path)}};
}

nlohmann::json hashes_of_those_there(const DimabsaOptions& options) {
  const auto hash = [](const std::string& path) {
    std::error_code ignored;
    const bool is_there = path.empty() || std::filesystem::is_regular_file(path, ignored);
    return is_there ? hash_of(path) : std::string("missing");
  };
  return {{"path", hash(options.data.path)}, {"valid_path", hash(options.data.valid_path)}};
}

}  // namespace lockstep::dimabsa
