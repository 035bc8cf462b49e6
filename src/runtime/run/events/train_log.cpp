#include "runtime/run/events/train_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/error.h"
#include "core/base/files/beneath.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

// A killed process or a full disk may leave an incomplete line.
bool ends_within_a_line(int fd, off_t bytes) {
  char last = '\n';
  return bytes > 0 && ::pread(fd, &last, 1, bytes - 1) == 1 && last != '\n';
}

}  // namespace

TrainLog::TrainLog(const std::filesystem::path& run_dir) {
  const std::filesystem::path below = train_log_name;
  try {
    const Beneath run(run_dir);
    run.make_folder(below.parent_path());
    file_ = run.open(below, O_RDWR | O_APPEND | O_CREAT | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    struct stat info {};
    if (!file_ || ::fstat(file_.get(), &info) != 0) run.fail("write", below, errno);
    if (!S_ISREG(info.st_mode)) throw Error(cat((run_dir / below).string(), " is no file"));
    line_open_ = ends_within_a_line(file_.get(), info.st_size);
  } catch (const Error& error) {
    file_.reset();
    fault_ = error.what();
  }
}

bool TrainLog::append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      lost_ = written < 0 ? errno : ENOSPC;
      return false;
    }
    line_open_ = bytes[static_cast<std::size_t>(written) - 1] != '\n';
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void TrainLog::write(std::string_view lines) {
  if (!file_ || lines.empty()) return;
  std::string text = line_open_ ? "\n" : "";
  if (lost_ != 0) text += cat("(lines are missing here: ", errno_text(lost_), ")\n");
  text += lines;
  if (append(text)) lost_ = 0;
}

}  // namespace lockstep
