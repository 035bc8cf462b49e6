// What must hold of the sources as a whole.
#include "checkout.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <set>
#include <vector>

namespace lockstep {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> sources(const fs::path& folder) {
  const std::set<std::string> kinds{".h", ".cpp", ".cu", ".txt"};
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && kinds.contains(entry.path().extension().string()))
      files.push_back(entry.path());
  return files;
}

// Lines of `folder`'s sources, with where they are.
struct Line {
  std::string place, text;  // "src/core/base/text/text.h:12"
};
std::vector<Line> lines(const fs::path& folder) {
  std::vector<Line> all;
  for (const fs::path& file : sources(folder)) {
    int number = 0;
    for (const std::string& text : split(read_file(file), '\n'))
      all.push_back({cat(file.lexically_relative(root).string(), ":", ++number), text});
  }
  return all;
}

// Lines that match, as FILE:LINE: TEXT. Only those with one of the words are looked at closely,
// which takes a tenth of the time.
std::vector<std::string> matches(const fs::path& folder, const std::vector<std::string>& words,
                                 const std::string& pattern) {
  const std::regex regex(pattern, std::regex::icase);
  std::vector<std::string> found;
  for (const Line& line : lines(folder)) {
    std::string lower = line.text;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (std::none_of(words.begin(), words.end(), [&](const std::string& word) {
          return lower.find(word) != std::string::npos;
        }))
      continue;
    if (std::regex_search(line.text, regex)) found.push_back(line.place + ": " + trim(line.text));
  }
  return found;
}

// What is included by "…" or <…>: the path as it is written.
struct Include : Line {
  std::string path;
};
std::vector<Include> includes(const fs::path& folder) {
  std::vector<Include> all;
  for (const Line& line : lines(folder)) {
    const std::string text = trim(line.text);
    if (!text.starts_with("#")) continue;
    const std::string word = trim(text.substr(1));
    const std::size_t begin = word.find_first_of("\"<");
    if (!word.starts_with("include") || begin == std::string::npos) continue;
    const std::size_t end = word.find_first_of("\">", begin + 1);
    all.push_back({line, word.substr(begin + 1, end - begin - 1)});
  }
  return all;
}
// Of these, as FILE:LINE: TEXT, those of which the path begins with one of the words.
std::vector<std::string> beginning(const std::vector<Include>& all,
                                   const std::vector<std::string>& words) {
  std::vector<std::string> found;
  for (const Include& include : all)
    for (const std::string& word : words)
      if (include.path.starts_with(word)) found.push_back(include.place + ": " + include.text);
  return found;
}

std::string listed(const std::vector<std::string>& lines) { return join(lines, "\n"); }

TEST(Repository, SrcKnowsNothingOfText) {
  const std::vector<std::string> words{"textgen", "tokeniz", "perplexity", "bits_per_byte", "gpt"};
  EXPECT_EQ(listed(matches(root / "src", words, join(words, "|"))), "");
}

// A volume is also a word of others, so only its name as a recipe counts.
TEST(Repository, SrcKnowsNoRecipe) {
  std::vector<std::string> words;
  for (const auto& recipe : fs::directory_iterator(root / "recipes"))
    if (recipe.is_directory()) words.push_back(recipe.path().filename().string());
  ASSERT_GE(words.size(), 5U);
  std::vector<std::string> patterns;
  for (const std::string& word : words)
    patterns.push_back(word == "volume" ? R"(\"volume\"|recipes/volume|(train|plan) volume\b)"
                                        : cat(R"(\b)", word, R"(\b)"));
  EXPECT_EQ(listed(matches(root / "src", words, join(patterns, "|"))), "");
}

TEST(Repository, NoShellIsStarted) {
  for (const char* folder : {"src", "recipes"})
    EXPECT_EQ(listed(matches(root / folder, {"system", "popen", "execl", "/bin/"},
                             R"(\bsystem\(|popen\(|\bexecl|/bin/(ba)?sh)")),
              "");
}

// What these do not write is printable: a name or a value from outside steers no terminal.
TEST(Repository, PeopleAreShownTextInOnePlace) {
  const std::vector<std::string> ways{
      "src/core/base/text/say.cpp",       // `say` and what is drawn anew
      "src/core/base/check.cpp",          // words of the sources alone
      "src/tools/cli/train/repeats.cpp",  // in a signal's handler: printable
      "src/tools/cli/context.cpp"};       // `print`
  const std::vector<std::string> words{"cout",       "cerr",   "clog",      "printf",
                                       "puts",       "putc",   "perror",    "fwrite",
                                       "std::print", "write(", "write_all("};
  const std::string pattern =
      R"(std::(cout|cerr|clog)\b(?!\.flush\(\))|\bv?[fd]?printf\(|\bf?put(s|c|char)\()"
      R"(|\bperror\(|\bfwrite\(|std::print|\bwrite(_all)?\((1|2|STD(OUT|ERR)_FILENO)\b)";
  for (const char* folder : {"src", "recipes"})
    for (const std::string& line : matches(root / folder, words, pattern))
      EXPECT_TRUE(std::any_of(ways.begin(), ways.end(), [&](const std::string& file) {
        return line.starts_with(file);
      })) << line;
}

TEST(Repository, RecipesDoNotIncludeEachOther) {
  std::vector<std::string> recipes;
  for (const auto& entry : fs::directory_iterator(root / "recipes"))
    if (entry.is_directory()) recipes.push_back(entry.path().filename());
  EXPECT_GT(recipes.size(), 1U);
  for (const std::string& one : recipes) {
    std::vector<std::string> others;
    for (const std::string& other : recipes)
      if (other != one) others.push_back("recipes/" + other + "/");
    EXPECT_EQ(listed(beginning(includes(root / "recipes" / one), others)), "");
  }
}

TEST(Repository, EverySourceSaysWhatItIsFor) {
  for (const char* folder : {"src", "recipes", "tests/fakes", "examples"})
    for (const fs::path& file : sources(root / folder)) {
      const bool has_header = fs::exists(fs::path(file).replace_extension(".h"));
      if (file.extension() == ".txt" || (file.extension() == ".cpp" && has_header)) continue;
      EXPECT_NE(read_file(file).substr(0, 300).find("// "), std::string::npos) << file;
    }
}

}  // namespace
}  // namespace lockstep
