#include "recipes/dimabsa/prepare/load.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "plan/philox.h"
#include "recipes/dimabsa/sentences/categories.h"
#include "recipes/dimabsa/sentences/file_name.h"
#include "recipes/dimabsa/sentences/made_sentences.h"
#include "recipes/dimabsa/sentences/reader.h"

namespace lockstep::dimabsa {
namespace {

constexpr std::int64_t made_count = 2000;

std::string language_of(const DimabsaOptions& options, const std::string& path) {
  if (!options.data.language.empty()) return options.data.language;
  const auto name = parse_file_name(path);
  return name ? name->language : "";
}

SentenceFile read(const DimabsaOptions& options, const std::string& path, NotInText not_in_text,
                  const std::vector<std::string>& categories) {
  return read_sentences(path, {.task = options.task(),
                               .labelled = true,
                               .categories = categories,
                               .not_in_text = not_in_text,
                               .language = language_of(options, path)});
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
  return path.empty() ? "" : hash128_hex(read_file(path));
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
    const NotInText how =
        options.data.not_found == NotFound::refuse ? NotInText::refuse : NotInText::null;
    SentenceFile file = read(options, options.data.path, how, loaded.categories);
    add_warnings(file, loaded);
    if (options.data.valid_path.empty())
      split(std::move(file.sentences), options, loaded);
    else
      loaded.train = std::move(file.sentences);
  }
  if (options.task() == Task::quadruplets && loaded.categories.empty()) {
    loaded.categories = categories_in(loaded.train);
    const std::vector<std::string> others = categories_in(loaded.valid);
    std::set<std::string> all(others.begin(), others.end());
    all.insert(loaded.categories.begin(), loaded.categories.end());
    loaded.categories.assign(all.begin(), all.end());
    loaded.warnings.push_back(cat("data.categories is not given: the ", all.size(),
                                  " categories of the training data are taken"));
  }
  if (!options.data.valid_path.empty()) {
    LoadedSentences gold = load_gold(options, options.data.valid_path, loaded.categories);
    loaded.valid = std::move(gold.valid);
    loaded.warnings.insert(loaded.warnings.end(), gold.warnings.begin(), gold.warnings.end());
  }
  return loaded;
}

LoadedSentences load_gold(const DimabsaOptions& options, const std::string& path,
                          const std::vector<std::string>& categories) {
  LoadedSentences loaded;
  loaded.categories = categories;
  SentenceFile file = read(options, path, NotInText::keep, categories);
  add_warnings(file, loaded);
  loaded.valid = std::move(file.sentences);
  return loaded;
}

nlohmann::json hashes_of(const DimabsaOptions& options) {
  return {{"path", hash_of(options.data.path)}, {"valid_path", hash_of(options.data.valid_path)}};
}

}  // namespace lockstep::dimabsa
