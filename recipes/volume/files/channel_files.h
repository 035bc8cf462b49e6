// Opens volumes whose channels are in separate files. The files are named as in nnU-Net:
// ID_0000.nii.gz, ID_0001.nii.gz, …
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recipes/volume/files/volume_reader.h"

namespace lockstep::volume {

// Returns the suffix of a volume's file in lower case: .tif, .tiff, .nii or .nii.gz. Returns an
// empty text for a folder of slices, and for files with any other suffix.
std::string volume_suffix(const std::filesystem::path& path);

// The parts of an id that ends in _ and four digits. "case_1_0003" has the parts "case_1" and 3.
struct ChannelId {
  std::string id;
  std::int64_t channel = 0;
};
std::optional<ChannelId> channel_id(const std::string& id);
std::string channel_name(const std::string& id, std::int64_t channel);  // such as "case_1_0003"

// Returns the name of a volume's file or folder without its suffix.
std::string id_of(const std::filesystem::path& path);

// Returns the files of channels 0 to `channels` - 1. first: the file of channel 0. For each of the
// other channels, a file with the suffix of `first` is preferred to files with other suffixes. If a
// channel has no file, throws Error that names the missing file.
std::vector<std::filesystem::path> channel_files(const std::filesystem::path& first,
                                                 std::int64_t channels);

// Opens files as one volume. A single file is opened as open_volume does. Several files must have
// one channel each. If their types, slopes or intercepts differ, the volume is f32. Throws Error as
// open_volume does. Also throws Error if the files differ in extents, in spacing or in where their
// voxels lie in space. If there are several files, also throws Error if one has more than one
// channel.
std::unique_ptr<VolumeReader> open_channels(const std::vector<std::filesystem::path>& files,
                                            const ReadVolume& how = {});

// Returns the files that open_item would open. Throws Error if `path` cannot be opened or if the
// file of a channel is missing.
std::vector<std::filesystem::path> files_of_item(const std::filesystem::path& path,
                                                 std::int64_t channels, const ReadVolume& how = {});

// Opens a volume for a model of `channels` channels. If the file has one channel and is named
// ID_0000, the files of the other channels beside it are opened too. In all other cases, only the
// file `path` is opened. This also holds if `channels` is 0 or 1. Throws Error as open_channels
// does. Also throws Error if the file of a channel is missing.
std::unique_ptr<VolumeReader> open_item(const std::filesystem::path& path, std::int64_t channels,
                                        const ReadVolume& how = {});

}  // namespace lockstep::volume
