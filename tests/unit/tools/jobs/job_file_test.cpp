// Job files: keys, groups, and what is wrong with them.
#include "tools/jobs/job_file/job_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "fakes/error_of.h"
#include "job_fixtures.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

std::string error_in(const std::string& text) {
  return error_of([&] { read_jobs(text); });
}

TEST(JobFile, ReadsEveryKey) {
  const JobFolder folder;
  const JobList list = folder.read(R"(
command = ["python3", "train.py", "--lr", "{lr}", 5]
name = "fit {lr}"
cpus = 2.5
gpus = 0.25
gpu_memory = "2GiB"
priority = -3
retries = 2
retry_delay = "5s"
timeout = "10m"
skip_codes = [2, 77]
max_failure_rate = 0.15
min_finished = 12
left_out = ["X: no file"]
env = {OMP_NUM_THREADS = 1, RATE = "{lr}"}
cwd = "work/{lr}"
outputs = ["model.txt", "{out}/{lr}.csv"]
[matrix]
lr = [0.1, 1e-3]
)");
  ASSERT_THAT(list.jobs, SizeIs(2));
  const Job& job = list.jobs[1];
  EXPECT_EQ(job.number, 2);
  EXPECT_EQ(job.name, "fit_1e-3");
  EXPECT_THAT(job.key, SizeIs(32));
  EXPECT_THAT(job.parameters, ElementsAre(Pair("lr", "1e-3")));
  EXPECT_THAT(job.command, ElementsAre("python3", "train.py", "--lr", "1e-3", "5"));
  EXPECT_THAT(job.environment, ElementsAre(Pair("LOCKSTEP_PARAM_lr", "1e-3"),
                                           Pair("OMP_NUM_THREADS", "1"), Pair("RATE", "1e-3")));
  EXPECT_EQ(job.folder, (folder.path() / "work/1e-3").string());
  EXPECT_THAT(job.outputs, ElementsAre("model.txt", "{out}/1e-3.csv"));
  EXPECT_EQ(job.cpus, 2.5);
  EXPECT_EQ(job.gpus, (GpuRequest{.kind = GpuRequest::Kind::share, .share = 0.25}));
  EXPECT_EQ(job.gpu_memory.bytes, std::int64_t{2} << 30);
  EXPECT_EQ(job.priority, -3);
  EXPECT_EQ(job.retries, 2);
  EXPECT_EQ(job.retry_delay_s, 5);
  EXPECT_EQ(job.timeout_s, 600);
  EXPECT_THAT(job.skip_codes, ElementsAre(2, 77));
  EXPECT_EQ(list.limits.max_failure_rate, 0.15);
  EXPECT_EQ(list.limits.min_finished, 12);
  EXPECT_THAT(list.limits.left_out, ElementsAre("X: no file"));
}

TEST(JobFile, HasTheDefaultsOfAPlainJob) {
  const JobFolder folder;
  const JobList list = folder.read("command = [\"true\"]\n");
  ASSERT_THAT(list.jobs, SizeIs(1));
  EXPECT_EQ(list.jobs[0].name, "1");
  EXPECT_EQ(list.jobs[0].cpus, 1);
  EXPECT_EQ(list.jobs[0].gpus, GpuRequest{});
  EXPECT_EQ(list.jobs[0].folder, folder.path().string());
  EXPECT_THAT(list.jobs[0].environment, IsEmpty());
}

TEST(JobFile, GroupsTakeWhatTheyDoNotSayFromTheTop) {
  const JobList list = read_jobs(R"(
retries = 3
env = {A = "1", B = "1"}
command = ["train", "{lr}"]
[matrix]
lr = [1, 2]
[[jobs]]
name = "fit"
env = {B = "2"}
[[jobs]]
name = "other"
retries = 0
matrix = {lr = [3]}
[[jobs]]
name = "report"
command = ["report"]
matrix = {}
after = ["fit", "other,lr=3"]
)");
  EXPECT_THAT(names_of(list), ElementsAre("fit,lr=1", "fit,lr=2", "other,lr=3", "report"));
  EXPECT_THAT(commands_of(list), ElementsAre("train 1", "train 2", "train 3", "report"));
  EXPECT_EQ(list.jobs[0].retries, 3);
  EXPECT_EQ(list.jobs[2].retries, 0);
  EXPECT_THAT(list.jobs[0].environment,
              ElementsAre(Pair("LOCKSTEP_PARAM_lr", "1"), Pair("A", "1"), Pair("B", "2")));
  EXPECT_THAT(list.jobs[3].after,
              ElementsAre(list.jobs[0].key, list.jobs[1].key, list.jobs[2].key));
}

TEST(JobFile, AfterFindsJobsByParametersAndPatterns) {
  const JobList list = read_jobs(R"(
[[jobs]]
name = "data"
command = ["data", "{symbol}"]
matrix = {symbol = ["A", "B"]}
[[jobs]]
name = "fit"
command = ["fit", "{symbol}"]
matrix = {symbol = ["A", "B"]}
after = "data,symbol={symbol}"
[[jobs]]
name = "report"
command = ["report"]
after = "fit,*"
)");
  EXPECT_THAT(list.jobs[2].after, ElementsAre(list.jobs[0].key));
  EXPECT_THAT(list.jobs[3].after, ElementsAre(list.jobs[1].key));
  EXPECT_THAT(list.jobs[4].after, ElementsAre(list.jobs[2].key, list.jobs[3].key));
}

TEST(JobFile, NamesACircle) {
  const std::string error = error_in(R"(
command = ["true"]
[[jobs]]
name = "a"
after = "c"
[[jobs]]
name = "b"
after = "a"
[[jobs]]
name = "c"
after = "b"
)");
  EXPECT_THAT(error, HasSubstr("in a circle: a -> c -> b -> a"));
  EXPECT_THAT(error_in("command = [\"true\"]\nname = \"x\"\nafter = \"x\"\n"), HasSubstr("x -> x"));
}

TEST(JobFile, NamesTheNearestToWhatIsNotThere) {
  EXPECT_THAT(error_in("comand = [\"true\"]\n"),
              AllOf(HasSubstr("jobs.toml, line 1: there is no key comand"),
                    HasSubstr("did you mean command?")));
  EXPECT_THAT(error_in("command = [\"true\"]\n[[jobs]]\nname = \"a\"\n\nretrys = 1\n"),
              AllOf(HasSubstr("line 5"), HasSubstr("did you mean retries?")));
  EXPECT_THAT(
      error_in("command = [\"true\"]\n[[jobs]]\nname = \"fit\"\n[[jobs]]\nafter = \"fti\"\n"),
      AllOf(HasSubstr("jobs.toml, line 4: after names \"fti\""), HasSubstr("did you mean fit?")));
  EXPECT_THAT(error_in("command = [\"a\", \"{lt}\"]\n[matrix]\nlr = [1]\n"),
              AllOf(HasSubstr("{lt} has no value"), HasSubstr("did you mean {lr}?")));
}

TEST(JobFile, RefusesValuesThatMakeNoSense) {
  const auto value = [](const std::string& line) {
    return error_in("command = [\"true\"]\n" + line + "\n");
  };
  EXPECT_THAT(value("cpus = -1"), HasSubstr("line 2: cpus must be a number"));
  EXPECT_THAT(value("cpus = [1]"), HasSubstr("cpus must be a number"));
  EXPECT_THAT(value("retries = 1.5"), HasSubstr("retries must be a whole number"));
  EXPECT_THAT(value("timeout = \"soon\""), HasSubstr("timeout must be a time"));
  EXPECT_THAT(value("timeout = 0"), HasSubstr("timeout must be a time"));
  EXPECT_THAT(value("skip_codes = [0]"), HasSubstr("from 1 to 255"));
  EXPECT_THAT(value("max_failure_rate = 15"), HasSubstr("from 0 to 1"));
  EXPECT_THAT(value("gpus = 0.1"), HasSubstr("at most four jobs share a device"));
  EXPECT_THAT(value("gpu_memory = \"2GX\""), HasSubstr("gpu_memory must be a size"));
  EXPECT_THAT(value("shell = \"maybe\""), HasSubstr("shell must be true or false"));
  EXPECT_THAT(value("env = {\"A=B\" = 1}"), HasSubstr("environment variable"));
  EXPECT_THAT(value("env = {A = \"x\\u0000y\"}"), HasSubstr("NUL"));
  EXPECT_THAT(value("outputs = \"{gpu}.txt\""), HasSubstr("the job has no GPU"));
  EXPECT_THAT(value("outputs = [\"a/**/b.csv\"]"), HasSubstr("outputs cannot hold **: a/**/b.csv"));
  EXPECT_THAT(value("outputs = [\"" + std::string(9000, 'a') + "\"]"),
              HasSubstr("a pattern may have 8192 bytes, but one has 9000"));
  EXPECT_THAT(value("name = \"{out}\""), HasSubstr("known only when the job starts"));
  EXPECT_THAT(value("jobs = 3"), HasSubstr("[[jobs]]"));
  EXPECT_THAT(value("[[jobs]]\nmin_finished = 3"),
              HasSubstr("line 3: min_finished is of the whole"));
}

TEST(JobFile, WantsAListOfWordsOrAShell) {
  EXPECT_THAT(error_in("cpus = 1\n"), HasSubstr("no command"));
  EXPECT_THAT(error_in("command = \"a b\"\n"), HasSubstr("must be a list of words"));
  EXPECT_THAT(error_in("command = []\n"), HasSubstr("command is empty"));
  EXPECT_THAT(error_in("shell = true\ncommand = [\"a\"]\n"), HasSubstr("must be one text"));
  const JobList list = read_jobs(
      "shell = true\ncommand = \"cat {f} > ${HOME}/{out}\"\n[matrix]\nf = [\"a b\", \"c\"]\n");
  EXPECT_THAT(commands_of(list), ElementsAre("cat 'a b' > ${HOME}/{out}", "cat c > ${HOME}/{out}"));
}

TEST(JobFile, SaysHowManyJobsAreTooManyBeforeItMakesThem) {
  const std::string range = "{from = 1, to = 1000}";
  const std::string error = error_in("command = [\"true\"]\n[matrix]\nsymbol = " + range +
                                     "\nday = " + range + "\nseed = {from = 1, to = 10}\n");
  EXPECT_THAT(error, AllOf(HasSubstr("jobs.toml, line 2"), HasSubstr("10000000 jobs"),
                           HasSubstr("symbol 1000 x day 1000 x seed 10")));
  EXPECT_THAT(error_in("command = [\"true\"]\n[matrix]\na = {from = 1, to = 10000000}\n"),
              AllOf(HasSubstr("line 3"), HasSubstr("10000000 jobs")));
}

TEST(JobFile, AJobThatIsAddedBeforeOthersChangesNeitherTheirNamesNorKeys) {
  const JobList few = read_jobs("command = [\"a\", \"{x}\"]\n[matrix]\nx = [2, 3]\n");
  const JobList more =
      read_jobs("command = [\"a\", \"{x}\"]\nretries = 2\n[matrix]\nx = [1, 2, 3]\n");
  EXPECT_EQ(few.jobs[0].name, more.jobs[1].name);
  const JobFolder folder;
  const std::string one =
      folder.read("command = [\"a\", \"{x}\"]\n[matrix]\nx = [2]\n").jobs[0].key;
  const JobList other =
      folder.read("cpus = 3\npriority = 2\ncommand = [\"a\", \"{x}\"]\n[matrix]\nx = [1, 2]\n");
  EXPECT_EQ(other.jobs[1].key, one);
  EXPECT_NE(other.jobs[0].key, one);
}

TEST(JobFile, FilesOfTheMatrixLieBesideIt) {
  const JobFolder folder;
  folder.write("symbols.txt", "A\r\n\nB\n");
  folder.write("windows.csv",
               "start,end,rows\n2022-01-01,2022-06-30,60\n2022-07-01,2022-12-31,61\n");
  const JobList list = folder.read(R"(
command = ["fit", "{symbol}", "{start}", "{last}"]
[matrix]
symbol = {lines = "symbols.txt"}
window = {csv = "windows.csv", columns = {start = "start", last = "end"}}
)");
  EXPECT_THAT(commands_of(list),
              ElementsAre("fit A 2022-01-01 2022-06-30", "fit A 2022-07-01 2022-12-31",
                          "fit B 2022-01-01 2022-06-30", "fit B 2022-07-01 2022-12-31"));
  EXPECT_THAT(error_of([&] {
                folder.read(
                    "command = [\"a\"]\n[matrix]\nx = {csv = \"windows.csv\", column = "
                    "\"row\"}\n");
              }),
              AllOf(HasSubstr("line 3: matrix.x"), HasSubstr("rows")));
}

}  // namespace
}  // namespace lockstep
