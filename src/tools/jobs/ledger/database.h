// SQLite with errors as exceptions, and with statements that are prepared once.
#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace lockstep {

class Database;

// A prepared statement that can be bound and run repeatedly. Parameters count from 1, columns from
// 0.
class Statement {
 public:
  Statement(Database& database, std::string_view sql);
  Statement(Statement&& other) noexcept;
  ~Statement();

  Statement& bind(int parameter, std::int64_t value);
  Statement& bind(int parameter, double value);
  Statement& bind(int parameter, std::string_view text);
  Statement& bind_null(int parameter);
  bool step();  // whether there is a row; throws Error
  void run();   // runs it to its end; it can then be bound again

  std::int64_t integer(int column) const;
  double number(int column) const;
  std::string text(int column) const;
  bool is_null(int column) const;
  void reset();

 private:
  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

// Limits on the work of all statements together. A foreign file may be made so that reading never
// ends, for instance with pages that refer to each other.
struct WorkLimit {
  double seconds = INFINITY;  // of this thread's processor time since the database was opened
  std::int64_t steps = std::numeric_limits<std::int64_t>::max();  // of SQLite's virtual machine
  std::filesystem::path file{};  // adds steps for each byte of this file and of its -wal
};

// Throws Error if a database's file, or one that SQLite would read beside it (-wal, -shm,
// -journal), is a link, pipe, folder or device. Also throws if a journal names a further file,
// which SQLite would delete. Missing files are accepted. what: the file's name in messages.
void check_database_files(const std::filesystem::path& path, const char* what = "ledger");

// Trusts no file. SQLite opens only regular files, runs no trigger, view or function that a schema
// names, and verifies pages as it reads them.
class Database {
 public:
  enum class Access {
    read,
    write,
    create,
    // Another program's database; messages call it so. It is only read. If no program has it open,
    // nothing is created beside it.
    foreign
  };
  // Waits up to `busy_s` for other users. ":memory:" opens a database without a file. Until
  // `limit_work` is called, work is limited to reading a schema and a few rows. Throws Error with
  // the file's name if it is missing, not a database, damaged, or on a disk without locks.
  Database(std::filesystem::path path, Access access, double busy_s = 30);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void execute(const std::string& sql);  // any number of statements without parameters
  // Cached by its text: the same text returns the same statement.
  Statement& prepared(const std::string& sql);
  // Counts steps from now on. Beyond the limit, statements throw Error.
  void limit_work(WorkLimit limit);
  std::int64_t last_row_id() const;
  std::int64_t changes() const;  // rows changed by the last statement
  const std::filesystem::path& path() const { return path_; }
  sqlite3* handle() const { return handle_; }
  [[noreturn]] void fail(const std::string& doing) const;

 private:
  void open(int flags);
  void configure();
  const char* what() const;
  static int on_progress(void* database);  // returns nonzero to make SQLite stop
  bool has_spent_all();

  std::filesystem::path path_;
  Access access_;
  sqlite3* handle_ = nullptr;
  std::map<std::string, Statement> prepared_;
  WorkLimit limit_;
  std::int64_t steps_ = 0, allowed_steps_ = 0;
  double opened_s_ = 0;
  bool took_too_long_ = false;
};

// BEGIN IMMEDIATE … COMMIT. Rolls back if it is destroyed without `commit`. A nested transaction is
// part of the outer one.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_;
};

}  // namespace lockstep
