// Names and keys of jobs: by content, and each once.
#include "tools/jobs/job_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "fakes/error_of.h"
#include "job_fixtures.h"
#include "tools/jobs/job_key.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST(JobNames, ArePlainNamesOfFiles) {
  EXPECT_EQ(plain_job_name("lr=0.1,file=a/b c"), "lr=0.1,file=a_b_c");
  EXPECT_EQ(plain_job_name("..."), "_...");
  EXPECT_EQ(plain_job_name("-x"), "_-x");
  EXPECT_EQ(plain_job_name("größe"), "größe");
  EXPECT_EQ(plain_job_name("a$(b)`*"), "a__b___");
}

TEST(JobNames, LongOnesAreCutAndKeepAHash) {
  const std::string a = plain_job_name(std::string(200, 'x') + "1");
  const std::string b = plain_job_name(std::string(200, 'x') + "2");
  EXPECT_THAT(a, SizeIs(longest_job_name));
  EXPECT_NE(a, b);
  std::string wide = "x";
  for (int i = 0; i < 100; ++i) wide += "é";
  EXPECT_EQ(plain_job_name(wide).substr(89, 3), "é-");
}

TEST(JobNames, WhatTheyCannotHoldIsShownBesideThem) {
  const JobList list = read_words({"f", ":::", "a b", "a/b", "a-b"});
  EXPECT_EQ(shown_name(list.jobs[0]), list.jobs[0].name + " (1=a b)");
  EXPECT_EQ(shown_name(list.jobs[1]), list.jobs[1].name + " (1=a/b)");
  EXPECT_EQ(shown_name(list.jobs[2]), "1=a-b");
  EXPECT_THAT(shown_name(read_words({"f", ":::", "a\x1b[2J"}).jobs[0]),
              HasSubstr(R"((1=a\x1b[2J))"));
  EXPECT_THAT(shown_name(read_words({"f", ":::", std::string(500, '/')}).jobs[0]),
              HasSubstr("//…)"));
}

TEST(JobNames, EqualJobsAreCounted) {
  const JobList list = read_words({"f", ":::", "a", "a", "b", "a"});
  EXPECT_THAT(names_of(list), ElementsAre("1=a", "1=a-repeat-2", "1=b", "1=a-repeat-3"));
  EXPECT_THAT(names_of(read_words({"f", ":::", "0", "0"})), ElementsAre("1=0", "1=0-repeat-2"))
      << "1=0.2 would be the name of another value";
  std::set<std::string> keys;
  for (const Job& job : list.jobs) keys.insert(job.key);
  EXPECT_THAT(keys, SizeIs(4));
  EXPECT_EQ(list.jobs[1].key, read_words({"f", ":::", "a", "a"}).jobs[1].key);
}

TEST(JobNames, DifferentJobsOfOneNameGetAPieceOfTheirKey) {
  const std::string one = "[[jobs]]\ncommand = [\"f\"]\nmatrix = {x = [1]}\n";
  const std::string two = "[[jobs]]\ncommand = [\"g\"]\nmatrix = {x = [1]}\n";
  const JobFolder folder;
  const JobList list = folder.read(one + two), turned = folder.read(two + one);
  EXPECT_EQ(list.jobs[0].name, "x=1-" + list.jobs[0].key.substr(0, 8));
  EXPECT_EQ(list.jobs[0].name, turned.jobs[1].name);
  EXPECT_EQ(list.jobs[1].name, turned.jobs[0].name);
}

TEST(JobNames, OfATemplateThatDifferInReplacedCharactersGetAPieceOfTheirKey) {
  const JobList list =
      read_jobs("command = [\"f\"]\nname = \"{s}_1\"\nmatrix = {s = [\"M&M\", \"M M\", \"MM\"]}\n");
  ASSERT_EQ(list.jobs.size(), 3u);
  for (const std::size_t i : {0, 1})
    EXPECT_EQ(list.jobs[i].name, "M_M_1-" + list.jobs[i].key.substr(0, 8));
  EXPECT_EQ(list.jobs[2].name, "MM_1");
}

TEST(JobNames, ATemplateTellsJobsApart) {
  EXPECT_THAT(error_of([] {
                read_jobs("command = [\"f\"]\nname = \"n{a}\"\nmatrix = {a = [1], b = [1, 2]}\n");
              }),
              HasSubstr("gives several jobs the name n1"));
  EXPECT_THAT(error_of([] {
                read_jobs("command = [\"f\"]\n[[jobs]]\nname = \"x\"\n[[jobs]]\nname = \"x\"\n");
              }),
              HasSubstr("line 4: the name x is taken"));
}

TEST(JobKey, IsThatOfTheContentAlone) {
  Job job;
  job.command = {"a", "bc"};
  job.parameters = {{"x", "1"}, {"y", "2"}};
  const std::string key = job_key(job, 0);
  EXPECT_EQ(key, "55a813e1bd082157166dfb312a65f90a")
      << "pinned: a change makes every batch run again";
  Job same = job;
  same.number = 9;
  same.name = "n";
  same.cpus = 8;
  same.priority = 1;
  same.retries = 4;
  same.after = {"k"};
  same.timeout_s = 3;
  same.parameters = {{"y", "2"}, {"x", "1"}};
  same.environment = {{"LOCKSTEP_BATCH_OPTIONS", "days=9"}};
  EXPECT_EQ(job_key(same, 0), key);
  EXPECT_NE(job_key(job, 1), key);
  const auto differs = [&](auto change) {
    Job other = job;
    change(other);
    return job_key(other, 0) != key;
  };
  EXPECT_TRUE(differs([](Job& other) { other.command = {"ab", "c"}; }));
  EXPECT_TRUE(differs([](Job& other) { other.shell = true; }));
  EXPECT_TRUE(differs([](Job& other) { other.environment = {{"A", "1"}}; }));
  EXPECT_TRUE(differs([](Job& other) { other.folder = "/x"; }));
  EXPECT_TRUE(differs([](Job& other) { other.outputs = {"m"}; }));
  EXPECT_TRUE(differs([](Job& other) { other.parameters[0].second = "3"; }));
}

}  // namespace
}  // namespace lockstep
