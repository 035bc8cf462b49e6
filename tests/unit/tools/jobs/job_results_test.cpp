// What a job says of itself: what is taken, and what is too much.
#include "tools/jobs/job_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/base/files/files.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class JobResultsTest : public ::testing::Test {
 protected:
  JobResults read(const std::string& text) const {
    std::ofstream(file(), std::ios::binary) << text;
    return read_job_results(file());
  }
  std::filesystem::path file() const { return folder_.path() / "events.jsonl"; }
  TemporaryDirectory folder_;
};

TEST_F(JobResultsTest, ALineHasOneOrSeveralAmongLinesOfOtherKinds) {
  const JobResults results = read(
      "{\"phase\": \"train\", \"seconds\": 1}\n{\"result\": \"auc\", \"value\": 0.5}\nno JSON\n"
      "{\"results\": {\"data\": \"a1\", \"rows\": 1200}}\n"
      "{\"result\": \"auc\", \"value\": 0.75}");
  EXPECT_THAT(results.values, ElementsAre(JobResult{"auc", 0.75}, JobResult{"data", "a1"},
                                          JobResult{"rows", 1200.0}));
  EXPECT_EQ(results.left_out, "");
}

TEST_F(JobResultsTest, AFileThatIsNotThereHasNone) {
  EXPECT_TRUE(read_job_results(file()).values.empty());
}

TEST_F(JobResultsTest, AValueIsANumberATextOrABoolean) {
  const JobResults results =
      read("{\"results\": {\"good\": true, \"list\": [1, 2], \"none\": null}}\n");
  EXPECT_THAT(results.values, ElementsAre(JobResult{"good", 1.0}));
  EXPECT_EQ(results.left_out, "list is neither a number nor a text; and 1 more");
}

// As Python's json.dumps writes them.
TEST_F(JobResultsTest, NumbersThatAreNotFiniteAreKeptByTheirNamesAndSoAreTheirNeighbours) {
  const JobResults results = read(
      "{\"result\": \"loss\", \"value\": NaN}\n"
      "{\"results\": {\"high\": Infinity, \"accuracy\": 0.5, \"low\": -Infinity, "
      "\"of\": \"say \\\"NaN\"}}\n");
  EXPECT_THAT(results.values,
              ElementsAre(JobResult{"loss", "NaN"}, JobResult{"accuracy", 0.5},
                          JobResult{"high", "Infinity"}, JobResult{"low", "-Infinity"},
                          JobResult{"of", "say \"NaN"}));
  EXPECT_EQ(results.left_out, "");
}

TEST_F(JobResultsTest, ALineThatWasMeantAndIsNoneIsSaid) {
  EXPECT_EQ(read("{\n \"result\": \"auc\",\n \"value\": 0.5\n}\n").left_out,
            "a line is no JSON object (one has to be on one line):  \"result\": \"auc\",");
  EXPECT_EQ(read("{\"result\": \"auc\"}\n").left_out,
            "\"result\" must be a name, with \"value\" beside it: {\"result\": \"auc\"}");
  EXPECT_EQ(read("{\"results\": 5}\n").left_out,
            "\"results\" must be an object of names and values: {\"results\": 5}");
  EXPECT_EQ(read("{\"phase\": \"x\", \"text\": \"no \\\"result\"}\n").left_out, "");
}

TEST_F(JobResultsTest, WhatIsTooMuchIsSaidAndTheRestIsKept) {
  std::string lines;
  for (std::size_t i = 0; i < most_results + 3; ++i)
    lines += cat("{\"result\": \"r", i, "\", \"value\": ", i, "}\n");
  EXPECT_EQ(read(lines).values.size(), most_results);
  EXPECT_EQ(read(lines).left_out, "r200 is beyond the 200 that are kept; and 2 more");
  EXPECT_THAT(
      read(cat("{\"result\": \"x\", \"value\": \"", std::string(1001, 'x'), "\"}\n")).left_out,
      HasSubstr("x is a text of more than 1000 bytes"));
  EXPECT_THAT(read(cat("{\"result\": \"", std::string(101, 'x'), "\", \"value\": 1}\n")).left_out,
              HasSubstr("is not one line of 1 to 100 bytes"));
}

TEST_F(JobResultsTest, OfAFloodOnlyTheBeginningIsRead) {
  const std::string line =
      "{\"phase\": \"x\", \"seconds\": 1, \"text\": \"" + std::string(1000, 'x') + "\"}\n";
  std::string flood = "{\"result\": \"first\", \"value\": 1}\n";
  while (flood.size() < most_event_bytes + 100'000) flood += line;
  const JobResults results = read(flood + "{\"result\": \"last\", \"value\": 1}\n");
  EXPECT_THAT(results.values, ElementsAre(JobResult{"first", 1.0}));
  EXPECT_EQ(results.left_out, "what is beyond the first 16 MiB of the file");
}

TEST_F(JobResultsTest, ALinkIsNotFollowed) {
  std::ofstream(folder_.path() / "other") << "{\"result\": \"x\", \"value\": 1}\n";
  std::filesystem::create_symlink("other", file());
  EXPECT_TRUE(read_job_results(file()).values.empty());
}

}  // namespace
}  // namespace lockstep
