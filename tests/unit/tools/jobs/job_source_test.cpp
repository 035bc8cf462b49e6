// Jobs that are made one by one are those of the whole list.
#include "tools/jobs/job_file/job_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "job_fixtures.h"
#include "tools/jobs/job_json.h"

namespace lockstep {
namespace {

struct Case {
  const char* name;
  const char* file;
};

void PrintTo(const Case& which, std::ostream* out) { *out << which.name; }

class JobSources : public ::testing::TestWithParam<Case> {
 protected:
  static std::vector<std::string> texts(const JobList& list) {
    std::vector<std::string> all;
    for (const Job& job : list.jobs) all.push_back(text(job));
    return all;
  }
  static std::vector<std::string> texts(const JobSource& source) {
    std::vector<std::string> all;
    source.each([&](const Job& job) { all.push_back(text(job)); });
    return all;
  }
  static std::string text(const Job& job) {
    return std::to_string(job.number) + " " + job.name + " " + job.key + " " + job.kind + " " +
           job_json(job);
  }

  JobFolder folder_;
};

TEST_P(JobSources, GiveTheJobsOfTheListAgainAndAgain) {
  const JobList list = folder_.read(GetParam().file);
  const JobSource source = job_file_source(folder_.write("jobs.toml", GetParam().file));
  EXPECT_EQ(source.size(), list.jobs.size());
  EXPECT_EQ(texts(source), texts(list));
  EXPECT_EQ(texts(source), texts(list));
  EXPECT_EQ(texts(source.list()), texts(list));
  EXPECT_EQ(source.limits().min_finished, list.limits.min_finished);
  EXPECT_EQ(source.wants_gpu(), std::string(GetParam().file).find("gpus") != std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    OfEveryForm, JobSources,
    ::testing::Values(
        Case{"Plain",
             "command = ['echo', '{a}', '{b}']\nmin_finished = 7\n[matrix]\na = [1, 2]\nb = "
             "['x', 'y z', 'ü']\n"},
        Case{"WithoutParameters", "command = ['true']\n"},
        Case{"OfSeveralGroups",
             "gpus = 1\n[[jobs]]\nname = 'a'\ncommand = ['echo', '{i}']\nmatrix = "
             "{i = [1, 2]}\n[[jobs]]\nname = 'b'\ncommand = ['true']\n"},
        Case{"EqualInAll", "command = ['echo']\n[matrix]\ni = [1, 1, 2]\n"},
        Case{"EqualInTheirNamesAlone",
             "[[jobs]]\ncommand = ['echo', 'a']\nname = 'x{i}'\nmatrix = {i = [1]}\n"
             "[[jobs]]\ncommand = ['echo', 'b']\nname = 'x{i}{j}'\nmatrix = {i = [1], j = ['']}\n"},
        Case{"EqualInTheirNamesOfFilesAlone",
             "command = ['echo', '{i}']\nname = '{i}'\n[matrix]\ni = ['a b', 'a_b', 'a&b']\n"},
        Case{"ThatInclude", "command = ['echo', '{i}']\ninclude = [{i = 9}]\n[matrix]\ni = [1]\n"},
        Case{"ThatExclude",
             "command = ['echo', '{i}']\nexclude = [{i = [1, 3]}]\n[matrix]\ni = [1, 2, 3]\n"},
        Case{"ThatWait",
             "[[jobs]]\nname = 'a'\ncommand = ['true']\n[[jobs]]\nname = 'b'\nafter = "
             "'a'\ncommand = ['false']\n"}),
    [](const auto& tested) { return tested.param.name; });

TEST(JobSource, RefusesWhatTheListRefuses) {
  const JobFolder folder;
  for (const char* file :
       {"command = ['echo', '{nothing}']\n", "command = ['echo']\n[matrix]\ni = []\n",
        "command = ['echo']\nname = '{i}'\n[matrix]\ni = ['a']\nj = [1, 2]\n",
        "[[jobs]]\nname = 'a'\ncommand = ['a']\n[[jobs]]\nname = 'a'\ncommand = ['b']\n"}) {
    EXPECT_THROW(job_file_source(folder.write("jobs.toml", file)), Error) << file;
    EXPECT_THROW(folder.read(file), Error) << file;
  }
}

}  // namespace
}  // namespace lockstep
