// Combinations of parameters, ranges, and what is left out and added.
#include "tools/jobs/matrix/matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/error_of.h"
#include "job_fixtures.h"
#include "tools/jobs/matrix/matrix_range.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// "a=1 b=x" of each job.
std::vector<std::string> combinations(const std::string& matrix) {
  std::vector<std::string> all;
  for (const Job& job : read_jobs("command = [\"true\"]\n" + matrix).jobs) {
    std::string line;
    for (const auto& [name, value] : job.parameters)
      line += (line.empty() ? "" : " ") + name + "=" + value;
    all.push_back(line);
  }
  return all;
}

std::string matrix_error(const std::string& matrix) {
  return error_of([&] { combinations(matrix); });
}

TEST(Matrix, TheLastKeyOfTheFileIsTheFastest) {
  EXPECT_THAT(combinations("[matrix]\nz = [1, 2]\na = [\"x\", true]\n"),
              ElementsAre("z=1 a=x", "z=1 a=true", "z=2 a=x", "z=2 a=true"));
}

TEST(Matrix, KeepsNumbersAsTheyAreWritten) {
  EXPECT_THAT(combinations("matrix = {x = [1.0, 1e-3, 1_000, 0x10, 2022-01-31]}\n"),
              ElementsAre("x=1.0", "x=1e-3", "x=1000", "x=16", "x=2022-01-31"));
}

TEST(Matrix, ValuesInOneTableGoTogether) {
  EXPECT_THAT(combinations("[matrix]\nsize = [{w = 1, h = 2}, {w = 3, h = 4}]\ns = [5, 6]\n"),
              ElementsAre("w=1 h=2 s=5", "w=1 h=2 s=6", "w=3 h=4 s=5", "w=3 h=4 s=6"));
  EXPECT_THAT(matrix_error("matrix = {size = [{w = 1, h = 2}, {w = 3}]}\n"),
              HasSubstr("must have values for w, h"));
}

TEST(Matrix, LeavesOutWhatAgreesInAllThatIsNamed) {
  EXPECT_THAT(combinations("exclude = [{lr = 1e-1, n = 2}, {n = [3, 4]}]\n"
                           "matrix = {lr = [0.1, 0.2], n = [1, 2, 3, 4]}\n"),
              ElementsAre("lr=0.1 n=1", "lr=0.2 n=1", "lr=0.2 n=2"));
  EXPECT_THAT(matrix_error("exclude = [{lr = 1}]\nmatrix = {lr = [1]}\n"),
              HasSubstr("the matrix is empty"));
  EXPECT_THAT(matrix_error("exclude = [{lt = 1}]\nmatrix = {lr = [1]}\n"),
              AllOf(HasSubstr("line 2: exclude names lt"), HasSubstr("did you mean lr?")));
}

// The example of GitHub's documentation.
TEST(Matrix, IncludesAsGitHubActionsDoes) {
  EXPECT_THAT(combinations("matrix = {fruit = [\"apple\", \"pear\"], animal = [\"cat\", \"dog\"]}\n"
                           "include = [{color = \"green\"}, {color = \"pink\", animal = \"cat\"},\n"
                           "{fruit = \"apple\", shape = \"circle\"}, {fruit = \"banana\"},\n"
                           "{fruit = \"banana\", animal = \"cat\"}]\n"),
              ElementsAre("fruit=apple animal=cat color=pink shape=circle",
                          "fruit=apple animal=dog color=green shape=circle",
                          "fruit=pear animal=cat color=pink", "fruit=pear animal=dog color=green",
                          "fruit=banana", "fruit=banana animal=cat"));
}

TEST(Matrix, IncludeAloneIsAListOfJobs) {
  EXPECT_THAT(combinations("include = [{a = 1}, {a = 2, b = 3}]\n"), ElementsAre("a=1", "a=2 b=3"));
}

TEST(Matrix, RefusesWhatIsNoMatrix) {
  EXPECT_THAT(matrix_error("matrix = {}\n"), HasSubstr("line 2: the matrix is empty"));
  EXPECT_THAT(matrix_error("matrix = {x = []}\n"), HasSubstr("the matrix is empty"));
  EXPECT_THAT(matrix_error("matrix = 3\n"), HasSubstr("must be a table"));
  EXPECT_THAT(matrix_error("matrix = {x = [[1]]}\n"), HasSubstr("is a list"));
  EXPECT_THAT(matrix_error("matrix = {out = [1]}\n"), HasSubstr("cannot be called out"));
  EXPECT_THAT(matrix_error("matrix = {\"a b\" = [1]}\n"), HasSubstr("\"a b\" cannot be the name"));
  EXPECT_THAT(matrix_error("matrix = {x = {form = 1, to = 2}}\n"), HasSubstr("did you mean from?"));
  EXPECT_THAT(matrix_error("matrix = {x = [1], p = [{x = 2}]}\n"), HasSubstr("twice"));
  EXPECT_THAT(matrix_error("include = [1]\n"), HasSubstr("list of tables"));
}

TEST(NumberRange, CountsInDecimalsExactly) {
  EXPECT_THAT(number_range("0.1", "0.5", "0.1"), ElementsAre("0.1", "0.2", "0.3", "0.4", "0.5"));
  EXPECT_THAT(number_range("1", "8", "3"), ElementsAre("1", "4", "7"));
  EXPECT_THAT(number_range("3", "1", "-1"), ElementsAre("3", "2", "1"));
  EXPECT_THAT(number_range("1e-4", "3e-4", "1e-4"), ElementsAre("0.0001", "0.0002", "0.0003"));
  EXPECT_THAT(number_range("-1", "1", "1"), ElementsAre("-1", "0", "1"));
  EXPECT_THAT(number_range("1e3", "2e3", "500"), ElementsAre("1000", "1500", "2000"));
}

TEST(NumberRange, RefusesWhatLeadsNowhere) {
  EXPECT_THAT(error_of([] { number_range("1", "2", "0"); }), HasSubstr("has no values"));
  EXPECT_THAT(error_of([] { number_range("2", "1", "1"); }), HasSubstr("has no values"));
  EXPECT_THAT(error_of([] { number_range("a", "1", "1"); }), HasSubstr("a range counts numbers"));
  EXPECT_THAT(error_of([] { number_range("1e-200", "1e200", "1"); }), HasSubstr("numbers"));
}

TEST(DateRange, CountsDaysAndMonths) {
  EXPECT_THAT(date_range("2022-01-01", "2022-12-31", "180d"),
              ElementsAre("2022-01-01", "2022-06-30", "2022-12-27"));
  EXPECT_THAT(date_range("2023-10-31", "2024-03-31", "1mo"),
              ElementsAre("2023-10-31", "2023-11-30", "2023-12-31", "2024-01-31", "2024-02-29",
                          "2024-03-31"));
  EXPECT_THAT(date_range("2020-02-29", "2022-03-01", "1y"),
              ElementsAre("2020-02-29", "2021-02-28", "2022-02-28"));
  EXPECT_THAT(date_range("2022-01-15", "2022-01-01", "-1w"),
              ElementsAre("2022-01-15", "2022-01-08", "2022-01-01"));
}

TEST(DateRange, RefusesDaysThatAreNone) {
  EXPECT_THAT(error_of([] { date_range("2022-01-01", "2022-02-30", "1d"); }),
              HasSubstr("\"2022-02-30\" is not a date"));
  EXPECT_THAT(error_of([] { date_range("2022-01-01", "2022-02-01", "1h"); }),
              HasSubstr("no step between dates"));
  EXPECT_THAT(error_of([] { date_range("2022-03-01", "2022-02-01", "1d"); }),
              HasSubstr("has no values"));
}

TEST(Matrix, DatesMayBeWrittenWithoutQuotes) {
  EXPECT_THAT(
      combinations("matrix = {d = {from = 2024-01-01, to = \"2024-01-03\", step = \"2d\"}}\n"),
      ElementsAre("d=2024-01-01", "d=2024-01-03"));
}

}  // namespace
}  // namespace lockstep
