// SQLite with errors as exceptions and statements that are prepared once.
#pragma once

#include <cstdint>
#include <filesystem>
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

class Database {
 public:
  enum class Access { read, write, create };
  // Waits up to `busy_s` for others. Throws Error naming the file: it is not there, is no database,
  // is damaged, or lies where nothing can be locked.
  Database(std::filesystem::path path, Access access, double busy_s = 30);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void execute(const std::string& sql);  // any number of statements without parameters
  // Kept prepared by its text; whoever asks again gets the same one.
  Statement& prepared(const std::string& sql);
  std::int64_t last_row_id() const;
  std::int64_t changes() const;  // rows that the last statement changed
  const std::filesystem::path& path() const { return path_; }
  sqlite3* handle() const { return handle_; }
  [[noreturn]] void fail(const std::string& doing) const;

 private:
  std::filesystem::path path_;
  sqlite3* handle_ = nullptr;
  std::map<std::string, Statement> prepared_;
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
