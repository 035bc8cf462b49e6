#include "report/export_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "base/write_all.h"

namespace lockstep {
namespace {

[[noreturn]] void fail_export(const std::filesystem::path& path) {
  throw Error(cat("cannot write ", path.string(), ": ", errno_text(errno)),
              "name a folder that can be written to");
}

}  // namespace

ExportFile::ExportFile(std::filesystem::path path) : path_(std::move(path)) {
  make_directories(path_.parent_path());
  temporary_ = path_.parent_path() / cat(".", path_.filename().string(), ".", getpid());
  file_.reset(
      open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file_) fail_export(path_);
}

ExportFile::~ExportFile() {
  if (file_) unlink(temporary_.c_str());
}

void ExportFile::write(std::string_view bytes) {
  constexpr std::size_t enough = 1 << 16;
  pending_ += bytes;
  if (pending_.size() >= enough) flush();
}

void ExportFile::flush() {
  if (!write_all(file_.get(), pending_)) fail_export(path_);
  pending_.clear();
}

void ExportFile::finish() {
  flush();
  if (fsync(file_.get()) != 0 || rename(temporary_.c_str(), path_.c_str()) != 0) fail_export(path_);
  file_.reset();
  sync_directory(path_.parent_path());
}

}  // namespace lockstep
