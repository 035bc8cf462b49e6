// Wraps SQLite: errors become exceptions, and statements are prepared once.
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

// A prepared statement that can be bound and run repeatedly. Parameters are counted from 1, columns
// from 0.
class Statement {
 public:
  Statement(Database& database, std::string_view sql);
  Statement(Statement&& other) noexcept;
  ~Statement();

  Statement& bind(int parameter, std::int64_t value);
  Statement& bind(int parameter, double value);
  Statement& bind(int parameter, std::string_view text);
  Statement& bind_null(int parameter);
  bool step();  // returns whether there is a row; throws Error if SQLite fails
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

// Limits on the work of all statements together. They are needed because a file from somebody else
// may be made so that reading it never ends. For example, its pages may refer to each other.
struct WorkLimit {
  double seconds = INFINITY;  // processor time of this thread since the database was opened
  // instructions of SQLite's virtual machine
  std::int64_t steps = std::numeric_limits<std::int64_t>::max();
  // the limit `steps` grows with each byte of this file and of its -wal file
  std::filesystem::path file{};
};

// Throws Error if one of the database's files is a link, pipe, folder or device. These files are
// its own file and those that SQLite would read beside it (-wal, -shm, -journal). Missing files are
// accepted. Also throws Error if the journal names a further file, because SQLite would delete that
// file. what: the word for the database in messages.
void check_database_files(const std::filesystem::path& path, const char* what = "ledger");

// A connection to a database that may come from anybody. SQLite opens only regular files, and runs
// no trigger, view or function that a schema names. It verifies pages when it reads them.
class Database {
 public:
  enum class Access {
    read,
    write,
    create,
    // A database of another program, which messages call "database" instead of "ledger". The
    // database is only read. If no program has it open, no file is created beside it.
    foreign
  };
  // Opens the database, or ":memory:" for one without a file. Throws Error with the file's name if
  // the file is not a regular file or cannot be opened. Later calls throw Error if the file is not
  // a database, is damaged, or is on a file system without locks. Calls wait up to `busy_s` seconds
  // while others use the database. Until limit_work() is called, the limits for a file suffice only
  // to read a schema and a few rows.
  Database(std::filesystem::path path, Access access, double busy_s = 30);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void execute(const std::string& sql);  // runs any number of statements without parameters
  // Returns the statement for this text. The same text returns the same statement.
  Statement& prepared(const std::string& sql);
  // Sets new limits, and counts steps from this call on. Beyond a limit, statements throw Error.
  void limit_work(WorkLimit limit);
  std::int64_t last_row_id() const;
  std::int64_t changes() const;  // number of rows that the last statement changed
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

// A transaction: the constructor runs BEGIN IMMEDIATE, and commit() runs COMMIT. Without commit(),
// the destructor rolls back. A nested transaction is part of the outer one.
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
