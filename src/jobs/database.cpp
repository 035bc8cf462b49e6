#include "jobs/database.h"

#include <sqlite3.h>

#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace lockstep {
namespace {

constexpr const char* disk_hint =
    "make room, or look whether the folder lies on a file system that locks files";

std::string hint_of(int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return "make room on the disk; nothing of what is recorded is lost";
    case SQLITE_IOERR:
    case SQLITE_PROTOCOL:
      return disk_hint;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another program holds it for long: look for one with lsof or fuser";
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      return "check that the folder can be written to";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return "the file is damaged or another kind of file; sqlite3 FILE .recover may save its rows";
    default:
      return {};
  }
}

}  // namespace

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
  if (sqlite3_prepare_v3(database.handle(), sql.data(), static_cast<int>(sql.size()),
                         SQLITE_PREPARE_PERSISTENT, &statement_, nullptr) != SQLITE_OK)
    database.fail("read");
}

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_), statement_(std::exchange(other.statement_, nullptr)) {}

Statement::~Statement() { sqlite3_finalize(statement_); }

Statement& Statement::bind(int parameter, std::int64_t value) {
  sqlite3_bind_int64(statement_, parameter, value);
  return *this;
}

Statement& Statement::bind(int parameter, double value) {
  sqlite3_bind_double(statement_, parameter, value);
  return *this;
}

Statement& Statement::bind(int parameter, std::string_view text) {
  sqlite3_bind_text64(statement_, parameter, text.data(), text.size(), SQLITE_TRANSIENT,
                      SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind_null(int parameter) {
  sqlite3_bind_null(statement_, parameter);
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  sqlite3_reset(statement_);
  database_.fail(sqlite3_stmt_readonly(statement_) != 0 ? "read" : "write");
}

void Statement::run() {
  while (step()) continue;
  reset();
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}
double Statement::number(int column) const { return sqlite3_column_double(statement_, column); }

std::string Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return text == nullptr
             ? std::string()
             : std::string(text,
                           static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

void Statement::reset() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

Database::Database(std::filesystem::path path, Access access, double busy_s)
    : path_(std::move(path)) {
  const int flags = access == Access::read    ? SQLITE_OPEN_READONLY
                    : access == Access::write ? SQLITE_OPEN_READWRITE
                                              : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  // Each connection is used by one thread.
  const int code = sqlite3_open_v2(path_.c_str(), &handle_, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code != SQLITE_OK) {
    const std::string why = sqlite3_errstr(code);
    sqlite3_close(handle_);
    throw Error(cat("cannot open the ledger ", path_.string(), ": ", why), hint_of(code));
  }
  sqlite3_extended_result_codes(handle_, 1);
  sqlite3_busy_timeout(handle_, static_cast<int>(busy_s * 1000));
}

Database::~Database() {
  prepared_.clear();
  sqlite3_close(handle_);
}

void Database::execute(const std::string& sql) {
  if (sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail("write");
}

Statement& Database::prepared(const std::string& sql) {
  const auto found = prepared_.find(sql);
  if (found != prepared_.end()) return found->second;
  return prepared_.emplace(sql, Statement(*this, sql)).first->second;
}

std::int64_t Database::last_row_id() const { return sqlite3_last_insert_rowid(handle_); }
std::int64_t Database::changes() const { return sqlite3_changes64(handle_); }

void Database::fail(const std::string& doing) const {
  throw Error(cat("cannot ", doing, " the ledger ", path_.string(), ": ", sqlite3_errmsg(handle_)),
              hint_of(sqlite3_errcode(handle_)));
}

Transaction::Transaction(Database& database)
    : database_(database), open_(sqlite3_get_autocommit(database.handle()) != 0) {
  if (open_) database_.prepared("BEGIN IMMEDIATE").run();
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.prepared("ROLLBACK").run();
  } catch (const Error&) {
    // SQLite has rolled back by itself after a full disk or an input/output error.
  }
}

void Transaction::commit() {
  if (open_) database_.prepared("COMMIT").run();
  open_ = false;
}

}  // namespace lockstep
