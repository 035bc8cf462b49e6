// The files of a checkpoint, hashed as they are written, and the rename that makes it count.
#include "run/checkpoint_writer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "base/check.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/write_all.h"
#include "run/checkpoint_names.h"
#include "run/manifest.h"

namespace lockstep {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t largest_write_bytes = 16 << 20;

[[noreturn]] void fail(const char* action, const fs::path& path, int error) {
  const bool full = error == ENOSPC || error == EDQUOT;
  throw Error(cat("cannot ", action, " ", path.string(), ": ", errno_text(error)),
              full             ? "free some space, or keep fewer checkpoints with checkpoint.keep"
              : error == EFBIG ? "files may not be longer here: see ulimit -f"
                               : "");
}

void write_part(int fd, const fs::path& path, std::string_view bytes) {
  if (CheckpointWriter::fault) CheckpointWriter::fault(path, bytes.size());
  if (!write_all(fd, bytes)) fail("write", path, errno);
}

// The disk works while the next part is copied. Only a hint: fsync is what counts.
void begin_write_back(int fd, std::uint64_t offset, std::size_t bytes) {
  static_cast<void>(sync_file_range(fd, static_cast<off64_t>(offset), static_cast<off64_t>(bytes),
                                    SYNC_FILE_RANGE_WRITE));
}

void make_durable(UniqueFd& fd, const fs::path& path) {
  if (fsync(fd.get()) != 0) fail("write", path, errno);
  if (close(fd.release()) != 0) fail("write", path, errno);
}

UniqueFd open_new(const fs::path& path) {
  UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd) fail("create", path, errno);
  return fd;
}

struct OpenFile {
  UniqueFd fd;
  Hasher hasher;
  std::uint64_t bytes = 0;
};

}  // namespace

std::function<void(const fs::path&, std::size_t)> CheckpointWriter::fault;

struct CheckpointWriter::Impl {
  fs::path checkpoints;
  std::int64_t step = 0;
  fs::path folder;  // temporary
  UniqueFd lock;    // on the folder, so that remove_leftovers knows that its writer lives
  std::map<std::string, OpenFile> files;
  bool broken = false;
};

CheckpointWriter::CheckpointWriter(const fs::path& checkpoints, std::int64_t step)
    : impl_(std::make_unique<Impl>()) {
  LOCKSTEP_CHECK(step >= 0);
  impl_->checkpoints = checkpoints;
  impl_->step = step;
  // Not what lies above: a run directory that was removed is not put back.
  if (mkdir(checkpoints.c_str(), 0777) != 0 && errno != EEXIST)
    fail("create folder", checkpoints, errno);
  const fs::path folder = checkpoints / cat(temporary_prefix, checkpoint_name(step), "-", getpid());
  // An earlier process may have had our id.
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  if (mkdir(folder.c_str(), 0777) != 0) fail("create folder", folder, errno);
  impl_->folder = folder;
  impl_->lock.reset(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (impl_->lock) flock(impl_->lock.get(), LOCK_EX | LOCK_NB);
}

CheckpointWriter::~CheckpointWriter() {
  std::error_code ignored;
  if (!impl_->folder.empty()) fs::remove_all(impl_->folder, ignored);
}

void CheckpointWriter::append(const std::string& name, const void* data, std::size_t bytes) {
  LOCKSTEP_CHECK(!impl_->broken && !impl_->folder.empty());
  LOCKSTEP_CHECK(name != manifest_name && fs::path(name).filename() == name);
  impl_->broken = true;  // until all is written
  const fs::path path = impl_->folder / name;
  OpenFile& file = impl_->files[name];
  if (!file.fd) file.fd = open_new(path);
  const char* next = static_cast<const char*>(data);
  for (std::size_t left = bytes; left > 0;) {
    const std::size_t part = std::min(left, largest_write_bytes);
    write_part(file.fd.get(), path, {next, part});
    begin_write_back(file.fd.get(), file.bytes + (bytes - left), part);
    file.hasher.update(next, part);
    next += part;
    left -= part;
  }
  file.bytes += bytes;
  impl_->broken = false;
}

CheckpointInfo CheckpointWriter::commit(const nlohmann::json& metrics) {
  LOCKSTEP_CHECK(!impl_->broken && !impl_->folder.empty());
  impl_->broken = true;
  Manifest manifest{
      .step = impl_->step, .time = system_clock().wall_s(), .metrics = metrics, .files = {}};
  std::uint64_t size_bytes = 0;
  for (auto& [name, file] : impl_->files) {
    make_durable(file.fd, impl_->folder / name);
    manifest.files[name] = {file.bytes, file.hasher.hex()};
    size_bytes += file.bytes;
  }
  const std::string text = to_text(manifest);
  const fs::path path = impl_->folder / manifest_name;
  UniqueFd fd = open_new(path);
  write_part(fd.get(), path, text);
  make_durable(fd, path);
  sync_directory(impl_->folder);

  const fs::path final_path = impl_->checkpoints / checkpoint_name(impl_->step);
  replace_directory(impl_->folder, final_path,
                    impl_->checkpoints / (aside_prefix + checkpoint_name(impl_->step)));
  sync_directory(impl_->checkpoints);
  // The temporary name is gone now, or holds the checkpoint that was replaced.
  std::error_code ignored;
  fs::remove_all(impl_->folder, ignored);
  impl_->folder.clear();
  return {.path = final_path,
          .step = impl_->step,
          .size_bytes = size_bytes + text.size(),
          .time = manifest.time,
          .metrics = metrics,
          .damage = {}};
}

}  // namespace lockstep
