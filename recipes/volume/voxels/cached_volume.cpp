// Maps a cached volume and checks it against its own header.
#include "recipes/volume/voxels/cached_volume.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/files/fd.h"
#include "core/base/hash.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "recipes/volume/voxels/cache_writer.h"
#include "recipes/volume/voxels/cached_layout.h"

namespace lockstep::volume {
namespace {

using nlohmann::json;

std::size_t aligned(std::size_t at) { return (at + 63) / 64 * 64; }

CachedHeader header_from(const json& json, const std::string& name) {
  CachedHeader header;
  const auto extents = json.at("shape").get<std::array<std::int64_t, 4>>();
  header.shape = {
      .depth = extents[1], .height = extents[2], .width = extents[3], .channels = extents[0]};
  check_shape(header.shape, name, {.allow_2d = true});
  header.type = cached_type(json.at("type"));
  header.labelled = json.at("labelled");
  header.ignore = json.at("ignore");
  header.spacing_mm = json.at("spacing_mm");
  header.spacing_known = json.at("spacing_known");
  header.white_is_zero = json.at("white_is_zero");
  header.ignored = json.at("ignored");
  header.content = json.at("content");
  for (const auto& channel : json.at("channels"))
    header.channels.push_back(channel_statistics_from_json(channel));
  return header;
}

// Returns false if the file is incomplete or of another version.
bool take_header(std::span<const std::byte> file, const std::string& name, CachedHeader& header,
                 CachedLayout& layout) try {
  CachedPrologue prologue{};
  if (file.size() < sizeof prologue) return false;
  std::memcpy(&prologue, file.data(), sizeof prologue);
  if (std::memcmp(prologue.magic, cached_magic, sizeof cached_magic) != 0 ||
      prologue.version != cached_version || prologue.file_bytes != file.size() ||
      prologue.json_bytes > file.size() - sizeof prologue)
    return false;
  const auto* text = reinterpret_cast<const char*>(file.data() + sizeof prologue);
  if (hash64({text, prologue.json_bytes}) != prologue.json_sum) return false;
  header = header_from(parse_json({text, prologue.json_bytes}), name);
  layout = layout_of(header, prologue.json_bytes);
  return layout.file_bytes == file.size();
} catch (const json::exception&) {
  return false;
} catch (const Error&) {
  return false;
}

}  // namespace

CachedLayout layout_of(const CachedHeader& header, std::size_t json_bytes) {
  const VolumeShape& shape = header.shape;
  const auto rows = static_cast<std::size_t>(shape.depth * shape.height);
  const std::size_t voxels = rows * static_cast<std::size_t>(shape.width);
  CachedLayout layout;
  layout.image_at = aligned(sizeof(CachedPrologue) + json_bytes);
  layout.image_bytes = voxels * static_cast<std::size_t>(shape.channels) * bytes_of(header.type);
  layout.labels_at = aligned(layout.image_at + layout.image_bytes);
  layout.labels_bytes = header.labelled ? voxels : 0;
  layout.rows_at = aligned(layout.labels_at + layout.labels_bytes);
  layout.rows_bytes = header.labelled ? (rows + 1) * sizeof(std::uint64_t) : 0;
  layout.file_bytes = layout.rows_at + layout.rows_bytes;
  return layout;
}

std::string cached_json(const CachedHeader& header) {
  const VolumeShape& shape = header.shape;
  json channels = json::array();
  for (const ChannelStatistics& channel : header.channels) channels.push_back(to_json(channel));
  return json{{"shape", {shape.channels, shape.depth, shape.height, shape.width}},
              {"type", name_of(header.type)},
              {"labelled", header.labelled},
              {"ignore", header.ignore},
              {"spacing_mm", header.spacing_mm},
              {"spacing_known", header.spacing_known},
              {"white_is_zero", header.white_is_zero},
              {"ignored", header.ignored},
              {"content", header.content},
              {"channels", channels}}
      .dump();
}

VoxelType cached_type(const std::string& name) {
  for (const VoxelType type : {VoxelType::u8, VoxelType::u16, VoxelType::f32})
    if (name == name_of(type)) return type;
  throw Error(cat("cached voxels are u8, u16 or f32, but these are ", name));
}

CachedVolume::CachedVolume(const std::filesystem::path& path) {
  const auto fail = [&] {
    throw Error(cat("cannot read ", path.string(), ": ", errno_text(errno)),
                "a cached volume is missing; start the run again, which prepares it anew");
  };
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (!fd || ::fstat(fd.get(), &info) != 0) fail();
  bytes_ = static_cast<std::size_t>(info.st_size);
  void* const mapped =
      bytes_ == 0 ? nullptr : ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (mapped == MAP_FAILED) fail();
  mapped_ = static_cast<std::byte*>(mapped);
  const std::span<const std::byte> file{mapped_, bytes_};
  CachedLayout layout;
  if (!take_header(file, path.string(), header_, layout)) {
    if (mapped_ != nullptr) ::munmap(mapped_, bytes_);
    throw Error(cat(path.string(), " is not a whole cached volume of this version"),
                "remove it; it is prepared again");
  }
  content_at_ = layout.image_at;
  image_ = file.subspan(layout.image_at, layout.image_bytes);
  const auto labels = file.subspan(layout.labels_at, layout.labels_bytes);
  labels_ = {reinterpret_cast<const std::uint8_t*>(labels.data()), labels.size()};
  const auto rows = file.subspan(layout.rows_at, layout.rows_bytes);
  positives_before_row_ = {reinterpret_cast<const std::uint64_t*>(rows.data()),
                           rows.size() / sizeof(std::uint64_t)};
}

CachedVolume::~CachedVolume() {
  if (mapped_ != nullptr) ::munmap(mapped_, bytes_);
}

bool CachedVolume::has_its_content() const {
  Hasher hasher;
  hasher.update(mapped_ + content_at_, bytes_ - content_at_);
  return hasher.hex() == header_.content;
}

std::int64_t CachedVolume::positives(std::int64_t begin, std::int64_t end) const {
  LOCKSTEP_CHECK(begin >= 0 && begin <= end && end <= shape().depth);
  if (positives_before_row_.empty()) return 0;
  const auto before = [&](std::int64_t z) {
    return positives_before_row_[static_cast<std::size_t>(z * shape().height)];
  };
  return static_cast<std::int64_t>(before(end) - before(begin));
}

std::array<std::int64_t, 3> CachedVolume::positive(std::int64_t begin, std::int64_t end,
                                                   std::int64_t k) const {
  LOCKSTEP_CHECK(k >= 0 && k < positives(begin, end));
  const auto first = positives_before_row_.begin() + begin * shape().height;
  const std::uint64_t wanted = *first + static_cast<std::uint64_t>(k);
  // The last row with at most `wanted` foreground voxels before it.
  const auto row =
      std::upper_bound(first, positives_before_row_.begin() + end * shape().height, wanted) - 1;
  std::uint64_t left = wanted - *row;
  const std::int64_t index = row - positives_before_row_.begin();
  const std::uint8_t* const labels = labels_.data() + index * shape().width;
  for (std::int64_t x = 0; x < shape().width; ++x)
    if (labels[x] != 0 && labels[x] != header_.ignore && left-- == 0)
      return {index / shape().height, index % shape().height, x};
  throw Error("the rows of a cached volume do not fit its labels",
              "remove the cache of volumes; it is prepared again");
}

}  // namespace lockstep::volume
