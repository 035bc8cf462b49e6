#include "tools/cli/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/write_all.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "core/config/options.h"
#include "tools/cli/context.h"
#include "tools/monitor/process_info.h"

namespace lockstep::cli {

namespace {

// The descriptor of this program that the path names, or -1.
int named_descriptor(const std::string& path) {
  if (path == "-" || path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    return whole_number<int>(path.substr(folder.size())).value_or(-1);
  }
  return -1;
}

// Opens an existing pipe or device for writing. Returns an empty descriptor for a regular file or a
// missing one.
UniqueFd open_special(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 || S_ISREG(info.st_mode)) return UniqueFd();
  if (S_ISDIR(info.st_mode)) throw Error(cat(path, " is a folder"), "name a file in it");
  if (S_ISBLK(info.st_mode)) throw Error(cat(path, " is a whole disk"), "name a file");
  UniqueFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) throw Error(cat(path, ": ", errno_text(errno)), "name another file");
  return fd;
}

}  // namespace

bool names_standard_output(const std::string& path) {
  return named_descriptor(path) == STDOUT_FILENO;
}

void check_new_file(const std::filesystem::path& file, bool overwrite) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::is_directory(file, ignored))
    throw Error(cat(file.string(), " is a folder"), "name a file in it");
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    throw Error(cat("cannot write ", file.string(), ": ", errno_text(errno)),
                "name a file in a folder that you can write to");
  if (!fs::exists(fs::symlink_status(file, ignored))) return;
  if (!overwrite)
    throw Error(cat(file.string(), " is there already"),
                "name another file, or overwrite it with --force");
  if (!fs::is_regular_file(file, ignored))
    throw Error(cat(file.string(), " is no file"), "name another one");
}

Flag overwrite_flag() { return {"--force", "", "overwrite a file that is there already"}; }

bool may_overwrite(const Parsed& parsed) { return parsed.has("--force"); }

Output::Output(const std::string& path, bool overwrite, mode_t mode) : path_(path), mode_(mode) {
  const int named = named_descriptor(path);
  if (named == STDOUT_FILENO) return;
  if (named >= 0) {
    file_.reset(fcntl(named, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (!file_) throw Error(cat(path, ": ", errno_text(errno)), "name another file");
    return;
  }
  if ((file_ = open_special(path))) return;
  file_.reset(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  is_new_ = static_cast<bool>(file_);
  if (is_new_) return;
  if (errno == EEXIST && !overwrite)
    throw Error(cat(path, " is there already"), "name another file, or overwrite it with --force");
  if (errno == EEXIST) file_.reset(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, mode));
  overwrites_ = static_cast<bool>(file_);
  if (!file_)
    throw Error(cat(path, ": ", errno_text(errno)),
                "name a file in a folder that is there and can be written to");
}

Output::~Output() {
  if (is_new_ && !begun_) unlink(path_.c_str());
}

bool Output::begin() {
  if (std::exchange(begun_, true) || !overwrites_) return true;
  struct stat info {};
  const bool is_private = (mode_ & 077) == 0;
  if (fstat(file_.get(), &info) != 0) return false;
  if (is_private && fchmod(file_.get(), info.st_mode & mode_) != 0) return false;
  return ftruncate(file_.get(), 0) == 0;
}

Written Output::write(std::string_view text) {
  const int fd = file_ ? file_.get() : STDOUT_FILENO;
  const bool shown = isatty(fd) != 0;
  if (begin() && write_all(fd, shown ? printable(std::string(text), "\n\t") : text))
    return Written::yes;
  if (errno == EPIPE) return Written::unread;
  say(cat("error: ", file_ ? path_ : "standard output", ": ", errno_text(errno),
          "; what was written before is kept"));
  return Written::failed;
}

double duration_of(const Parsed& parsed, const std::string& flag, double otherwise, double least) {
  if (!parsed.has(flag)) return otherwise;
  const std::string text = parsed.value(flag);
  double seconds = -1;
  try {
    seconds = parse_duration(text).seconds;
  } catch (const Error& error) {
    throw Error(cat(flag, ": ", error.what()), error.hint());
  }
  if (seconds < least)
    throw Error(cat(flag, " must be at least ", general(least, 3), "s, but is ", text));
  return seconds;
}

int pid_of(const std::string& text, const std::string& what) {
  const std::optional<int> pid = whole_number<int>(text, 1);
  if (!pid) throw Error(cat(what, " must be the number of a process, but is \"", text, "\""));
  if (!process_info(*pid)) throw Error(cat(what, ": there is no process ", *pid));
  return *pid;
}

}  // namespace lockstep::cli
