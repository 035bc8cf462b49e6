// Jobs that are added to a ledger again and again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "job_fixtures.h"
#include "ledger_fixtures.h"
#include "tools/jobs/ledger/ledger.h"

namespace lockstep {
namespace {

using ::testing::StartsWith;

class LedgerAdd : public ::testing::Test {
 protected:
  AddedJobs add(const std::string& job_file) {
    return ledger_.add(folder_.read(job_file), /*replaces=*/true);
  }
  std::string name(std::int64_t id) { return ledger_.job(id).name; }

  JobFolder folder_;
  Ledger ledger_ = Ledger::open(folder_.path() / "ledger.sqlite");
};

constexpr const char* a = "[[jobs]]\ncommand = ['echo', 'a']\n";
constexpr const char* b = "[[jobs]]\ncommand = ['echo', 'b']\n";

// Folders and logs are named after jobs: one of two would replace the other's.
TEST_F(LedgerAdd, GivesNoTwoJobsOneName) {
  add(a);
  add(std::string(b) + a);
  EXPECT_EQ(name(1), "1");
  EXPECT_THAT(name(2), StartsWith("1-"));
  EXPECT_EQ(ledger_.find("1"), 1);
  EXPECT_EQ(ledger_.find(name(2)), 2);
}

TEST_F(LedgerAdd, TheNameInTheFileFindsTheJobThatIsThereNow) {
  const auto echo = [](const char* word) {
    return std::string("name = 'x'\ncommand = ['echo', '") + word + "']\n";
  };
  EXPECT_EQ(add(echo("a")).renamed, 0);
  const AddedJobs second = add(echo("b"));
  EXPECT_EQ(second.renamed, 1);
  EXPECT_EQ(second.first_renamed, name(2));
  EXPECT_EQ(ledger_.find("x"), 2);
  EXPECT_EQ(ledger_.find("1"), 1) << "by its number";
  add(echo("c"));
  EXPECT_EQ(ledger_.find("x"), 3);
  EXPECT_EQ(ledger_.find(name(2)), 2) << "by its whole name";
  add(echo("a"));
  EXPECT_EQ(ledger_.find("x"), 1);
  add("name = 'x-y'\ncommand = ['echo', 'd']\n");
  EXPECT_EQ(ledger_.find("x"), 1) << "another name that begins alike";
}

TEST_F(LedgerAdd, ANameThatIsGoneFindsNoJobOfAnotherValue) {
  const auto symbols = [](const std::string& list, const char* word = "echo") {
    return cat("name = '{s}'\ncommand = ['", word, "', '{s}']\nmatrix = {s = [", list, "]}\n");
  };
  add(symbols("'M&M'"));
  EXPECT_EQ(name(1), "M_M");
  add(symbols("'M&M', 'M M'"));
  EXPECT_THAT(name(2), StartsWith("M_M-"));
  EXPECT_EQ(ledger_.find("M_M"), 1);
  add(symbols("'M M'"));
  EXPECT_EQ(ledger_.find("M_M"), 1) << "M&M, which is not in the file any more";
  EXPECT_EQ(ledger_.find(name(2)), 2);
  add(symbols("'M&M', 'M M'", "printf"));
  EXPECT_EQ(ledger_.job(*ledger_.find("M_M")).parameters[0].second, "M&M") << "it was changed";
}

// A name that does not hold the value stays that of the job.
TEST_F(LedgerAdd, ANameFindsTheJobWithAnotherValueThatItDoesNotHold) {
  const auto rate = [](const char* value) {
    return cat("name = 'x{a}'\ncommand = ['echo', '{lr}']\nmatrix = {a = [1], lr = [", value,
               "]}\n");
  };
  add(rate("0.1"));
  add(rate("0.2"));
  EXPECT_EQ(ledger_.find("x1"), 2);
}

TEST_F(LedgerAdd, AKnownJobKeepsItsNameWhereTheFileGivesItToAnother) {
  add("name = 'x'\ncommand = ['echo', 'a']\n");
  add("[[jobs]]\nname = 'y'\ncommand = ['echo', 'a']\n[[jobs]]\nname = 'x'\ncommand = ['echo', "
      "'b']\n");
  EXPECT_EQ(name(1), "x");
  EXPECT_THAT(name(2), StartsWith("x-"));
}

TEST_F(LedgerAdd, TheSameFileAgainChangesNoName) {
  const std::string same = std::string(a) + a;
  add(same);
  const std::string second = name(2);
  const AddedJobs again = add(same);
  EXPECT_EQ(again.added, 0);
  EXPECT_EQ(again.known, 2);
  EXPECT_EQ(name(2), second);
}

// Many are added without the indexes, which are made afterwards.
class LedgerAddMany : public LedgerFolder {
 protected:
  static JobList many() {
    std::vector<std::string> keys;
    for (int i = 0; i < 1500; ++i) keys.push_back("key" + std::to_string(i));
    return small_jobs(keys);
  }
  static std::string indexes(Ledger& ledger) {
    Statement row(ledger.database(),
                  "SELECT group_concat(name) FROM (SELECT name FROM sqlite_master WHERE type = "
                  "'index' AND tbl_name = 'job' ORDER BY name)");
    return row.step() ? row.text(0) : "";
  }
};

TEST_F(LedgerAddMany, HasTheIndexesOfFew) {
  Ledger ledger = open();
  const std::string before = indexes(ledger);
  EXPECT_EQ(ledger.add(many(), true).added, 1500);
  EXPECT_EQ(indexes(ledger), before);
  EXPECT_EQ(before, "job_key,job_name,job_unsynced");
  const AddedJobs again = ledger.add(many(), true);
  EXPECT_EQ(again.added, 0);
  EXPECT_EQ(again.known, 1500);
  EXPECT_EQ(ledger.find("name-key1499"), 1500);
}

TEST_F(LedgerAddMany, OfWhichOneCannotBeWrittenAddsNoneAndTheIndexesStay) {
  Ledger ledger = open();
  const std::string before = indexes(ledger);
  JobList list = many();
  list.jobs[1400].command = {"\xff"};
  EXPECT_THROW(ledger.add(list, true), Error);
  EXPECT_EQ(indexes(ledger), before);
  EXPECT_EQ(ledger.add(small_jobs({"a", "b"}), true).added, 2);
}

TEST_F(LedgerAdd, ANameIsFoundBeforeANumber) {
  add(a);
  add(std::string(a) + b + "name = '1x'\n" + "[[jobs]]\nname = '2x'\ncommand = ['echo', 'c']\n");
  add("[[jobs]]\nname = '2'\ncommand = ['echo', 'd']\n");
  EXPECT_EQ(ledger_.find("2"), 4);
  EXPECT_EQ(ledger_.find("3"), 3);
}

}  // namespace
}  // namespace lockstep
