// SQLite with errors as exceptions and statements that are prepared once.
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

// A prepared statement, bound and run again and again. Parameters count from 1, columns from 0.
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
  void run();   // to its end; ready to be bound again

  std::int64_t integer(int column) const;
  double number(int column) const;
  std::string text(int column) const;
  bool is_null(int column) const;
  void reset();

 private:
  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

// What statements may take together. A file of another's may be made so that reading never ends, as
// one whose pages hold each other.
struct WorkLimit {
  double seconds = INFINITY;  // of this thread's processor time since the database was opened
  std::int64_t steps = std::numeric_limits<std::int64_t>::max();  // of SQLite's virtual machine
  std::filesystem::path file{};  // steps for each byte of it and of its -wal come on top
};

// Throws Error where the file of a database, or one that SQLite would read beside it (-wal, -shm,
// -journal), is a link, pipe, folder or device, or a journal names a further file, which SQLite
// would delete. What is not there is well. what: the file is called so in messages.
void check_database_files(const std::filesystem::path& path, const char* what = "ledger");

// No file is trusted: SQLite opens regular files alone, runs no trigger, view or function that a
// schema names, and checks pages as it reads them.
class Database {
 public:
  enum class Access {
    read,
    write,
    create,
    // Of another program's database, called so in messages: read, and where no program has it open
    // nothing is made beside it either.
    foreign
  };
  // Waits up to `busy_s` for others. ":memory:" is no file. Until `limit_work` is called, work is
  // limited to that of reading a schema and a few rows. Throws Error naming the file: it is not
  // there, is no database, is damaged, or lies where nothing can be locked.
  Database(std::filesystem::path path, Access access, double busy_s = 30);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void execute(const std::string& sql);  // any number of statements without parameters
  // Kept prepared by its text; whoever asks again gets the same one.
  Statement& prepared(const std::string& sql);
  // Steps count from here on. Beyond it statements throw Error.
  void limit_work(WorkLimit limit);
  std::int64_t last_row_id() const;
  std::int64_t changes() const;  // rows that the last statement changed
  const std::filesystem::path& path() const { return path_; }
  sqlite3* handle() const { return handle_; }
  [[noreturn]] void fail(const std::string& doing) const;

 private:
  void open(int flags);
  void configure();
  const char* what() const;
  static int on_progress(void* database);  // not 0: SQLite is to end
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

// BEGIN IMMEDIATE … COMMIT; rolls back when it goes without `commit`. Within another one it is a
// part of that.
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
