// Tables and pictures of an evaluation, and what becomes of them on the disk.
#include "runtime/run/predictions/evaluation_output.h"

#include "core/base/files/files.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

namespace fs = std::filesystem;

const ItemTable table{
    .columns = {"id", "text", "score", "good", "n"},
    .rows = {{"a", "x, \"y\"\nz", 0.1, true, std::int64_t{3}},
             {"b", {}, std::numeric_limits<double>::quiet_NaN(), false, std::int64_t{-1}}}};

TEST(ItemTable, IsWrittenAsCsvThatReadsBack) {
  EXPECT_EQ(to_csv(table),
            "id,text,score,good,n\na,\"x, \"\"y\"\"\nz\",0.1,true,3\nb,,nan,false,-1\n");
}

TEST(ItemTable, IsWrittenAsJsonInTheOrderOfTheColumns) {
  const std::string text = to_json_text(table);
  EXPECT_EQ(text.substr(0, 20), "[\n{\"id\":\"a\",\"text\":\"");
  const auto read = nlohmann::json::parse(text);
  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].at("score"), 0.1);
  EXPECT_TRUE(read[1].at("score").is_null());
  EXPECT_TRUE(read[1].at("text").is_null());
  EXPECT_EQ(to_json_text({.columns = {"a"}, .rows = {}}), "[\n]\n");
}

TEST(ItemTable, NamesWhatIsWrongWithIt) {
  EXPECT_EQ(fault_of(table), "");
  EXPECT_EQ(fault_of({.columns = {"a", "a"}, .rows = {}}), "two columns are named a");
  EXPECT_EQ(fault_of({.columns = {""}, .rows = {}}), "a column has no name");
  EXPECT_EQ(fault_of({.columns = {"a", "b"}, .rows = {{1.0, 2.0}, {1.0}}}),
            "row 1 has 1 cells, but there are 2 columns");
}

std::vector<std::string> names(const fs::path& folder) {
  std::vector<std::string> found;
  if (fs::exists(folder))
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.is_regular_file()) found.push_back(fs::relative(entry.path(), folder).string());
  std::sort(found.begin(), found.end());
  return found;
}

TEST(EvaluationOutput, IsWrittenWholeIntoTheFoldersOfItsStep) {
  const TemporaryDirectory run;
  EvaluationOutput output(run.path(), 12);
  output.picture("slice-3", "png", std::string("\x89PNG"));
  output.table("pairs", {.columns = {"a"}, .rows = {{1.5}}});
  output.set_items(table);
  EXPECT_TRUE(write_output(output, "{}\n").empty());
  EXPECT_EQ(names(run.path()),
            (std::vector<std::string>{
                "evaluations/step-000000012/items.csv", "evaluations/step-000000012/items.json",
                "evaluations/step-000000012/metrics.json", "evaluations/step-000000012/pairs.csv",
                "evaluations/step-000000012/pairs.json", "media/step-000000012/slice-3.png"}));
  EXPECT_EQ(read_file(output.media_folder() / "slice-3.png"), "\x89PNG");
  EvaluationOutput again(run.path(), 12);
  again.set_items({.columns = {"a"}, .rows = {}});
  EXPECT_TRUE(write_output(again, "{}\n").empty());
  EXPECT_EQ(read_file(again.folder() / "items.csv"), "a\n");
  EXPECT_FALSE(fs::exists(again.folder() / "pairs.csv")) << "the older files are replaced";
  EXPECT_FALSE(fs::exists(again.media_folder())) << "pictures of the evaluation before";
  EXPECT_EQ(std::distance(fs::directory_iterator(run.path() / "evaluations"), {}), 1)
      << "the older folder is gone";
}

TEST(EvaluationOutput, WithAMarkHasFoldersOfItsOwnThatStay) {
  const TemporaryDirectory run;
  for (const char* mark : {"", "abc"}) {
    EvaluationOutput output(run.path(), 12, {}, mark);
    output.picture("p", "png", "x");
    output.set_items(table);
    EXPECT_TRUE(write_output(output, "{}").empty());
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(run.path() / "evaluations"), {}), 2);
  prune_outputs(run.path(), 0);
  EXPECT_FALSE(fs::exists(run.path() / "evaluations/step-000000012"));
  EXPECT_TRUE(fs::exists(run.path() / "evaluations/step-000000012-abc/items.csv"));
  EXPECT_TRUE(fs::exists(run.path() / "media/step-000000012-abc/p.png"));
}

TEST(EvaluationOutput, LeavesOutNamesThatAreNoFileNames) {
  EvaluationOutput output("/nowhere", 1);
  const std::string long_name(300, 'a');
  for (const std::string& name :
       std::vector<std::string>{"../x", "a/b", "", ".hidden", "a\nb", long_name})
    output.picture(name, "png", "bytes");
  output.picture("a", "p/../g", "bytes");
  EXPECT_TRUE(output.files().empty());
  ASSERT_EQ(output.problems().size(), 7U);
  EXPECT_EQ(output.problems()[0], "\"../x.png\" is no name of a file");
}

TEST(EvaluationOutput, KeepsTheFirstPicturesAndEncodesNoOthers) {
  EvaluationOutput output("/nowhere", 1, {.pictures = 2});
  int encoded = 0;
  for (const char* name : {"a", "b", "c"})
    output.picture(name, "png", [&] {
      ++encoded;
      return std::string("bytes");
    });
  EXPECT_EQ(encoded, 2);
  EXPECT_EQ(output.files().size(), 2U);
  EXPECT_TRUE(output.problems().empty()) << "a limit is no fault";
}

TEST(EvaluationOutput, IsBoundedInRowsAndBytes) {
  EvaluationOutput output("/nowhere", 1, {.rows = 1, .bytes = 40});
  output.table("t", {.columns = {"a"}, .rows = {{1.0}, {2.0}}});
  output.picture("big", "png", std::string(41, 'x'));
  EXPECT_EQ(output.files()[0].bytes, "a\n1\n");
  ASSERT_EQ(output.problems().size(), 2U);
  EXPECT_EQ(output.problems()[0],
            "of the 2 rows of the table t the first 1 are written (eval.table_rows)");
}

TEST(EvaluationOutput, OfManyRanksIsThatOfOne) {
  EvaluationOutput first("/nowhere", 1, {.pictures = 3}), second("/nowhere", 1, {.pictures = 3});
  first.picture("a", "png", "1");
  first.picture("b", "png", std::string("\0", 1));
  second.picture("c", "png", "3");
  second.picture("d", "png", "4");
  second.picture("/", "png", "4");
  EvaluationOutput all("/nowhere", 1, {.pictures = 3});
  all.add_packed(first.packed());
  all.add_packed(second.packed());
  ASSERT_EQ(all.files().size(), 3U);
  EXPECT_EQ(all.files()[1].bytes, std::string("\0", 1));
  EXPECT_EQ(all.files()[2].name, "c.png");
  EXPECT_EQ(all.problems().size(), 1U);
}

TEST(EvaluationOutput, ThatCannotBeWrittenSaysSo) {
  const TemporaryDirectory run;
  write_file_atomic(run.path() / "evaluations", "in the way");
  EvaluationOutput output(run.path(), 12);
  output.set_items(table);
  const auto problems = write_output(output, "{}\n");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_THAT(problems[0], ::testing::EndsWith("evaluations: Not a directory"));
}

TEST(EvaluationOutput, FollowsNoLinkOutOfTheRun) {
  const TemporaryDirectory run, elsewhere;
  fs::create_directory_symlink(elsewhere.path(), run.path() / "evaluations");
  fs::create_directories(elsewhere.path() / "step-000000001");
  EvaluationOutput output(run.path(), 12);
  output.set_items(table);
  EXPECT_EQ(write_output(output, "{}\n").size(), 1U);
  prune_outputs(run.path(), 0);
  EXPECT_TRUE(fs::exists(elsewhere.path() / "step-000000001"));
}

TEST(PruneOutputs, KeepsTheNewestAndTheBest) {
  const TemporaryDirectory run;
  for (const std::int64_t step : {1, 2, 3, 4, 5}) {
    EvaluationOutput output(run.path(), step);
    output.picture("p", "png", "x");
    output.set_items(table);
    EXPECT_TRUE(write_output(output, step <= 2 ? "{\"best\": true}" : "{\"best\": false}").empty());
  }
  const fs::path killed = run.path() / "evaluations/.tmp-step-000000009",
                 written = run.path() / "media/.tmp-step-000000009";
  fs::create_directories(killed);
  fs::create_directories(written);
  fs::last_write_time(killed, fs::file_time_type::clock::now() - std::chrono::hours(1));
  prune_outputs(run.path(), 2);
  EXPECT_FALSE(fs::exists(killed));
  EXPECT_TRUE(fs::exists(written)) << "it may be under way";
  for (const char* folder : {"evaluations", "media"}) {
    EXPECT_FALSE(fs::exists(run.path() / folder / "step-000000001"));
    EXPECT_TRUE(fs::exists(run.path() / folder / "step-000000002")) << "the best";
    EXPECT_FALSE(fs::exists(run.path() / folder / "step-000000003"));
    EXPECT_TRUE(fs::exists(run.path() / folder / "step-000000004"));
    EXPECT_TRUE(fs::exists(run.path() / folder / "step-000000005"));
  }
}

TEST(EvaluationOutput, ThatCannotBeWrittenAreProblemsAndNoException) {
  const std::string too_long(5000, 'x');
  EXPECT_FALSE(write_output(EvaluationOutput(too_long, 3), "{}").empty());
}

}  // namespace
}  // namespace lockstep
