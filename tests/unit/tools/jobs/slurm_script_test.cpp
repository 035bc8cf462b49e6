#include "tools/jobs/slurm/slurm_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/error_of.h"
#include "ledger_fixtures.h"

namespace lockstep {
namespace {

using ::testing::HasSubstr;

TEST(SlurmScript, TakesTimesAsSlurmAndAsWeWriteThem) {
  for (const char* text : {"90", "4:00:00", "1-12", "2-00:30:00", "UNLIMITED"})
    EXPECT_EQ(slurm_time(text), text);
  EXPECT_EQ(slurm_time("4h30m"), "4:30:00");
  EXPECT_EQ(slurm_time("90s"), "0:01:30");
  EXPECT_EQ(slurm_time("3d"), "72:00:00");
  EXPECT_THAT(error_of([] { slurm_time("soon"); }), HasSubstr("--time must be"));
  EXPECT_THAT(error_of([] { slurm_time("30s"); }), HasSubstr("at least a minute"));
}

TEST(SlurmScript, QuotesWordsForSbatch) {
  EXPECT_EQ(sbatch_word("/runs/a,b=c"), "/runs/a,b=c");
  EXPECT_EQ(sbatch_word("/my runs/a"), "\"/my runs/a\"");
  EXPECT_EQ(sbatch_word("a\"b\\c#d"), "\"a\\\"b\\\\c#d\"");
  EXPECT_EQ(sbatch_word(""), "\"\"");
  EXPECT_THAT(error_of([] { sbatch_word("a\nb"); }), HasSubstr("line break"));
}

TEST(SlurmScript, RefusesOptionsOfSbatchThatItSetsItself) {
  for (const char* text : {"--array=1-2", "-a1-2", "--chdir=/", "-J", "--job-name x", "--wrap=ls"})
    EXPECT_THAT(error_of([&] { check_sbatch_text(text); }), HasSubstr("is set by")) << text;
  for (const char* text : {"--account=a", "-Aa", "--mem 8G", "--constraint=\"a|b\"", "--exclusive"})
    check_sbatch_text(text);
  EXPECT_THAT(error_of([] { check_sbatch_text("account=a"); }),
              HasSubstr("must be an option of sbatch"));
  EXPECT_THAT(error_of([] { check_sbatch_text("--mem=1\nrm x"); }), HasSubstr("one line"));
}

TEST(SlurmScript, GivesATaskCoresForTheJobsThatItsGpusHold) {
  JobList list = small_jobs({"a"});
  Job& job = list.jobs[0];
  EXPECT_EQ(most_gpus(list), 0);
  EXPECT_EQ(cores_for_task(list, 0), 1);
  job.cpus = 2.5;
  EXPECT_EQ(cores_for_task(list, 0), 3);
  job.gpus = {.kind = GpuRequest::Kind::share, .devices = 0, .share = 0.25};
  EXPECT_EQ(most_gpus(list), 1);
  EXPECT_EQ(cores_for_task(list, 2), 20);
  job.gpus = {.kind = GpuRequest::Kind::whole, .devices = 2};
  EXPECT_EQ(most_gpus(list), 2);
  EXPECT_EQ(cores_for_task(list, 4), 5);
  EXPECT_THAT(error_of([&] { check_task_holds_jobs(list, {.cpus = 3, .gpus = 1}); }),
              HasSubstr("the job name-a needs 2 GPUs, but a task has 1"));
  check_task_holds_jobs(list, {.cpus = 3, .gpus = 2});
}

TEST(SlurmScript, NamesTheSharesOfItsTasks) {
  const std::string text = slurm_script({"/r/b, c"}, "/opt/lock step",
                                        {.cpus = 1, .task_words = {"--grace", "1 m"}}, {3, 11});
  EXPECT_THAT(text, HasSubstr("#SBATCH --array=0-1\n"));
  EXPECT_THAT(text, HasSubstr("#SBATCH --job-name=lockstep-b__c\n"));
  EXPECT_THAT(text, HasSubstr("#SBATCH --chdir=\"/r/b, c\"\n"));
  EXPECT_THAT(text, HasSubstr("\nset -- 3 11\n"));
  EXPECT_THAT(text, HasSubstr("exec '/opt/lock step' batch slurm-task '/r/b, c' \"$1\" --grace "
                              "'1 m'\n"));
}

}  // namespace
}  // namespace lockstep
