// The page of symptoms.
#include "tools/cli/help/symptoms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkout_paths.h"
#include "core/base/files/files.h"
#include "core/base/text/cells.h"
#include "core/base/text/text.h"

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

// Not every recipe can take a smaller micro-batch.
TEST(Symptoms, OfMemorySayWhatHoldsForAMicroBatchOfOne) {
  int found = 0;
  for (const Symptom& one : those_of_the_guide())
    if (one.title == "CUDA out of memory" || one.title == "Out of memory on the second GPU") {
      ++found;
      EXPECT_THAT(one.parts.back().second,
                  ::testing::AllOf(HasSubstr("fewshot"), HasSubstr("memory.recompute=auto")))
          << one.title;
    }
  EXPECT_EQ(found, 2);
}

// With DataParallel, launch would start a full training in each process.
TEST(Symptoms, ThatSendToLaunchSayToChangeTheScriptFirst) {
  for (const Symptom& one : those_of_the_guide()) {
    const auto& [what, does] = one.parts.at(1);
    if (one.title == "Uneven GPU utilization" || one.title == "DataParallel is slow") {
      EXPECT_THAT(does, ::testing::AllOf(HasSubstr("DistributedDataParallel"),
                                         HasSubstr("docs/guide/notebooks.md")))
          << one.title << " " << what;
      EXPECT_LT(does.find("DistributedDataParallel"), does.find("lockstep launch")) << one.title;
    }
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

TEST(Symptoms, AreShownInFull) {
  const std::string text = symptom_text(symptoms_in(small_page).front(), 60);
  EXPECT_THAT(text, HasSubstr("It hangs\n  Also: `NCCL_TIMEOUT`, stuck\n  Cause: A rank waits"));
  for (const std::string& line : split(text, '\n')) EXPECT_LE(cells_of(line), 60) << line;
}

}  // namespace
}  // namespace lockstep::cli
