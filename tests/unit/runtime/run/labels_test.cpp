// Tags and notes of runs.
#include "runtime/run/labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/files/files.h"
#include "fakes/error_of.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Labels : public ::testing::Test {
 protected:
  const nlohmann::json record = {{"config", {{"run.tags", {"b", "a", "b"}}, {"run.note", "why"}}}};
  const TemporaryDirectory folder;
};

TEST_F(Labels, AreThoseOfTheOptionsUntilSomebodyChangesThem) {
  const RunLabels first = read_labels(folder.path(), record);
  EXPECT_THAT(first.tags, ElementsAre("a", "b"));
  EXPECT_EQ(first.note, "why");
  write_labels(folder.path(), {.tags = {"z", "c"}, .note = ""});
  const RunLabels changed = read_labels(folder.path(), record);
  EXPECT_THAT(changed.tags, ElementsAre("c", "z"));
  EXPECT_EQ(changed.note, "");
  EXPECT_TRUE(changed.has("z"));
  EXPECT_FALSE(changed.has("a"));
}

TEST_F(Labels, OfDamagedFilesAreNone) {
  std::ofstream(folder.path() / "labels.json") << "{\"tags\": 7, \"note\": [";
  EXPECT_THAT(read_labels(folder.path(), record).tags, ElementsAre("a", "b"))
      << "half a file is none";
  std::ofstream(folder.path() / "labels.json") << "{\"tags\": [1, \"\", \"x\"], \"note\": 3}";
  EXPECT_THAT(read_labels(folder.path(), record).tags, ElementsAre("x"));
  EXPECT_THAT(read_labels("/nowhere", {{"config", 3}}).tags, IsEmpty());
}

TEST_F(Labels, ThatCannotBeTypedAreRefused) {
  for (const char* tag : {"", "a,b", " a", "a\n"})
    EXPECT_THAT(error_of([&] { write_labels(folder.path(), {.tags = {tag}}); }),
                HasSubstr("without commas"))
        << tag;
}

}  // namespace
}  // namespace lockstep
