// What must hold of the pages for readers as a whole.
#include "checkout.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "planning/options/train_options.h"
#include "tools/doctor/finding.h"

#include <fnmatch.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> pages_for_readers() {
  std::vector<fs::path> files{root / "README.md", root / "CHANGELOG.md", root / "CONTRIBUTING.md"};
  for (const char* folder : {"docs", "examples", "bench", "recipes"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.path().extension() == ".md") files.push_back(entry.path());
  return files;
}

// As a heading is named in links: small letters, digits and dashes.
std::string anchor(const std::string& heading) {
  std::string name;
  for (const char c : heading) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) || c == '-' || c == '_' || letter >= 0x80)
      name += static_cast<char>(letter < 0x80 ? std::tolower(letter) : letter);
    else if (c == ' ')
      name += '-';
  }
  return name;
}

bool has_heading(const std::string& page, const std::string& name) {
  for (const std::string& line : split(page, '\n'))
    if (line.starts_with("#") && anchor(line.substr(line.find_first_not_of('#') + 1)) == name)
      return true;
  return false;
}

std::vector<std::string> links_of(const std::string& page) {
  std::vector<std::string> links = found(page, R"(\]\(([^)\s]+)\))", 1);
  for (std::string& picture : found(page, R"re(<(source|img) [^>]*src(set)?="([^"]+)")re", 3))
    links.push_back(std::move(picture));
  return links;
}

TEST(Pages, EveryLinkLeadsToAPlaceThatIsThere) {
  int links = 0;
  for (const fs::path& page : pages_for_readers())
    for (const std::string& link : links_of(read_file(page))) {
      if (link.starts_with("http")) continue;
      const std::size_t mark = std::min(link.find('#'), link.size());
      const fs::path target = mark == 0 ? page : page.parent_path() / link.substr(0, mark);
      ++links;
      ASSERT_TRUE(fs::exists(target)) << page << " links to " << link;
      if (mark < link.size()) {
        EXPECT_TRUE(has_heading(read_file(target), link.substr(mark + 1)))
            << page << " links to " << link;
      }
    }
  EXPECT_GT(links, 50);
}

TEST(Pages, TheIndexOfTheGuidesCountsEachOnce) {
  const fs::path folder = root / "docs/guide";
  const std::string index = read_file(folder / "README.md");
  const std::vector<std::string> numbers = found(index, R"(\n(\d+)\. \[)", 1);
  for (std::size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(numbers[i], std::to_string(i + 1));
  std::vector<std::string> named = found(index, R"(\d+\. \[[^\]]*\]\(([^)]*)\))", 1), there;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename() != "README.md") there.push_back(entry.path().filename());
  std::sort(named.begin(), named.end());
  std::sort(there.begin(), there.end());
  EXPECT_EQ(named, there);
}

// Keys of the rows of a generated page.
std::vector<std::string> options_on(const char* page) {
  return found(read_file(root / "docs/reference" / page), R"(\n\| `([a-z0-9_.]+)` \|)", 1);
}

TEST(Pages, EveryOptionOfTheEngineIsOnItsPageOnceAndOnNoOther) {
  std::vector<std::string> there = options_on("options.md"), keys = TrainOptions().table.keys();
  std::sort(there.begin(), there.end());
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(there, keys);
  const std::vector<std::string> recipes = options_on("textgen.md");
  EXPECT_GT(recipes.size(), 20u);
  for (const std::string& key : recipes)
    EXPECT_FALSE(std::binary_search(keys.begin(), keys.end(), key)) << key;
}

// "optimizer.lr" of "optimizer.lr=VALUE", "params" of "params.max_bin=VALUE".
std::string option_of_word(const std::string& word) {
  const std::string key = word.substr(0, word.find('='));
  return key.starts_with("params.") ? "params" : key;
}

// Of a recipe's page; with those of the engine, where the recipe has them.
std::vector<std::string> options_with_engines(const std::string& page) {
  std::vector<std::string> keys = options_on(page.c_str());
  const bool has_engine =
      read_file(root / "docs/reference" / page).find("has none of its options") ==
      std::string::npos;
  if (has_engine)
    for (std::string& key : options_on("options.md")) keys.push_back(std::move(key));
  return keys;
}

TEST(Pages, EveryNameOfOtherProgramsLeadsToAnOptionOrAFlag) {
  const std::string flags = read_file(root / "docs/reference/commands.md");
  std::string section;
  int words = 0;
  for (const std::string& line : split(read_file(root / "docs/reference/names.md"), '\n')) {
    if (line.starts_with("## "))
      section = line.find('`') == line.npos ? "options" : found(line, "`([a-z]+)`", 1).at(0);
    const std::vector<std::string> cells = split(line, '|');
    if (section.empty() || cells.size() < 5 || !cells[1].starts_with(" `")) continue;
    const std::vector<std::string> keys = options_with_engines(section + ".md");
    for (const std::string& ours : found(cells[3], "`([^`]+)`", 1))
      for (const std::string& word : split(ours, ' ')) {
        const std::string before = word.substr(0, word.find('='));
        if (word.find('=') == word.npos && !word.starts_with("--")) continue;  // a flag's value
        ++words;
        EXPECT_TRUE(word.starts_with("--")
                        ? flags.find("  " + before + " ") != flags.npos
                        : std::find(keys.begin(), keys.end(), option_of_word(word)) != keys.end())
            << word << " of " << line;
      }
  }
  EXPECT_GT(words, 100);
}

TEST(Pages, TheGuideNamesEveryRuleOfTheDoctor) {
  const std::string guide = read_file(root / "docs/guide/idle-gpus.md");
  std::vector<std::string> named = found(guide, R"(\n\| `([a-z-]+)` \|)", 1), there;
  for (const Rule& rule : all_rules()) there.emplace_back(rule.name);
  std::sort(named.begin(), named.end());
  std::sort(there.begin(), there.end());
  EXPECT_EQ(named, there);
}

// The identifiers that follow `macro` and its parenthesis, of each place in the text: "TEST_F(A,
// B)".
std::vector<std::vector<std::string>> arguments_of(const std::string& text,
                                                   const std::string& macro) {
  std::vector<std::vector<std::string>> all;
  for (std::size_t at = text.find(macro + "("); at != std::string::npos;
       at = text.find(macro + "(", at + 1)) {
    const std::size_t begin = at + macro.size() + 1;
    std::vector<std::string> names = split(text.substr(begin, text.find(')', begin) - begin), ',');
    for (std::string& name : names) name = trim(name);
    all.push_back(std::move(names));
  }
  return all;
}

// Names of tests as the pages write them: Suite.Name, and Instance/Suite of those with parameters.
std::vector<std::string> names_of_tests() {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(root / "tests")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string text = read_file(entry.path());
    for (const char* macro : {"TEST", "TEST_F", "TEST_P", "INSTANTIATE_TEST_SUITE_P"})
      for (const std::vector<std::string>& words : arguments_of(text, macro))
        if (words.size() > 1) names.push_back(words[0] + (macro[0] == 'I' ? "/" : ".") + words[1]);
  }
  return names;
}

// "Suite", "Suite.*", "Suite.Name", "Suite.Begin…", "Suite.…End", "Instance/Suite".
bool means(std::string written, const std::string& name) {
  if (written.find_first_of("./") == std::string::npos) written += ".*";
  const std::string dots = "…";
  for (std::size_t at; (at = written.find(dots)) != std::string::npos;)
    written.replace(at, dots.size(), "*");
  return fnmatch(written.c_str(), name.c_str(), 0) == 0;
}

TEST(Pages, EveryTestThatAPromiseNamesIsThere) {
  const std::vector<std::string> tests = names_of_tests();
  int named = 0;
  for (const std::string& line : split(read_file(root / "docs/design/promises.md"), '\n')) {
    const std::size_t cell = line.rfind(" | ");
    if (!line.starts_with("| ") || cell == std::string::npos) continue;
    for (const std::string& name : found(line.substr(cell), R"(`([A-Z][^`]*)`)", 1)) {
      ++named;
      EXPECT_TRUE(std::any_of(tests.begin(), tests.end(), [&name](const std::string& test) {
        return means(name, test);
      })) << name;
    }
  }
  EXPECT_GT(named, 40);
}

}  // namespace
}  // namespace lockstep
