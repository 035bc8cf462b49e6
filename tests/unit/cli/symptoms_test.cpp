// The page of symptoms, and what `lockstep help WORD …` finds on it.
#include "cli/symptoms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/cells.h"
#include "base/files.h"
#include "base/text.h"
#include "checkout_paths.h"

namespace lockstep::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view small_page = R"(# Symptoms
What comes before the first section is left out.

## It hangs
Also: `NCCL_TIMEOUT`, stuck

- **Cause.** A rank waits, and
  the others do too.
- **What to do.** `lockstep doctor` ([why a GPU
  idles](idle-gpus.md#what-it-finds)).

## It is slow
Also: stuck at 50 %

- **Cause.** Timeouts are **rare** here.
)";

std::vector<std::string> titles_about(const std::vector<Symptom>& all, const std::string& words) {
  std::vector<std::string> titles;
  for (const Symptom& one : symptoms_about(all, words)) titles.push_back(one.title);
  return titles;
}

std::vector<Symptom> those_of_the_guide() {
  return symptoms_in(read_file(LOCKSTEP_SOURCE_DIR "/docs/guide/symptoms.md"));
}

TEST(Symptoms, AreTheSectionsOfThePage) {
  const std::vector<Symptom> all = symptoms_in(small_page);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].title, "It hangs");
  EXPECT_EQ(all[0].also, "`NCCL_TIMEOUT`, stuck");
  using Part = std::pair<std::string, std::string>;
  EXPECT_THAT(all[0].parts,
              ElementsAre(Part("Cause", "A rank waits, and the others do too."),
                          Part("What to do",
                               "`lockstep doctor` (why a GPU idles: docs/guide/idle-gpus.md).")));
  EXPECT_THAT(all[1].parts, ElementsAre(Part("Cause", "Timeouts are rare here.")));
  EXPECT_THAT(symptoms_in(""), IsEmpty());
}

TEST(Symptoms, AreFoundByTheirTitleAndByWhatTheyAreAlsoCalled) {
  const std::vector<Symptom> all = symptoms_in(small_page);
  EXPECT_THAT(titles_about(all, "hang"), ElementsAre("It hangs"));
  EXPECT_THAT(titles_about(all, "the nccl_timeout!"), ElementsAre("It hangs"));
  EXPECT_THAT(titles_about(all, "Stuck"), ElementsAre("It hangs", "It is slow"));
  EXPECT_THAT(titles_about(all, "stuck slow"), ElementsAre("It is slow"));  // has more of them
  EXPECT_THAT(titles_about(all, "50"), ElementsAre("It is slow"));
  EXPECT_THAT(titles_about(all, "rare"), IsEmpty());  // in the text alone
  EXPECT_THAT(titles_about(all, "st"), IsEmpty());    // too short for a beginning
  EXPECT_THAT(titles_about(all, ""), IsEmpty());
  EXPECT_THAT(titles_about(all, "it is"), ElementsAre("It is slow"));  // no other words
}

TEST(Symptoms, OfTheGuideAreFoundInTheWordsOfThoseWhoSearch) {
  const std::vector<Symptom> all = those_of_the_guide();
  const std::pair<const char*, const char*> searches[] = {
      {"only one GPU", "Only one GPU is used"},
      {"second GPU", "Only one GPU is used"},
      {"uneven", "Uneven GPU utilization"},
      {"NCCL timeout", "NCCL timeout"},
      {"out of memory on the second GPU", "Out of memory on the second GPU"},
      {"OOM", "CUDA out of memory"},
      {"protobuf", "Protobuf warnings"},
      {"MessageFactory GetPrototype", "Protobuf warnings"},
      {"mixed precision", "Mixed precision"},
      {"GradScaler", "Mixed precision"},
      {"gradient accumulation", "Gradient accumulation"},
      {"process group not initialized", "Process group not initialized"},
      {"gpu_device_id", "LightGBM uses one GPU"},
      {"CUDA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES has no effect"},
      {"num_workers", "Slow data loading"},
      {"driver too old", "The NVIDIA driver is too old"},
      {"module prefix", "Checkpoint has other names"},
  };
  for (const auto& [words, title] : searches) {
    const std::vector<std::string> titles = titles_about(all, words);
    ASSERT_FALSE(titles.empty()) << words;
    EXPECT_THAT(titles, ::testing::Contains(title)) << words;
    EXPECT_LE(titles.size(), 4u) << words << ": " << join(titles, "; ");
  }
}

TEST(Symptoms, OfTheGuideHaveACauseWhatToDoAndWhatDiffers) {
  const std::vector<Symptom> all = those_of_the_guide();
  EXPECT_GT(all.size(), 15u);
  for (const Symptom& one : all) {
    EXPECT_FALSE(one.also.empty()) << one.title;
    std::vector<std::string> names;
    for (const auto& [name, what] : one.parts) {
      names.push_back(name);
      EXPECT_THAT(what, Not(::testing::AnyOf(HasSubstr("**"), HasSubstr("](")))) << one.title;
    }
    EXPECT_THAT(names, ElementsAre("Cause", "What to do", "In Lockstep")) << one.title;
  }
}

TEST(Symptoms, AreShownInFullUpToThree) {
  std::vector<Symptom> found(5, symptoms_in(small_page).front());
  for (std::size_t i = 0; i < found.size(); ++i) found[i].title = cat("title ", i);
  const std::string text = help_on(found, 60);
  EXPECT_THAT(text, HasSubstr("title 2\n  Also: `NCCL_TIMEOUT`, stuck\n  Cause: A rank waits"));
  EXPECT_THAT(text, HasSubstr("There too: title 3; title 4\n"));
  EXPECT_THAT(text, HasSubstr("All symptoms: docs/guide/symptoms.md\n"));
  for (const std::string& line : split(text, '\n')) EXPECT_LE(cells_of(line), 60) << line;
}

}  // namespace
}  // namespace lockstep::cli
