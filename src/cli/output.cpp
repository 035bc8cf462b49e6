#include "cli/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "base/whole_number.h"
#include "base/write_all.h"
#include "cli/context.h"
#include "config/options.h"
#include "monitor/process_info.h"

namespace lockstep::cli {

Output::Output(const std::string& path, int mode) : path_(path) {
  if (path == "-") return;
  file_.reset(
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, static_cast<mode_t>(mode)));
  if (file_) return;
  if (errno == EEXIST)
    throw Error(cat(path, " is there already"), "name another file, or remove that one");
  throw Error(cat(path, ": ", errno_text(errno)));
}

Output::~Output() {
  if (file_ && !begun_) unlink(path_.c_str());
}

Written Output::write(std::string_view text) {
  begun_ = true;
  const int fd = file_ ? file_.get() : STDOUT_FILENO;
  if (write_all(fd, text)) return Written::yes;
  if (errno == EPIPE) return Written::unread;
  say(cat("error: ", path_ == "-" ? "standard output" : path_, ": ", errno_text(errno),
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
