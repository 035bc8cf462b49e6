// Writes a volume to a file in the cache.
#include "recipes/volume/voxels/cache_writer.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/files/new_file.h"
#include "core/base/hash.h"
#include "core/base/text/text.h"
#include "recipes/volume/voxels/cached_layout.h"

namespace lockstep::volume {
namespace {

// The number of foreground voxels before each row, and the number of all.
std::vector<std::uint64_t> positives_before_rows(std::span<const std::uint8_t> labels,
                                                 const CachedHeader& header) {
  const auto width = static_cast<std::size_t>(header.shape.width);
  std::vector<std::uint64_t> before{0};
  before.reserve(labels.size() / width + 1);
  for (std::size_t row = 0; row < labels.size(); row += width) {
    std::uint64_t count = 0;
    for (const std::uint8_t label : labels.subspan(row, width))
      count += label != 0 && label != header.ignore;
    before.push_back(before.back() + count);
  }
  return before;
}

// The hash of everything after the header. Gaps in the file count as zeros.
std::string content_of(const CachedLayout& layout, std::span<const std::byte> image,
                       std::span<const std::byte> labels, std::span<const std::byte> rows) {
  Hasher hasher;
  std::size_t at = layout.image_at;
  const auto add = [&](std::size_t begin, std::span<const std::byte> part) {
    hasher.update(std::string(begin - at, '\0'));
    hasher.update(part.data(), part.size());
    at = begin + part.size();
  };
  add(layout.image_at, image);
  add(layout.labels_at, labels);
  add(layout.rows_at, rows);
  return hasher.hex();
}

[[noreturn]] void fail_full(const std::filesystem::path& path, std::uint64_t needed) {
  const std::filesystem::path folder = path.parent_path();
  std::error_code unknown;
  const std::uintmax_t free = std::filesystem::space(folder, unknown).available;
  throw Error(cat("the cache of volumes in ", folder.string(), " has no room: a volume takes ",
                  format_bytes(static_cast<double>(needed)), ", and ",
                  unknown ? "nothing" : format_bytes(static_cast<double>(free)), " is free"),
              "make room on that disk, or name a folder on another one with run.root");
}

class Output {
 public:
  Output(const std::filesystem::path& path, std::uint64_t bytes) : file_(path), bytes_(bytes) {
    reserve();
  }
  void put(std::size_t at, std::span<const std::byte> bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t count = ::pwrite(file_.fd(), bytes.data() + done, bytes.size() - done,
                                     static_cast<off_t>(at + done));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) fail(errno);
      done += static_cast<std::size_t>(count);
    }
  }
  void commit() { file_.commit(false); }

 private:
  // Reserves disk space before anything is written. A process that maps a file with missing blocks
  // would crash.
  void reserve() {
    const int error = ::posix_fallocate(file_.fd(), 0, static_cast<off_t>(bytes_));
    if (error != 0 && error != EOPNOTSUPP && error != EINVAL) fail(error);
  }
  [[noreturn]] void fail(int error) const {
    if (error == ENOSPC || error == EDQUOT || error == EFBIG) fail_full(file_.path(), bytes_);
    file_.fail(error);
  }

  NewFile file_;
  std::uint64_t bytes_;
};

}  // namespace

std::uint64_t cached_bytes(const CachedHeader& header) {
  return layout_of(header, cached_json(header).size()).file_bytes;
}

void write_cached(const std::filesystem::path& path, const Voxels& voxels,
                  std::span<const std::uint8_t> labels, CachedHeader header) {
  header.shape = voxels.shape;
  header.type = voxels.type;
  header.labelled = !labels.empty();
  header.ignored = header.ignore < 0 ? 0 : std::count(labels.begin(), labels.end(), header.ignore);
  const CachedLayout layout = layout_of(header, cached_json(header).size());
  LOCKSTEP_CHECK(voxels.values.size() == layout.image_bytes);
  LOCKSTEP_CHECK(labels.size() == layout.labels_bytes);
  const std::vector<std::uint64_t> before =
      header.labelled ? positives_before_rows(labels, header) : std::vector<std::uint64_t>();
  const auto rows = std::as_bytes(std::span(before));
  header.content = content_of(layout, voxels.values, std::as_bytes(labels), rows);
  const std::string json = cached_json(header);
  CachedPrologue prologue{};
  std::memcpy(prologue.magic, cached_magic, sizeof cached_magic);
  prologue.version = cached_version;
  prologue.json_bytes = static_cast<std::uint32_t>(json.size());
  prologue.file_bytes = layout.file_bytes;
  prologue.json_sum = hash64(json);
  Output output(path, layout.file_bytes);
  output.put(0, std::as_bytes(std::span(&prologue, 1)));
  output.put(sizeof prologue, std::as_bytes(std::span(json)));
  output.put(layout.image_at, voxels.values);
  output.put(layout.labels_at, std::as_bytes(labels));
  output.put(layout.rows_at, rows);
  output.commit();
}

}  // namespace lockstep::volume
