#include "worker/output_stream.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/error.h"
#include "core/base/files/write_all.h"
#include "core/base/text/text.h"

namespace lockstep {

OutputStream::OutputStream(const std::string& file)
    : name_(file.empty() ? "standard output" : file) {
  if (file.empty()) return;
  file_.reset(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file_) throw Error(cat("cannot write ", name_, ": ", errno_text(errno)));
}

void OutputStream::write(std::string_view text) {
  const int fd = file_ ? file_.get() : STDOUT_FILENO;
  if (isatty(fd) != 0 ? write_all(fd, printable_log(text)) : write_all(fd, text)) return;
  const int reason = errno;
  throw Error(cat("cannot write to ", name_, ": ", errno_text(reason)),
              reason == ENOSPC ? "free some space, or write to another disk" : "");
}

}  // namespace lockstep
