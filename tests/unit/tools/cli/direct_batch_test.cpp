#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/files/write_all.h"
#include "core/base/process/descriptors.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"
#include "tools/cli/direct.h"
#include "tools/jobs/job_file/job_file.h"

namespace lockstep::cli {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

struct ToyOptions : DirectOptions {
  ToyOptions() {
    add_common_options();
    table.add("part", part, {.meaning = "which part"});
    table.add("parts", parts, {.meaning = "how many parts", .min = 1});
    table.add("leaves", leaves, {.meaning = "of a tree", .min = 2});
    table.add("rate", rate, {.meaning = "of learning"});
    table.add("threads", threads, {.meaning = "of a job", .min = 1});
    table.add("on_cpu", on_cpu, {.meaning = "without a GPU"});
    table.add("note", note, {.meaning = "any text"});
  }
  DirectResult train(const DirectContext&) const override { return {}; }
  DirectBatch plan_batch() const override {
    DirectBatch batch{.keys = {"part"},
                      .rows = {},
                      .job_name = "{part}",
                      .only_batch = {"parts"},
                      .recorded = {"parts"},
                      .outputs = {"model.txt"},
                      .more_options = {"rate={gpu}"},
                      .cpus = threads,
                      .cpus_key = "threads",
                      .gpus = "0.25"};
    if (on_cpu) {
      batch.more_options.clear();
      batch.gpus = "0";
    }
    batch.notes = {cat(parts, " parts")};
    if (leaves == 3) batch.left_out = {"z: it is \"bad\""};
    if (leaves > 100) batch.notes.push_back("these are many leaves");
    if (rate > 1) {
      batch.skipped = static_cast<std::size_t>(parts);
      batch.why_skipped = "part a, because it is too fast";
    }
    for (int i = 0; i < parts; ++i)
      batch.rows.push_back({std::string(1, static_cast<char>('a' + i))});
    return batch;
  }
  std::string part, note;
  std::int64_t parts = 2, leaves = 31, threads = 1;
  double rate = 0.1;
  bool on_cpu = false;
};

const DirectRecipe toy{.name = "toy", .summary = "is a toy", .make_options = [] {
                         return std::make_unique<ToyOptions>();
                       }};

std::string named_b(const DirectJobs&) { return "b"; }

std::string toml(std::vector<std::string> assignments) {
  Parsed parsed;
  parsed.assignments = std::move(assignments);
  return direct_jobs(toy, parsed, "/bin/lockstep", named_b).toml;
}

TEST(DirectJobs, HaveTheGivenOptionsInTheCommandAndTheRestInTheMatrix) {
  const std::string text = toml({"leaves=63", "parts=3"});
  EXPECT_THAT(text, HasSubstr("command = [\"/bin/lockstep\", \"train\", \"toy\", "
                              "\"leaves=63\", \"rate={gpu}\", \"part={part}\"]\n"));
  EXPECT_THAT(text, HasSubstr("name = \"{part}\"\n"));
  EXPECT_THAT(text, HasSubstr("env = {LOCKSTEP_BATCH = \"b\", LOCKSTEP_BATCH_OPTIONS = "
                              "\"parts=3\"}\n"));
  EXPECT_THAT(toml({"leaves=63"}), HasSubstr("env = {LOCKSTEP_BATCH = \"b\"}\n"));
  EXPECT_THAT(text, HasSubstr("skip_codes = [3]\n"));
  EXPECT_THAT(text, HasSubstr("gpus = 0.25\n"));
  EXPECT_THAT(text, HasSubstr("  {\"part\" = \"a\"},\n  {\"part\" = \"b\"},\n"));
  EXPECT_THAT(toml({"rate=0.5"}), Not(HasSubstr("{gpu}")));
}

TEST(DirectJobs, HaveAnAxisForEachOptionWithAList) {
  const std::string text = toml({"leaves=63, 127", "rate=0.1,0.2"});
  EXPECT_THAT(text, HasSubstr("\"leaves\" = [\"63\", \"127\"]\n\"rate\" = [\"0.1\", \"0.2\"]"));
  EXPECT_THAT(text, HasSubstr("\"leaves={leaves}\", \"rate={rate}\", \"part={part}\""));
  EXPECT_THAT(text, HasSubstr("name = \"{part},leaves={leaves},rate={rate}\""));
  Parsed parsed;
  parsed.assignments = {"leaves=63,127,255", "parts=4"};
  EXPECT_EQ(direct_jobs(toy, parsed, "x", named_b).jobs, 12);
}

// Twice the same jobs would count double in all results.
TEST(DirectJobs, HaveAValueThatIsGivenTwiceOnce) {
  Parsed parsed;
  parsed.assignments = {"leaves=63,31,63,63"};
  const DirectJobs made = direct_jobs(toy, parsed, "x", named_b);
  EXPECT_EQ(made.jobs, 4);
  EXPECT_THAT(made.toml, HasSubstr("\"leaves\" = [\"63\", \"31\"]"));
  EXPECT_THAT(made.notes,
              ElementsAre("2 parts", "leaves=63 is given more than once: it is one setting",
                          "each with 2 settings: 4 jobs"));
  parsed.assignments = {"rate=0.10,0.1,0.2"};
  const DirectJobs other = direct_jobs(toy, parsed, "x", named_b);
  EXPECT_THAT(other.toml, HasSubstr("\"rate\" = [\"0.10\", \"0.2\"]"));
  EXPECT_THAT(other.notes, Contains("rate=0.1 is given more than once: it is one setting"));
}

TEST(DirectJobs, HaveAnAxisForEachOptionWithAListInAFile) {
  const TemporaryDirectory folder;
  const std::string file = folder.path() / "a.toml", later = folder.path() / "b.toml";
  write_file_atomic(file, "leaves = [63, 127]\nnote = [\"a,b\", \"c\"]\nparts = 3\n");
  write_file_atomic(later, "note = \"d\"\n");
  const auto with = [](std::vector<std::string> files, std::vector<std::string> assignments) {
    Parsed parsed;
    parsed.values["--config"] = std::move(files);
    parsed.assignments = std::move(assignments);
    return direct_jobs(toy, parsed, "x", named_b);
  };
  const DirectJobs made = with({file}, {});
  EXPECT_EQ(made.jobs, 12);
  EXPECT_THAT(made.toml, AllOf(HasSubstr("\"leaves\" = [\"63\", \"127\"]"),
                               HasSubstr("\"note\" = [\"a,b\", \"c\"]")));
  EXPECT_EQ(with({file, later}, {}).jobs, 6) << "the later file has one value";
  const DirectJobs typed = with({file, later}, {"leaves=31"});
  EXPECT_EQ(typed.jobs, 3) << "the command line wins";
  EXPECT_THAT(typed.toml, HasSubstr("\"leaves=31\""));
  write_file_atomic(file, "leaves = [63, \"many\"]\n");
  EXPECT_THAT(error_of([&] { with({file}, {}); }), HasSubstr("leaves"));
  write_file_atomic(later, "leaves = []\n");
  EXPECT_THAT(error_of([&] { with({file, later}, {}); }), HasSubstr("leaves must be a whole"));
}

// As a shell gives it for <(command).
TEST(DirectJobs, TakeTheOptionsOfAFileThatCanBeReadOnce) {
  Pipe pipe = make_pipe();
  ASSERT_TRUE(write_all(pipe.write.get(), "leaves = 63\n"));
  pipe.write.reset();
  Parsed parsed;
  parsed.values["--config"] = {cat("/proc/self/fd/", pipe.read.get())};
  EXPECT_THAT(direct_jobs(toy, parsed, "x", named_b).toml, HasSubstr("\"leaves=63\""));
}

TEST(DirectJobs, NeedWhatTheirOwnSettingsNeed) {
  const TemporaryDirectory folder;
  for (const char* const where : {"on_cpu=true,false", "on_cpu=false,true"}) {
    const std::string text = toml({where, "leaves=63,127", "threads=1,3"});
    EXPECT_THAT(text, HasSubstr("\"leaves\" = [\"63\", \"127\"]")) << "needs are the same";
    write_file_atomic(folder.path() / "b.toml", text);
    const JobList list = read_job_file(folder.path() / "b.toml");
    ASSERT_EQ(list.jobs.size(), 16u);
    for (const Job& job : list.jobs) {
      const std::map<std::string, std::string> is(job.parameters.begin(), job.parameters.end());
      EXPECT_EQ(job.gpus.share, is.at("on_cpu") == "true" ? 0 : 0.25) << job.name;
      EXPECT_EQ(job.cpus, is.at("threads") == "1" ? 1 : 3) << job.name;
      EXPECT_EQ(job.name, cat(is.at("part"), ",on_cpu=", is.at("on_cpu"),
                              ",leaves=", is.at("leaves"), ",threads=", is.at("threads")));
      EXPECT_EQ(std::count(job.command.begin(), job.command.end(), "rate={gpu}"),
                is.at("on_cpu") == "true" ? 0 : 1);
    }
  }
  Parsed parsed;
  parsed.assignments = {"on_cpu=true,false"};
  const DirectJobs made = direct_jobs(toy, parsed, "x", named_b);
  ASSERT_EQ(made.settings.size(), 2u);
  EXPECT_EQ(made.settings[0].gpus, "0");
  EXPECT_EQ(made.settings[1].gpus, "0.25");
}

TEST(DirectJobs, TakeTheCoresThatASearchTriesUnlessThreadsAreGiven) {
  Parsed parsed;
  parsed.values["--search"] = {""};
  const auto searched = [&] { return direct_jobs(toy, parsed, "x", named_b).toml; };
  EXPECT_THAT(searched(), HasSubstr("\"threads={cores}\""));
  for (const char* const threads : {"threads=2", "threads=1,2"}) {
    parsed.assignments = {threads};
    EXPECT_THAT(searched(), Not(HasSubstr("{cores}"))) << threads;
  }
  EXPECT_THAT(toml({}), Not(HasSubstr("{cores}")));
}

TEST(DirectJobs, CheckEveryValueOfAList) {
  EXPECT_THAT(error_of([] { toml({"leaves=63,1"}); }), HasSubstr("leaves"));
  EXPECT_THAT(error_of([] { toml({"parts=2,3"}); }), HasSubstr("other jobs with parts=3"));
  EXPECT_THAT(error_of([] { toml({"part=a,b"}); }), HasSubstr("differs from job to job"));
}

TEST(DirectJobs, SayTheNotesOfEveryCombinationAndWhichOnesHaveThem) {
  Parsed parsed;
  parsed.assignments = {"leaves=31,255"};
  const DirectJobs made = direct_jobs(toy, parsed, "x", named_b);
  EXPECT_THAT(made.notes, ElementsAre("2 parts", "these are many leaves (leaves=255)",
                                      "each with 2 settings: 4 jobs"));
  ASSERT_EQ(made.settings.size(), 2u);
  EXPECT_EQ(made.settings[1].words, "leaves=255");
  EXPECT_THAT(made.settings[1].one_job, ElementsAre("leaves=255", "part=b"));
  parsed.assignments = {"leaves=31,127,255", "rate=0.1,0.2"};
  EXPECT_THAT(direct_jobs(toy, parsed, "x", named_b).notes,
              Contains("these are many leaves (with 4 of 6 settings)"));
}

TEST(DirectJobs, AreRefusedWhereAllWouldBeSkipped) {
  EXPECT_THAT(error_of([] { toml({"rate=2,3"}); }),
              HasSubstr("each of the 4 jobs would be skipped; the first, part a, because it is"));
  EXPECT_THAT(toml({"rate=0.5,2"}), HasSubstr("rate={rate}"));
}

TEST(DirectJobs, NameWhatIsLeftOutOnce) {
  EXPECT_THAT(toml({"leaves=3,4", "rate=0.1,0.2"}),
              HasSubstr("\nleft_out = [\"z: it is \\\"bad\\\"\"]\n"));
  EXPECT_THAT(toml({"leaves=4"}), Not(HasSubstr("left_out")));
}

// A file of an earlier version has no options that its jobs only record.
TEST(DirectJobs, AreTheSameWhateverIsLeftOutAndRecorded) {
  const std::string text = toml({"leaves=3", "parts=2"}), earlier = toml({"leaves=3"});
  ASSERT_NE(text, earlier);
  EXPECT_TRUE(have_same_jobs(text, earlier));
  std::string other_reason = text;
  other_reason.replace(other_reason.find("bad"), 3, "old");
  EXPECT_TRUE(have_same_jobs(text, other_reason));
  std::string without = text;
  const std::size_t line = without.find("left_out = ");
  without.erase(line, without.find('\n', line) + 1 - line);
  EXPECT_TRUE(have_same_jobs(text, without));
  EXPECT_FALSE(have_same_jobs(text, toml({"leaves=3", "parts=3"})));
  EXPECT_FALSE(have_same_jobs(text, toml({"leaves=4", "parts=2"})));
  std::string edited = text;
  edited.replace(edited.find("\"b\", "), 5, "\"b\", A = \"1\", ");
  EXPECT_FALSE(have_same_jobs(text, edited));
}

TEST(DirectJobs, TakeUpWhatWasLeftOutAndNothingElse) {
  const std::string all = toml({"leaves=3"});
  const std::size_t row = all.find("  {\"part\" = \"b\"");
  ASSERT_NE(row, std::string::npos);
  std::string earlier = all;
  earlier.erase(row, earlier.find('\n', row) + 1 - row);
  EXPECT_FALSE(takes_up_left_out(all, earlier)) << "somebody may have taken the job out";
  earlier.replace(earlier.find("[\"z: "), 5, "[\"b: ");
  EXPECT_TRUE(takes_up_left_out(all, earlier));
  EXPECT_FALSE(takes_up_left_out(earlier, all)) << "a job is gone";
  EXPECT_FALSE(takes_up_left_out(toml({"leaves=4"}), earlier));
}

TEST(DirectJobs, NameTheCommandThatMakesThemAnew) {
  Parsed parsed;
  parsed.assignments = {"leaves=3", "note=a b"};
  parsed.values["--slots"] = {"2"};
  EXPECT_EQ(direct_jobs(toy, parsed, "x", named_b).made_by,
            "lockstep batch toy leaves=3 'note=a b' --slots 2 --name b");
}

// --search puts {cores} into the command of the jobs, so that they are others without it.
TEST(DirectJobs, NameAllFlagsOfTheirCommand) {
  Parsed parsed;
  parsed.values = {{"--search", {""}},
                   {"--share", {""}},
                   {"--name", {"b"}},
                   {"--expect", {"gpu_activity>=40%", "failed<=15%"}}};
  const DirectJobs made = direct_jobs(toy, parsed, "x", named_b);
  EXPECT_EQ(made.made_by,
            "lockstep batch toy --expect 'gpu_activity>=40%' --expect 'failed<=15%' --search "
            "--share --name b");
  EXPECT_THAT(made.toml, Not(HasSubstr("made_by"))) << "earlier versions read the file, too";
}

TEST(DirectJobs, KeepBracesOfValues) {
  EXPECT_THAT(toml({"note=a{b}"}), HasSubstr("\"note=a{{b}\""));
}

}  // namespace
}  // namespace lockstep::cli
