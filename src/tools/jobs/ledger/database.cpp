#include "tools/jobs/ledger/database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/fd.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr int steps_at_once = 1000;  // number of steps between two checks of the limits
// The limit of SQLite's work in relation to the file's size. A row with the rows that belong to it
// takes a few hundred steps at most. It takes at least as many bytes.
constexpr std::int64_t steps_per_byte = 16;
constexpr double open_s = 10;
constexpr std::int64_t open_steps = 10'000;
// The longest value is a job's text. The kernel limits its command to less.
constexpr int longest_value_bytes = 8 << 20;

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
    case SQLITE_INTERRUPT:
      return "it is very large, damaged, or made so that reading it does not end";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return "the file is damaged or another kind of file; sqlite3 FILE .recover may save its rows";
    default:
      return {};
  }
}

bool is_on_disk(const fs::path& path) { return path != ":memory:"; }

// Opens only regular files for SQLite. Another process may put a pipe or a device in their place,
// and SQLite would wait for it forever.
int open_regular(const char* path, int flags, int mode) {
  const std::string_view name = path;
  if (name == "/dev/null" || name == "/dev/urandom") return ::open(path, flags, mode);
  UniqueFd fd(::open(path, flags | O_NONBLOCK, mode));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) return -1;
  if (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)) return fd.release();  // SQLite syncs folders
  fd.reset();
  errno = ENXIO;
  return -1;
}

// Done once, for all databases of this program.
void open_regular_files_alone() {
  static const bool done [[maybe_unused]] = [] {
    sqlite3_vfs* const vfs = sqlite3_vfs_find(nullptr);
    return vfs != nullptr && vfs->iVersion >= 3 && vfs->xSetSystemCall != nullptr &&
           vfs->xSetSystemCall(vfs, "open", reinterpret_cast<sqlite3_syscall_ptr>(&open_regular)) ==
               SQLITE_OK;
  }();
}

const char* file_kind(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFLNK:
      return "a link";
    case S_IFIFO:
      return "a pipe";
    case S_IFDIR:
      return "a folder";
    case S_IFSOCK:
      return "a socket";
    default:
      return "a device";
  }
}

// Whether a journal names another file. A journal that spans several databases ends with the name
// of a file that SQLite deletes after playback. Lockstep writes no such journal.
bool names_another_file(const fs::path& journal) {
  constexpr std::string_view mark("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
  const UniqueFd fd(::open(journal.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0 || info.st_size < std::ssize(mark)) return false;
  char end[mark.size()];
  return ::pread(fd.get(), end, sizeof end, info.st_size - std::ssize(mark)) == sizeof end &&
         std::string_view(end, sizeof end) == mark;
}

// CPU time of this thread, so that a slow disk or another program's lock does not count.
double processor_s() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::int64_t bytes_of(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(file, error);
  return error ? 0 : static_cast<std::int64_t>(bytes);
}

// Whether the database uses a write-ahead log that does not exist now, because nobody has the
// database open. SQLite would create a new log and shared memory just for reading.
bool is_wal_at_rest(const fs::path& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  constexpr off_t version_at = 18;  // https://www.sqlite.org/fileformat.html
  unsigned char versions[2] = {};
  const bool is_wal = fd &&
                      ::pread(fd.get(), versions, sizeof versions, version_at) == sizeof versions &&
                      versions[0] == 2 && versions[1] == 2;
  return is_wal && bytes_of(path.string() + "-wal") == 0;
}

std::string uri_at_rest(const fs::path& path) {
  std::string uri = "file:";
  for (const char letter : fs::absolute(path).string())
    if (letter == '%' || letter == '?' || letter == '#')
      uri += cat('%', "0123456789abcdef"[letter >> 4], "0123456789abcdef"[letter & 15]);
    else
      uri += letter;
  return uri + "?immutable=1";
}

}  // namespace

void check_database_files(const fs::path& path, const char* what) {
  for (const char* more : {"", "-wal", "-shm", "-journal"}) {
    const fs::path file = path.string() + more;
    struct stat info {};
    if (::lstat(file.c_str(), &info) != 0 || S_ISREG(info.st_mode)) continue;
    throw Error(cat("cannot open the ", what, " ", path.string(), ": ", file.filename().string(),
                    " must be a regular file, but is ", file_kind(info.st_mode)),
                "put the file itself in its place");
  }
  if (names_another_file(path.string() + "-journal"))
    throw Error(
        cat("cannot open the ", what, " ", path.string(), ": its journal names a further file"),
        cat("neither Lockstep nor a tracker writes such: remove the file ",
            path.filename().string(), "-journal"));
}

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
    : path_(std::move(path)), access_(access) {
  open_regular_files_alone();
  if (is_on_disk(path_)) check_database_files(path_, what());
  open(access == Access::write    ? SQLITE_OPEN_READWRITE
       : access == Access::create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                  : SQLITE_OPEN_READONLY);
  sqlite3_extended_result_codes(handle_, 1);
  sqlite3_busy_timeout(handle_, static_cast<int>(busy_s * 1000));
  configure();
}

void Database::open(int flags) {
  std::string name = path_.string();
  if (!is_on_disk(path_)) flags |= SQLITE_OPEN_URI;  // attached databases may have URIs
  if (access_ == Access::foreign && is_wal_at_rest(path_)) {
    flags |= SQLITE_OPEN_URI;
    name = uri_at_rest(path_);
  }
  // Each connection is used by one thread.
  const int code = sqlite3_open_v2(name.c_str(), &handle_, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  if (code == SQLITE_OK) return;
  const std::string why = sqlite3_errstr(code);
  sqlite3_close(handle_);
  throw Error(cat("cannot open the ", what(), " ", path_.string(), ": ", why), hint_of(code));
}

const char* Database::what() const { return access_ == Access::foreign ? "database" : "ledger"; }

void Database::configure() {
  opened_s_ = processor_s();
  if (is_on_disk(path_)) limit_work({.seconds = open_s, .steps = open_steps});
  for (const auto& [what, on] :
       {std::pair(SQLITE_DBCONFIG_DEFENSIVE, 1), std::pair(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
        std::pair(SQLITE_DBCONFIG_ENABLE_TRIGGER, 0), std::pair(SQLITE_DBCONFIG_ENABLE_VIEW, 0)})
    sqlite3_db_config(handle_, what, on, nullptr);
  for (const auto& [what, most] :
       {std::pair(SQLITE_LIMIT_LENGTH, longest_value_bytes),
        std::pair(SQLITE_LIMIT_SQL_LENGTH, 100'000), std::pair(SQLITE_LIMIT_COLUMN, 100),
        std::pair(SQLITE_LIMIT_EXPR_DEPTH, 100), std::pair(SQLITE_LIMIT_ATTACHED, 1)})
    sqlite3_limit(handle_, what, most);
  sqlite3_exec(handle_, "PRAGMA cell_size_check = ON", nullptr, nullptr, nullptr);
}

void Database::limit_work(WorkLimit limit) {
  limit_ = std::move(limit);
  steps_ = 0;
  allowed_steps_ = limit_.steps;
  const WorkLimit none;
  const bool limited = limit_.seconds < none.seconds || limit_.steps < none.steps;
  sqlite3_progress_handler(handle_, limited ? steps_at_once : 0, &Database::on_progress, this);
}

int Database::on_progress(void* database) {
  return static_cast<Database*>(database)->has_spent_all() ? 1 : 0;
}

bool Database::has_spent_all() {
  steps_ += steps_at_once;
  took_too_long_ = processor_s() - opened_s_ > limit_.seconds;
  if (took_too_long_) return true;
  if (steps_ <= allowed_steps_) return false;
  if (limit_.file.empty()) return true;
  // Uses the file's present size, because the file may have grown.
  allowed_steps_ = limit_.steps + steps_per_byte * (bytes_of(limit_.file) +
                                                    bytes_of(limit_.file.string() + "-wal"));
  return steps_ > allowed_steps_;
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
  const int code = sqlite3_errcode(handle_);
  const std::string why = code != SQLITE_INTERRUPT ? sqlite3_errmsg(handle_)
                          : took_too_long_
                              ? cat("it takes more than ", general(limit_.seconds, 3), " s")
                              : std::string("it takes more steps than its size explains");
  throw Error(cat("cannot ", doing, " the ", what(), " ", path_.string(), ": ", why),
              hint_of(code));
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
    // After a full disk or an I/O error, SQLite has already rolled back.
  }
}

void Transaction::commit() {
  if (open_) database_.prepared("COMMIT").run();
  open_ = false;
}

}  // namespace lockstep
