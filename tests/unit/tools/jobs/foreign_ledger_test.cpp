// Ledgers that somebody made to do harm to whoever looks at them: each is refused, at once, and
// nothing is changed.
#include <sys/stat.h>

#include <fstream>
#include <functional>

#include "fakes/error_of.h"
#include "ledger_fixtures.h"
#include "tools/jobs/files/batch_shares.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ForeignLedger : public LedgerFolder {
 protected:
  fs::path beside(const std::string& more) const { return file().string() + more; }

  // One with a job, in one file.
  void make(int jobs = 1) const {
    std::vector<std::string> keys;
    for (int i = 0; i < jobs; ++i) keys.push_back("key" + std::to_string(i));
    open_with(keys).database().execute("PRAGMA wal_checkpoint(TRUNCATE)");
    for (const char* more : {"-wal", "-shm"}) fs::remove(beside(more));
  }
  void change(const std::string& sql) const {
    Database database(file(), Database::Access::write);
    database.limit_work({});
    database.execute(sql);
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  // Of both, as reading and writing commands open it.
  void expect_refused(const ::testing::Matcher<const std::string&>& says) const {
    const std::string before = fs::is_regular_file(file()) ? read_file(file()) : "";
    EXPECT_THAT(error_of([&] { Ledger::open_to_read(file()); }), says);
    EXPECT_THAT(error_of([&] { Ledger::open(file()); }), says);
    if (!before.empty()) {
      EXPECT_EQ(read_file(file()), before) << "it was changed";
    }
  }
};

constexpr const char* endless_view =
    "DROP TABLE note; CREATE VIEW note(id, at, text) AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
    "SELECT i + 1 FROM n) SELECT i, i, 'x' FROM n";

TEST_F(ForeignLedger, WithAViewInPlaceOfATableIsRefused) {
  make();
  change(endless_view);
  expect_refused(
      AllOf(HasSubstr("has a view note that a ledger has not"), HasSubstr("ledger.sqlite")));
}

TEST_F(ForeignLedger, WithATriggerIsRefused) {
  make();
  change("CREATE TRIGGER more AFTER INSERT ON request BEGIN DELETE FROM job; END");
  expect_refused(HasSubstr("has a trigger more that a ledger has not"));
}

TEST_F(ForeignLedger, WithAColumnThatIsWorkedOutIsRefused) {
  make();
  change("ALTER TABLE note ADD COLUMN huge AS (hex(zeroblob(1000000000)))");
  expect_refused(HasSubstr("has a table note that a ledger has not"));
}

TEST_F(ForeignLedger, WithoutOneOfTheTablesOrIndexesIsRefused) {
  make();
  change("DROP INDEX attempt_job");
  expect_refused(HasSubstr("lacks the index attempt_job"));
}

TEST_F(ForeignLedger, WithThousandsOfTablesIsNotReadToItsEnd) {
  make();
  std::string sql = "BEGIN;";
  for (int i = 0; i < 3000; ++i) sql += "CREATE TABLE t" + std::to_string(i) + "(a);";
  change(sql + "COMMIT");
  expect_refused(HasSubstr("takes more steps than its size explains"));
}

TEST_F(ForeignLedger, IsKnownWhateverItsCommentsAndBlanks) {
  make();
  change(
      "DROP TABLE note; CREATE TABLE note(id   INTEGER PRIMARY KEY, -- in order\n"
      "  at REAL NOT NULL,\ttext TEXT NOT NULL)");
  EXPECT_EQ(Ledger::open_to_read(file()).counts().at(JobState::waiting), 1);
  EXPECT_EQ(open().counts().at(JobState::waiting), 1);
}

TEST_F(ForeignLedger, ThatIsNoFileIsRefusedWithoutWaiting) {
  ASSERT_EQ(::mkfifo(file().c_str(), 0600), 0);
  expect_refused(HasSubstr("ledger.sqlite must be a regular file, but is a pipe"));
  fs::remove(file());
  fs::create_symlink("/dev/zero", file());
  expect_refused(HasSubstr("ledger.sqlite must be a regular file, but is a link"));
  fs::remove(file());
  fs::create_directory(file());
  expect_refused(HasSubstr("ledger.sqlite must be a regular file, but is a folder"));
}

TEST_F(ForeignLedger, WithALinkOrPipeBesideItIsRefused) {
  make();
  const fs::path other = folder.path() / "precious";
  std::ofstream(other) << "text";
  for (const std::string more : {"-wal", "-shm", "-journal"}) {
    fs::create_symlink(other, beside(more));
    expect_refused(HasSubstr("ledger.sqlite" + more + " must be a regular file, but is a link"));
    fs::remove(beside(more));
    ASSERT_EQ(::mkfifo(beside(more).c_str(), 0600), 0);
    expect_refused(HasSubstr("ledger.sqlite" + more + " must be a regular file, but is a pipe"));
    fs::remove(beside(more));
  }
  EXPECT_EQ(read_file(other), "text");
}

// SQLite deletes the file that a journal names once the journal has been played back.
TEST_F(ForeignLedger, WhoseJournalNamesAnotherFileIsRefused) {
  make();
  const fs::path other = folder.path() / "precious";
  std::ofstream(other) << "text";
  std::string journal(512, '\0');
  journal += other.string() + std::string(8, '\0') + "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
  std::ofstream(beside("-journal"), std::ios::binary) << journal;
  expect_refused(HasSubstr("its journal names a further file"));
  EXPECT_EQ(read_file(other), "text");
}

// Sets pages of a file, whose size is 4096.
class Pages {
 public:
  explicit Pages(const fs::path& file) : file_(file), bytes_(read_file(file)) {}
  ~Pages() {
    put(28, 4, bytes_.size() / size);
    std::ofstream(file_, std::ios::binary) << bytes_;
  }
  void put(std::size_t at, int count, std::uint64_t value) {
    for (int i = 0; i < count; ++i)
      bytes_[at + static_cast<std::size_t>(i)] =
          static_cast<char>(value >> (8 * (count - 1 - i)) & 255);
  }
  // An inner page of a table, which is its next page 100 times.
  std::size_t add_inner(std::size_t child) {
    const std::size_t begin = bytes_.size();
    bytes_.resize(begin + size, '\0');
    constexpr std::size_t cells = 100, cell_bytes = 5;
    put(begin, 1, 5);
    put(begin + 3, 2, cells);
    put(begin + 5, 2, size - cells * cell_bytes);
    put(begin + 8, 4, child);
    for (std::size_t i = 0; i < cells; ++i) {
      const std::size_t cell = size - (i + 1) * cell_bytes;
      put(begin + 12 + 2 * i, 2, cell);
      put(begin + cell, 4, child);
      put(begin + cell + 4, 1, 1);
    }
    return begin / size + 1;
  }
  // Puts the content of one page in place of another.
  void copy(std::size_t from, std::size_t to) {
    bytes_.replace((to - 1) * size, size, bytes_.substr((from - 1) * size, size));
  }
  std::size_t add_copy(std::size_t page) {
    bytes_ += bytes_.substr((page - 1) * size, size);
    return bytes_.size() / size;
  }

 private:
  static constexpr std::size_t size = 4096;
  fs::path file_;
  std::string bytes_;
};

// A table of 10^20 rows in a small file.
TEST_F(ForeignLedger, WhosePagesHoldEachOtherIsNotReadForEver) {
  make(5);
  std::int64_t root = 0;
  {
    Ledger ledger = Ledger::open_to_read(file());
    root = number(ledger, "SELECT rootpage FROM sqlite_master WHERE name = 'job'");
  }
  for (const char* more : {"-wal", "-shm"}) fs::remove(beside(more));
  {
    Pages pages(file());
    std::size_t page = pages.add_copy(static_cast<std::size_t>(root));
    for (int level = 0; level < 10; ++level) page = pages.add_inner(page);
    pages.copy(page, static_cast<std::size_t>(root));
  }
  Ledger ledger = Ledger::open_to_read(file());
  EXPECT_THAT(error_of([&] { ledger.counts(); }),
              AllOf(HasSubstr("ledger.sqlite"), HasSubstr("made so that reading it does not end")));
}

TEST_F(ForeignLedger, MayTakeNoMoreTimeThanItIsGiven) {
  make(2000);
  Ledger ledger = Ledger::open_to_read(file(), /*limit_s=*/0);
  EXPECT_THAT(error_of([&] { ledger.queue(); }), HasSubstr("takes more than 0 s"));
}

TEST_F(ForeignLedger, NamesOfJobsThatLeadElsewhereAreRefused) {
  Ledger ledger = open_with({"a"});
  for (const std::string name : {"../../precious", "a/b", "..", "."}) {
    ledger.database().prepared("UPDATE job SET name = ?").bind(1, name).run();
    EXPECT_THAT(error_of([&] { ledger.job(1); }),
                HasSubstr("name cannot be that of a folder: " + name));
  }
}

TEST_F(ForeignLedger, IsReadBesideOneWhoWritesToIt) {
  Ledger writer = open_with({"a"});
  Transaction held(writer.database());
  writer.set_state(1, JobState::cancelled, "");
  EXPECT_EQ(Ledger::open_to_read(file()).counts().at(JobState::waiting), 1);
  held.commit();
  EXPECT_EQ(Ledger::open_to_read(file()).counts().at(JobState::cancelled), 1);
}

// In a folder whose path holds what means something in the name of a database.
class ForeignShare : public LedgerFolder {
 protected:
  void SetUp() override {
    for (const int number : {1, 2}) {
      fs::create_directories(share(number).path);
      JobList list = small_jobs({"key" + std::to_string(number)});
      list.jobs[0].number = number;
      Ledger::build(share(number).ledger(), list, number * 1000, {});
    }
  }
  BatchFolder batch() const { return {folder.path() / "a?b #%41&mode=rwc é"}; }
  BatchFolder share(int number) const { return share_folder(batch(), number); }
};

TEST_F(ForeignShare, IsReadWithTheOthers) {
  EXPECT_EQ(ledger_to_read(batch()).counts().at(JobState::waiting), 2);
}

TEST_F(ForeignShare, WithAnotherSchemaIsRefusedByName) {
  {
    Database database(share(2).ledger(), Database::Access::write);
    database.limit_work({});
    database.execute(endless_view);
  }
  EXPECT_THAT(error_of([&] { ledger_to_read(batch()); }),
              AllOf(HasSubstr("shares/2/ledger.sqlite"), HasSubstr("has a view note")));
  fs::remove(share(2).ledger());
  ASSERT_EQ(::mkfifo(share(2).ledger().c_str(), 0600), 0);
  EXPECT_THAT(error_of([&] { ledger_to_read(batch()); }),
              AllOf(HasSubstr("shares/2/ledger.sqlite"), HasSubstr("is a pipe")));
}

}  // namespace
}  // namespace lockstep
