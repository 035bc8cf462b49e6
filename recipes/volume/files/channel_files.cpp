// Names of channels, and a reader for a volume with a file per channel.
#include "recipes/volume/files/channel_files.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "recipes/volume/files/same_place.h"

namespace lockstep::volume {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> suffixes{".tif", ".tiff", ".nii", ".nii.gz"};
constexpr std::size_t digits = 4;

bool is_alike(const VolumeHeader& a, const VolumeHeader& b) {
  return a.type == b.type && a.slope == b.slope && a.intercept == b.intercept;
}

std::string spacing_text(const VolumeHeader& header) {
  if (!header.spacing_mm) return "no spacing";
  return "a spacing of " + describe_spacing(*header.spacing_mm);
}

bool has_same_spacing(const VolumeHeader& a, const VolumeHeader& b) {
  constexpr double share = 1e-3;
  if (!a.spacing_mm || !b.spacing_mm) return !a.spacing_mm && !b.spacing_mm;
  for (std::size_t i = 0; i < 3; ++i)
    if (std::abs((*a.spacing_mm)[i] - (*b.spacing_mm)[i]) > share * (*a.spacing_mm)[i])
      return false;
  return true;
}

void check_belongs(const VolumeReader& first, const VolumeReader& other) {
  const VolumeHeader &a = first.header(), &b = other.header();
  for (const VolumeReader* reader : {&first, &other})
    if (reader->header().shape.channels != 1)
      throw Error(cat("cannot read ", reader->name(), " as one channel: it has ",
                      reader->header().shape.channels),
                  "a volume has all of its channels in one file, or each in a file of its own");
  const auto differ = [&](const std::string& of_first, const std::string& of_other,
                          const char* hint = "bring them onto one grid") {
    throw Error(cat("the channels of a volume differ: ", first.name(), " has ", of_first, ", but ",
                    other.name(), " has ", of_other),
                hint);
  };
  if (a.shape != b.shape) differ(describe(a.shape), describe(b.shape));
  if (!has_same_spacing(a, b)) differ(spacing_text(a), spacing_text(b));
  const SamePlace same = same_place(a, b);
  if (same == SamePlace::unknown)
    differ(
        describe_place(a), describe_place(b),
        "give all channels the affine of one where they are of one grid, or bring them onto one");
  if (same == SamePlace::no) differ(describe_place(a), describe_place(b));
}

// A header for the values of all channels. If types or scales differ between files, voxels are
// converted to f32.
VolumeHeader joint_header(const std::vector<std::unique_ptr<VolumeReader>>& readers) {
  VolumeHeader header = readers[0]->header();
  header.shape.channels = std::ssize(readers);
  const bool alike = std::all_of(readers.begin(), readers.end(), [&](const auto& reader) {
    return is_alike(reader->header(), readers[0]->header());
  });
  if (alike) return header;
  header.type = VoxelType::f32;
  header.slope = 1;
  header.intercept = 0;
  return header;
}

class ChannelsReader : public VolumeReader {
 public:
  explicit ChannelsReader(std::vector<std::unique_ptr<VolumeReader>> readers)
      : VolumeReader(readers[0]->name(), joint_header(readers)), readers_(std::move(readers)) {}

 private:
  void read(std::int64_t z, std::int64_t channel, std::span<std::byte> out) override {
    VolumeReader& reader = *readers_[static_cast<std::size_t>(channel)];
    if (is_alike(reader.header(), header())) return reader.read_plane(z, 0, out);
    std::vector<float> values(out.size() / sizeof(float));
    reader.read_values(z, 0, values);
    std::memcpy(out.data(), values.data(), out.size());
  }

  std::vector<std::unique_ptr<VolumeReader>> readers_;
};

}  // namespace

std::string volume_suffix(const fs::path& path) {
  std::string name = path.filename().string();
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  for (const std::string_view suffix : suffixes)
    if (name.ends_with(suffix)) return std::string(suffix);
  return {};
}

std::optional<ChannelId> channel_id(const std::string& id) {
  if (id.size() < digits + 2 || id[id.size() - digits - 1] != '_') return std::nullopt;
  std::int64_t channel = 0;
  for (const char c : id.substr(id.size() - digits)) {
    if (c < '0' || c > '9') return std::nullopt;
    channel = channel * 10 + (c - '0');
  }
  return ChannelId{id.substr(0, id.size() - digits - 1), channel};
}

std::string channel_name(const std::string& id, std::int64_t channel) {
  const std::string number = cat(channel);
  return cat(id, "_", std::string(digits - std::min(digits, number.size()), '0'), number);
}

std::string id_of(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.substr(0, name.size() - volume_suffix(path).size());
}

std::vector<fs::path> channel_files(const fs::path& first, std::int64_t channels) {
  const std::string id = channel_id(id_of(first)).value_or(ChannelId{id_of(first)}).id;
  std::vector<std::string> endings{first.filename().string().substr(id_of(first).size())};
  endings.insert(endings.end(), suffixes.begin(), suffixes.end());
  std::vector<fs::path> files{first};
  std::error_code ignored;
  for (std::int64_t channel = 1; channel < channels; ++channel) {
    const std::string name = channel_name(id, channel);
    for (const std::string& ending : endings)
      if (std::ssize(files) == channel &&
          fs::exists(first.parent_path() / (name + ending), ignored))
        files.push_back(first.parent_path() / (name + ending));
    if (std::ssize(files) == channel)
      throw Error(cat("the volume ", id, " has no channel ", channel, ": there is no ", name,
                      endings[0], " beside ", first.string()),
                  cat("a volume of ", channels, " channels has files from ", channel_name(id, 0),
                      " to ", channel_name(id, channels - 1)));
  }
  return files;
}

std::unique_ptr<VolumeReader> open_channels(const std::vector<fs::path>& files,
                                            const ReadVolume& how) {
  if (files.size() == 1) return open_volume(files[0], how);
  std::vector<std::unique_ptr<VolumeReader>> readers;
  for (const fs::path& file : files) {
    readers.push_back(open_volume(file, how));
    check_belongs(*readers[0], *readers.back());
  }
  ReadVolume any_depth = how;
  any_depth.allow_2d = true;
  check_shape(joint_header(readers).shape, readers[0]->name(), any_depth);
  return std::make_unique<ChannelsReader>(std::move(readers));
}

std::vector<fs::path> files_of_item(const fs::path& path, std::int64_t channels,
                                    const ReadVolume& how) {
  const auto name = channel_id(id_of(path));
  if (channels <= 1 || !name || name->channel != 0 ||
      open_volume(path, how)->header().shape.channels != 1)
    return {path};
  return channel_files(path, channels);
}

std::unique_ptr<VolumeReader> open_item(const fs::path& path, std::int64_t channels,
                                        const ReadVolume& how) {
  return open_channels(files_of_item(path, channels, how), how);
}

}  // namespace lockstep::volume
