// Writes a checkpoint's files, with hashes computed on the way. A final rename makes it valid.
#include "runtime/run/checkpoint/checkpoint_writer.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>

#include "core/base/check.h"
#include "core/base/clock.h"
#include "core/base/errno_hint.h"
#include "core/base/error.h"
#include "core/base/files/beneath.h"
#include "core/base/files/fd.h"
#include "core/base/files/write_all.h"
#include "core/base/hash.h"
#include "core/base/text/text.h"
#include "runtime/run/checkpoint/checkpoint_names.h"
#include "runtime/run/checkpoint/manifest.h"

namespace lockstep {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t largest_write_bytes = 16 << 20;

[[noreturn]] void fail_to_write(const fs::path& path, int error) {
  const bool full = error == ENOSPC || error == EDQUOT;
  throw Error(
      cat("cannot write ", path.string(), ": ", errno_text(error)),
      full ? "free some space, or keep fewer checkpoints with checkpoint.keep" : errno_hint(error));
}

void write_part(int fd, const fs::path& path, std::string_view bytes) {
  if (CheckpointWriter::fault) CheckpointWriter::fault(path, bytes.size());
  if (!write_all(fd, bytes)) fail_to_write(path, errno);
}

// Starts writing to disk while the next part is copied. This is only a hint, and fsync still
// decides.
void begin_write_back(int fd, std::uint64_t offset, std::size_t bytes) {
  static_cast<void>(sync_file_range(fd, static_cast<off64_t>(offset), static_cast<off64_t>(bytes),
                                    SYNC_FILE_RANGE_WRITE));
}

void make_durable(UniqueFd& fd, const fs::path& path) {
  if (fsync(fd.get()) != 0 || close(fd.release()) != 0) fail_to_write(path, errno);
}

struct OpenFile {
  UniqueFd fd;
  Hasher hasher;
  std::uint64_t bytes = 0;
};

}  // namespace

std::function<void(const fs::path&, std::size_t)> CheckpointWriter::fault;

struct CheckpointWriter::Impl {
  Beneath run;
  fs::path checkpoints;  // path below the run
  std::int64_t step = 0;
  fs::path folder{};  // temporary folder, as a path below the run
  // A lock on the folder, which shows remove_leftovers that the writer is alive.
  UniqueFd lock{};
  std::map<std::string, OpenFile> files{};
  bool broken = false;

  UniqueFd open_new(const std::string& name) const {
    UniqueFd fd = run.open(folder / name, O_WRONLY | O_CREAT | O_EXCL);
    if (!fd) fail_to_write(run.path() / folder / name, errno);
    return fd;
  }
};

CheckpointWriter::CheckpointWriter(const fs::path& checkpoints, std::int64_t step)
    : impl_(std::make_unique<Impl>(Impl{.run = Beneath(checkpoints.parent_path()),
                                        .checkpoints = checkpoints.filename(),
                                        .step = step})) {
  LOCKSTEP_CHECK(step >= 0);
  const Beneath& run = impl_->run;
  // Parent folders are not created, so that a removed run directory stays removed.
  if (!run.make_folder(impl_->checkpoints)) run.fail("create folder", impl_->checkpoints, errno);
  const fs::path folder =
      impl_->checkpoints / cat(temporary_prefix, checkpoint_name(step), "-", getpid());
  // An earlier process with our process id may have left it.
  run.remove_folder(folder, is_file_of_checkpoint);
  if (run.status(folder)) run.fail("create folder", folder, EEXIST);
  if (!run.make_folder(folder)) run.fail("create folder", folder, errno);
  impl_->folder = folder;
  impl_->lock = run.open(folder, O_RDONLY | O_DIRECTORY);
  if (impl_->lock) flock(impl_->lock.get(), LOCK_EX | LOCK_NB);
}

CheckpointWriter::~CheckpointWriter() {
  if (!impl_->folder.empty()) impl_->run.remove_folder(impl_->folder, is_file_of_checkpoint);
}

void CheckpointWriter::append(const std::string& name, const void* data, std::size_t bytes) {
  LOCKSTEP_CHECK(!impl_->broken && !impl_->folder.empty());
  LOCKSTEP_CHECK(name != manifest_name && fs::path(name).filename() == name);
  impl_->broken = true;  // until everything is written
  LOCKSTEP_CHECK(is_file_of_checkpoint(name));
  const fs::path path = impl_->run.path() / impl_->folder / name;
  OpenFile& file = impl_->files[name];
  if (!file.fd) file.fd = impl_->open_new(name);
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
  const Beneath& run = impl_->run;
  const fs::path folder = run.path() / impl_->folder;
  std::uint64_t size_bytes = 0;
  for (auto& [name, file] : impl_->files) {
    make_durable(file.fd, folder / name);
    manifest.files[name] = {file.bytes, file.hasher.hex()};
    size_bytes += file.bytes;
  }
  const std::string text = to_text(manifest);
  UniqueFd fd = impl_->open_new(manifest_name);
  write_part(fd.get(), folder / manifest_name, text);
  make_durable(fd, folder / manifest_name);
  if (!run.sync(impl_->folder)) run.fail("sync folder", impl_->folder, errno);

  const fs::path name = checkpoint_name(impl_->step);
  replace_directory(run, impl_->folder, impl_->checkpoints / name,
                    impl_->checkpoints / (aside_prefix + name.string()));
  if (!run.sync(impl_->checkpoints)) run.fail("sync folder", impl_->checkpoints, errno);
  // The temporary name is now free, or belongs to the replaced checkpoint.
  run.remove_folder(impl_->folder, is_file_of_checkpoint);
  impl_->folder.clear();
  return {.path = run.path() / impl_->checkpoints / name,
          .step = impl_->step,
          .size_bytes = size_bytes + text.size(),
          .time = manifest.time,
          .metrics = metrics,
          .damage = {}};
}

}  // namespace lockstep
