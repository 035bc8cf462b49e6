// Comments and pages are understood in one reading, as far as that can be counted: the subject
// comes first, and sentences are short.
#include "checkout.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "prose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

// Places that are not rewritten yet, with today's counts. A count may only fall: lower it here when
// it does, and remove the line when nothing is left. All other places have the limits of `done`.
struct Ceiling {
  std::string place;
  std::size_t awkward = 0;  // sentences that open late or say "of which"
  double mean_words = 18;   // of the sentences of a page; comments are not measured
};
const Ceiling done;
const std::vector<Ceiling> not_done{
    // Its labels "What to do", which `lockstep help` shows.
    {"docs/guide/symptoms.md", 31},
};

struct Prose {
  int sentences = 0, words = 0;
  std::vector<std::string> awkward;

  void add(const std::string& paragraph) {
    for (const std::string& sentence : sentences_of(paragraph)) {
      ++sentences;
      words += words_in(sentence);
      if (opens_late(sentence) || says_of_which(sentence)) awkward.push_back(sentence);
    }
  }
  double mean_words() const { return sentences == 0 ? 0 : double(words) / sentences; }
};

// A source of a recipe counts to the recipe, one of src/ to the folder that CMake compiles.
std::string place_of(const fs::path& file) {
  fs::path folder = file.parent_path();
  while (!fs::exists(folder / "CMakeLists.txt")) folder = folder.parent_path();
  const fs::path below = folder.lexically_relative(root);
  if (*below.begin() == "src") return below;
  return cat("recipes/", std::next(below.begin())->string());
}

// By place: a folder of src/ or recipes/ with its comments ("src/core/base"), or a page.
std::map<std::string, Prose> read_prose() {
  std::map<std::string, Prose> places;
  for (const char* top : {"src", "recipes"})
    for (const auto& entry : fs::recursive_directory_iterator(root / top))
      if (const fs::path kind = entry.path().extension();
          kind == ".h" || kind == ".cpp" || kind == ".cuh" || kind == ".cu") {
        for (const std::string& paragraph : comments_of(read_file(entry.path())))
          places[place_of(entry.path())].add(paragraph);
      }
  for (const char* top : {"docs/design", "docs/guide"})
    for (const auto& entry : fs::directory_iterator(root / top))
      if (entry.path().extension() == ".md")
        for (const std::string& paragraph : paragraphs_of(read_file(entry.path())))
          places[entry.path().lexically_relative(root)].add(paragraph);
  return places;
}

const std::map<std::string, Prose>& prose_of_the_checkout() {
  static const std::map<std::string, Prose> places = read_prose();
  return places;
}

const Ceiling& ceiling_of(const std::string& place) {
  for (const Ceiling& ceiling : not_done)
    if (ceiling.place == place) return ceiling;
  return done;
}

TEST(Words, AreFoundInCommentsOfEveryKind) {
  EXPECT_THAT(comments_of("// One\n// two.\n//\n// Three.\n//   an example\nint a;  // four\n"
                          "        // five\nint b;  // six\n"),
              ElementsAre(" One two.", " Three.", " four five", " six"));
}

TEST(Words, AreThoseOfProseOnPages) {
  EXPECT_THAT(paragraphs_of("# Title\nOne\n`two`.\n\n| table |\n```\ncode\n```\n- An item\n  goes "
                            "on.\n- `option` is left out\n  with this.\n1. Last.\n"),
              ElementsAre(" One `two`.", "  An item goes on.", "  Last."));
}

TEST(Words, FormSentencesThatEndBeforeWhatIsNoSmallLetter) {
  EXPECT_THAT(sentences_of("See `a.b c` (e.g. here). It is [a link](x. Y.md) of 1.5 s. \"So?\" No"),
              ElementsAre("See Code (e.g. here).", "It is a link of 1.5 s.", "\"So?\"", "No"));
  EXPECT_EQ(words_in("One - two, `three`."), 3);
}

TEST(Words, ThatComeBeforeTheSubjectAreCounted) {
  for (const char* text : {"Of two the first.", "(What is left stays.)", "Whoever asks waits.",
                           "Whose turn it is stands here."})
    EXPECT_TRUE(opens_late(text)) << text;
  for (const char* text :
       {"What is left?", "Often.", "Whatever comes.", "The rest of what is left."})
    EXPECT_FALSE(opens_late(text)) << text;
  EXPECT_TRUE(says_of_which("Two rows, of which one is empty."));
  EXPECT_FALSE(says_of_which("Two rows, one empty."));
}

TEST(Words, BeginWithTheSubjectEverywhere) {
  const auto& places = prose_of_the_checkout();
  ASSERT_GT(places.size(), 80U);
  for (const auto& [place, prose] : places)
    EXPECT_LE(prose.awkward.size(), ceiling_of(place).awkward)
        << place << ": begin with the subject, and say no \"of which\":\n"
        << join(prose.awkward, "\n");
}

TEST(Words, AreFewInTheSentencesOfAPage) {
  for (const auto& [place, prose] : prose_of_the_checkout())
    if (place.starts_with("docs/"))
      EXPECT_LE(prose.mean_words(), ceiling_of(place).mean_words)
          << place << ": say one thing a sentence";
}

TEST(Words, HaveCeilingsOnlyWhereThereAreSome) {
  const auto& places = prose_of_the_checkout();
  for (const Ceiling& ceiling : not_done) {
    EXPECT_TRUE(places.contains(ceiling.place)) << ceiling.place;
    EXPECT_TRUE(ceiling.awkward > 0 || ceiling.mean_words > done.mean_words) << ceiling.place;
  }
}

}  // namespace
}  // namespace lockstep
