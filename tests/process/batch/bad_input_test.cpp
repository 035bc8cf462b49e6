// Job files, values and ledgers that are wrong: said before anything starts or is made.
#include "batch_rig.h"
#include "core/base/text/text.h"
#include "tools/jobs/ledger/database.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::ToolResult;

class BatchBadInput : public BatchRig {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder.path() / name, std::ios::binary) << text;
  }
  // What the tool says of a job file that it must refuse.
  std::string refusal(const std::string& job_file) {
    write("jobs.toml", job_file);
    const ToolResult result = run({"batch", "run", "jobs.toml"});
    EXPECT_EQ(result.code, 2) << job_file;
    EXPECT_EQ(result.out, "");
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "runs")) << job_file;
    return result.err;
  }
  // Likewise in 400 MiB of memory.
  std::string refusal_in_little_memory(const std::string& words) {
    const std::string line = "ulimit -v 400000; " + words;
    const ToolResult result = testing::ToolProcess({"sh", "-c", line, testing::program("lockstep")},
                                                   folder.path(), environment)
                                  .wait();
    EXPECT_EQ(result.code, 2) << words;
    return result.err;
  }
};

TEST_F(BatchBadInput, MistakesInAJobFileAreNamedWithTheirLine) {
  EXPECT_THAT(refusal("comand = [\"true\"]\n"),
              AllOf(HasSubstr("jobs.toml, line 1: there is no key comand"),
                    HasSubstr("did you mean command?")));
  EXPECT_THAT(refusal("command = [\"true\"]\n[matrix]\n"),
              HasSubstr("jobs.toml, line 2: the matrix is empty"));
  EXPECT_THAT(refusal("command = [\"true\"]\n[matrix]\nlr = []\n"),
              AllOf(HasSubstr("jobs.toml, line 3"), HasSubstr("empty")));
  EXPECT_THAT(refusal("command = [\"true\", \"{rl}\"]\n[matrix]\nlr = [1]\n"),
              AllOf(HasSubstr("the placeholder {rl} has no value"), HasSubstr("{lr}")));
  EXPECT_THAT(refusal("[[jobs]]\nname = \"a\"\ncommand = [\"true\"]\nafter = \"b\"\n"
                      "[[jobs]]\nname = \"b\"\ncommand = [\"true\"]\nafter = \"a\"\n"),
              AllOf(HasSubstr("circle"), HasSubstr("a"), HasSubstr("b")));
  EXPECT_THAT(refusal("command = [\"no-such-program\"]\n"),
              HasSubstr("the command no-such-program of the job 1 is not there"));
  EXPECT_THAT(
      refusal("command = [\"true\"]\ncwd = \"no/such\"\n"),
      AllOf(HasSubstr("the working folder"), HasSubstr("no/such of the job 1 is not there")));
  EXPECT_THAT(refusal("command = [\"true\"]\n[matrix]\na = {from = 1, to = 10000000}\n"),
              HasSubstr("there would be 10000000 jobs"));
  EXPECT_THAT(run({"batch", "run", "nothing.toml"}).err, HasSubstr("nothing.toml"));
}

TEST_F(BatchBadInput, NumbersOnTheCommandLineHaveALimit) {
  const auto refusal_of = [&](const std::string& flag, const std::string& number) {
    const ToolResult result = run({"batch", "run", flag, number, "--", "true"});
    EXPECT_EQ(result.code, 2) << flag << number;
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "runs")) << flag << number;
    return result.err;
  };
  for (const char* number : {"99999999999999999999999999", "1001", "1.5", "nan", "0x10"})
    EXPECT_THAT(refusal_of("--retries", number),
                HasSubstr("--retries must be a whole number from 0 to 1000, but is "));
  for (const char* number : {"1e300", "65537", "nan", "inf", "0x10"})
    EXPECT_THAT(refusal_of("--cpus", number), HasSubstr("--cpus must be a number from 0 to 65536"));
}

TEST_F(BatchBadInput, AnAttemptWithANumberThatNoneHasIsSaid) {
  ASSERT_EQ(run({"batch", "run", "--name", "b", "--", "true"}).code, 0);
  const auto ledger = folder.path() / "runs/b/ledger.sqlite";
  Database(ledger, Database::Access::write).execute("UPDATE attempt SET number = -5");
  const ToolResult result = run({"batch", "logs", "b", "1"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("is damaged: the newest attempt of job "),
                                HasSubstr(" has the number -5")));
}

TEST_F(BatchBadInput, TenMillionJobsAreRefusedInLittleMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer takes far more";
#endif
  constexpr int jobs = 10'000'000;
  write("axes.toml",
        "command = ['true']\n[matrix]\na = {from = 1, to = 10000}\nb = {from = 1, to = 1000}\n");
  EXPECT_THAT(refusal_in_little_memory("\"$0\" batch run axes.toml"),
              HasSubstr("there would be 10000000 jobs (a 10000 x b 1000)"));

  std::string lines;
  for (int i = 0; i < jobs; ++i) lines += "x\n";
  write("lines.txt", lines);
  write("lines.toml", "command = ['true']\n[matrix]\na = {lines = 'lines.txt'}\n");
  EXPECT_THAT(refusal_in_little_memory("\"$0\" batch run lines.toml"),
              HasSubstr("there would be 10000000 jobs"));
  EXPECT_THAT(refusal_in_little_memory("\"$0\" batch run -a - -- true < lines.txt"),
              HasSubstr("there would be 10000000 jobs"));

  write("csv.toml", "command = ['true']\n[matrix]\na = {csv = 'lines.txt', column = 'x'}\n");
  EXPECT_THAT(refusal_in_little_memory("\"$0\" batch run csv.toml"),
              HasSubstr("there are more than 1000000 rows"));

  std::string list = "command = ['true']\n[matrix]\na = [\n";
  for (int i = 0; i < jobs; ++i) list += "1,\n";
  write("list.toml", list + "]\n");
  EXPECT_THAT(refusal_in_little_memory("\"$0\" batch run list.toml"),
              HasSubstr("list.toml has more than 1000000 values"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "runs"));
}

TEST_F(BatchBadInput, ALedgerOfAnotherVersionIsRefused) {
  ASSERT_EQ(run_jobs({}, {"true"}).code, 0);
  Database(batch() / "ledger.sqlite", Database::Access::write).execute("PRAGMA user_version = 9");
  for (const char* const command : {"status", "resume", "retry"}) {
    const ToolResult result = run({"batch", command, "b"});
    EXPECT_EQ(result.code, 2) << command;
    EXPECT_THAT(result.err, AllOf(HasSubstr("has version 9, and this Lockstep knows version 2"),
                                  HasSubstr("a newer Lockstep wrote it")));
  }
}

TEST_F(BatchBadInput, ADamagedLedgerIsSaidToBeSoAndStaysAsItIs) {
  ASSERT_EQ(run_jobs({}, {"true"}).code, 0);
  const std::string damaged(5000, 'x');
  write("runs/b/ledger.sqlite", damaged);
  for (const char* const command : {"status", "resume", "cancel", "analyze"}) {
    const ToolResult result = run({"batch", command, "b"});
    EXPECT_EQ(result.code, 2) << command;
    EXPECT_THAT(result.err, AllOf(HasSubstr("ledger.sqlite"), HasSubstr("damaged")));
  }
  EXPECT_EQ(read_file(batch() / "ledger.sqlite"), damaged);
}

TEST_F(BatchBadInput, AFolderThatIsNoBatchIsLeftAlone) {
  std::filesystem::create_directories(batch());
  write("runs/b/notes.txt", "mine\n");
  const ToolResult result = run_jobs({}, {"true"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("is there already, and is no batch"));
  EXPECT_FALSE(std::filesystem::exists(batch() / "ledger.sqlite"));
}

}  // namespace
}  // namespace lockstep
