// Ledgers that cannot be used: each says which file, why, and what to do.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "fakes/error_of.h"
#include "ledger_fixtures.h"

namespace lockstep {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class BrokenLedger : public LedgerFolder {
 protected:
  std::string error_of_open() const {
    return error_of([&] { open(); });
  }
  void write(const std::string& bytes) const { std::ofstream(file(), std::ios::binary) << bytes; }
};

TEST_F(BrokenLedger, OfANewerVersion) {
  open_with({"a"}).database().execute("PRAGMA user_version = 7");
  const auto says = AllOf(HasSubstr("ledger.sqlite has version 7"), HasSubstr("knows version 2"),
                          HasSubstr("a newer Lockstep wrote it"));
  EXPECT_THAT(error_of_open(), says);
  EXPECT_THAT(error_of([&] { Ledger::open_to_read(file()); }), says);
}

TEST_F(BrokenLedger, ADatabaseOfSomethingElse) {
  Database(file(), Database::Access::create).execute("CREATE TABLE songs(name TEXT)");
  EXPECT_THAT(error_of_open(), HasSubstr("is a database, but no ledger of Lockstep's"));
  EXPECT_THAT(error_of([&] { Ledger::open_to_read(file()); }), HasSubstr("it is no ledger"));
}

TEST_F(BrokenLedger, AFileThatIsNoDatabase) {
  write(std::string(5000, 'x'));
  EXPECT_THAT(error_of_open(),
              AllOf(HasSubstr("ledger.sqlite"), HasSubstr("file is not a database"),
                    HasSubstr("the file is damaged or another kind of file")));
  EXPECT_EQ(read_file(file()), std::string(5000, 'x')) << "it is somebody's file";
}

TEST_F(BrokenLedger, OneWithPagesOfNoSense) {
  {
    std::vector<std::string> keys;
    for (int i = 0; i < 500; ++i) keys.push_back("key" + std::to_string(i));
    Ledger ledger = open_with(keys);
    ledger.database().execute("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  std::string bytes = read_file(file());
  for (std::size_t at = 8192; at < bytes.size(); ++at) bytes[at] = static_cast<char>(at * 37);
  write(bytes);
  const auto says =
      AllOf(HasSubstr("ledger.sqlite"), HasSubstr("malformed"), HasSubstr("sqlite3 FILE .recover"));
  EXPECT_THAT(error_of([&] { open().queue(); }), says);
  EXPECT_THAT(error_of([&] { open().add(small_jobs({"new"}), true); }), says);
}

// Cut anywhere: an Error or a ledger that works, never anything else.
TEST_F(BrokenLedger, OneThatIsCutOffAnywhere) {
  {
    Ledger ledger = open_with({"a", "b", "c"});
    ledger.database().execute("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  const std::string whole = read_file(file());
  int refused = 0;
  for (std::size_t size = 0; size < whole.size(); size += 1000) {
    write(whole.substr(0, size));
    try {
      Ledger ledger = open();
      ledger.queue();
      ledger.add(small_jobs({"d"}), true);
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("ledger.sqlite"));
      ++refused;
    }
    for (const char* more : {"-wal", "-shm"}) std::filesystem::remove(file().string() + more);
  }
  EXPECT_GT(refused, 5);
}

TEST_F(BrokenLedger, OneWithStatesThatNobodyKnows) {
  Ledger ledger = open_with({"a"});
  ledger.database().execute("UPDATE job SET state = 'dancing'");
  EXPECT_THAT(error_of([&] { ledger.queue(); }), HasSubstr("whose state is dancing"));
  ledger.database().execute("UPDATE job SET spec = '{'");
  EXPECT_THAT(error_of([&] { ledger.job(1); }), HasSubstr("no JSON"));
  ledger.database().execute("UPDATE job SET spec = '{\"command\": 3}'");
  EXPECT_THAT(error_of([&] { ledger.job(1); }), HasSubstr("or is damaged"));
  EXPECT_THAT(error_of([&] { ledger.job(99); }), HasSubstr("no job 99"));
}

TEST_F(BrokenLedger, OneWithNumbersThatNoJobHas) {
  Ledger ledger = open_with({"a"});
  for (const char* wrong : {R"("retries": 99999999999999999999999999)",
                            R"("retries": -1)",
                            R"("retries": 1.5)",
                            R"("retries": "2")",
                            R"("retries": 18446744073709551615)",
                            R"("priority": 99999999999)",
                            R"("priority": -1000001)",
                            R"("cpus": -1)",
                            R"("cpus": 1e300)",
                            R"("gpus": 17)",
                            R"("gpus": -1)",
                            R"("gpu_devices": 4294967297)",
                            R"("gpu_share": 2)",
                            R"("gpu_memory": 9)",
                            R"("gpu_memory_bytes": -1)",
                            R"("gpu_memory_bytes": 1e300)",
                            R"("retry_delay_s": -1)",
                            R"("timeout_s": -1)",
                            R"("skip_codes": [0])",
                            R"("skip_codes": [4294967297])",
                            R"("skip_codes": 3)"}) {
    Statement update(ledger.database(), "UPDATE job SET spec = ?");
    update.bind(1, cat(R"({"command": ["true"], "folder": "/", )", wrong, "}")).step();
    EXPECT_THAT(error_of([&] { ledger.job(1); }), HasSubstr("or is damaged")) << wrong;
  }
  ledger.database().execute(
      R"(UPDATE job SET spec = '{"command": ["true"], "folder": "/", "retries": 5000, "cpus": 0,
         "priority": -1000000, "gpus": 1, "gpu_devices": 1024, "timeout_s": 0.5}')");
  EXPECT_EQ(ledger.job(1).retries, 1000);
  EXPECT_EQ(ledger.job(1).timeout_s, 0.5);
}

TEST_F(BrokenLedger, OneWhoseFolderIsNotThere) {
  EXPECT_THAT(error_of([&] { Ledger::open(folder.path() / "no/ledger.sqlite"); }),
              AllOf(HasSubstr("no/ledger.sqlite"), HasSubstr("unable to open"),
                    HasSubstr("check that the folder can be written to")));
  EXPECT_THAT(error_of([&] { Ledger::open_to_read(file()); }), HasSubstr("unable to open"));
}

TEST_F(BrokenLedger, OneThatAnotherHoldsForLong) {
  open_with({"a"});
  Database holder(file(), Database::Access::write);
  Transaction held(holder);
  Database waiting(file(), Database::Access::write, /*busy_s=*/0.05);
  EXPECT_THAT(error_of([&] { Transaction transaction(waiting); }),
              AllOf(HasSubstr("database is locked"), HasSubstr("lsof or fuser")));
}

TEST_F(BrokenLedger, OneWithoutRoomToGrow) {
  Ledger ledger = open_with({"a"});
  ledger.database().execute("PRAGMA wal_checkpoint(TRUNCATE)");
  Statement most(ledger.database(), "PRAGMA max_page_count = 1");
  most.run();
  std::vector<std::string> keys{"a"};
  for (int i = 0; i < 500; ++i) keys.push_back("more" + std::to_string(i));
  EXPECT_THAT(error_of([&] { ledger.add(small_jobs(keys), true); }),
              AllOf(HasSubstr("full"), HasSubstr("make room on the disk")));
  EXPECT_EQ(ledger.queue().size(), 1U) << "what was there stays, whole";
}

// A real limit, in a process of its own. What was committed before stays.
TEST_F(BrokenLedger, OneWhoseFileMayNotGrow) {
  open_with({"a"});
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    Ledger ledger = open();
    const rlimit limit{.rlim_cur = 100'000, .rlim_max = RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::vector<std::string> keys{"a"};
    for (int i = 0; i < 5000; ++i) keys.push_back("more" + std::to_string(i));
    try {
      ledger.add(small_jobs(keys), true);
    } catch (const Error& error) {
      const bool clear = std::string(error.what()).find("ledger.sqlite") != std::string::npos &&
                         error.hint().find("make room") != std::string::npos;
      _exit(clear ? 7 : 8);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_EQ(open().queue().size(), 1U);
}

TEST_F(BrokenLedger, ACommandThatIsNoUtf8IsRefusedAndNothingOfTheListIsKept) {
  Ledger ledger = open();
  JobList list = small_jobs({"a", "b"});
  list.jobs[1].command = {"cat", "\xff\xfe"};
  EXPECT_THAT(error_of([&] { ledger.add(list, true); }), HasSubstr("not valid UTF-8"));
  EXPECT_TRUE(ledger.queue().empty());
}

}  // namespace
}  // namespace lockstep
