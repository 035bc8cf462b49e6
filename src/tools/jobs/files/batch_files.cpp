#include "tools/jobs/files/batch_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "core/base/error.h"
#include "core/base/files/beneath.h"
#include "core/base/text/text.h"
#include "runtime/launch/output/log_tail.h"

namespace lockstep {
namespace {

namespace fs = std::filesystem;

// The folder that holds a batch's files. The folders of a share (BATCH/shares/K) are links to those
// of BATCH, so it is BATCH for them.
fs::path folder_of_files(const BatchFolder& batch, const fs::path& below) {
  if (batch.path.parent_path().filename() != "shares" || below.empty()) return batch.path;
  std::error_code error;
  const fs::path target = fs::read_symlink(batch.path / *below.begin(), error);
  const bool leads_to_batch = !error && target == fs::path("../..") / *below.begin();
  return leads_to_batch ? batch.path.parent_path().parent_path() : batch.path;
}

// Whether the error means that a path leads elsewhere: through a link, `..`, or a file in place of
// a folder.
bool leads_elsewhere(int error) { return error == ELOOP || error == EXDEV || error == ENOTDIR; }

}  // namespace

std::optional<UniqueFd> open_in_batch(const BatchFolder& batch, const fs::path& below) {
  UniqueFd fd = Beneath(folder_of_files(batch, below))
                    .open(below, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  const int error = errno;
  const fs::path path = batch.path / below;
  if (!fd && error == ENOENT) return std::nullopt;
  if (!fd && leads_elsewhere(error))
    throw Error(cat("cannot read ", printable(path.string()),
                    ": a link, or its name, leads out of the batch's folder"),
                "the batch was made so by somebody: look at it by hand if you trust it");
  if (!fd) throw Error(cat("cannot read ", printable(path.string()), ": ", errno_text(error)));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode))
    throw Error(cat("cannot read ", printable(path.string()), ": it is no regular file"));
  return fd;
}

std::optional<UniqueFd> open_log(const BatchFolder& batch, const std::string& job, int number) {
  return open_in_batch(batch, BatchFolder{}.log(job, number));
}

std::string log_end(const BatchFolder& batch, const std::string& job, int number, int lines,
                    std::size_t bytes) try {
  const std::optional<UniqueFd> log = open_log(batch, job, number);
  return log ? last_lines_of_file(*log, lines, bytes) : std::string();
} catch (const Error&) {
  return {};
}

}  // namespace lockstep
