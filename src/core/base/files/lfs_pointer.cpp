#include "core/base/files/lfs_pointer.h"

#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

constexpr std::string_view first_line = "version https://git-lfs.github.com/spec/v";
constexpr off_t longest_pointer = 1023;

}  // namespace

bool begins_as_lfs_pointer(std::string_view begin) { return begin.starts_with(first_line); }

void refuse_lfs_pointer(int fd, const std::filesystem::path& path) {
  struct stat info {};
  if (::fstat(fd, &info) != 0 || info.st_size > longest_pointer ||
      info.st_size < static_cast<off_t>(first_line.size()))
    return;
  char begin[first_line.size()];
  if (::pread(fd, begin, sizeof begin, 0) != static_cast<ssize_t>(sizeof begin) ||
      !begins_as_lfs_pointer({begin, sizeof begin}))
    return;
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  throw Error(cat("cannot read ", path.string(),
                  ": it is a pointer of Git LFS, and the file itself was not fetched"),
              cat("fetch it: git -C ", shell_word(folder.string()), " lfs pull"));
}

}  // namespace lockstep
