// Volumes whose channels are separate files, named as in nnU-Net: ID_0000.nii.gz, ID_0001.nii.gz, …
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recipes/volume/files/volume_reader.h"

namespace lockstep::volume {

// The suffix of a volume, ".tif" or ".nii.gz", in lower case. Empty for a folder of slices and for
// anything else.
std::string volume_suffix(const std::filesystem::path& path);

// For "case_1_0003": "case_1" and 3. Nothing for an id that does not end in _ and four digits.
struct ChannelId {
  std::string id;
  std::int64_t channel = 0;
};
std::optional<ChannelId> channel_id(const std::string& id);
std::string channel_name(const std::string& id, std::int64_t channel);  // "case_1_0003"

// The name of a volume's file or folder without its suffix.
std::string id_of(const std::filesystem::path& path);

// The files of channels 0 to `channels` - 1; `first` is the file of channel 0. A further channel's
// file has the suffix of `first`, or another of these suffixes if no such file exists. Throws
// Error, which names the missing file.
std::vector<std::filesystem::path> channel_files(const std::filesystem::path& first,
                                                 std::int64_t channels);

// Opens one file as open_volume does, or several files of one channel each as one volume. Files of
// different types, slopes or intercepts become f32. Also throws Error if extents, spacing or places
// differ, or if one of several files has several channels.
std::unique_ptr<VolumeReader> open_channels(const std::vector<std::filesystem::path>& files,
                                            const ReadVolume& how = {});

// The files that open_item would open for a model of `channels` channels. Throws Error.
std::vector<std::filesystem::path> files_of_item(const std::filesystem::path& path,
                                                 std::int64_t channels, const ReadVolume& how = {});

// Opens a volume for a model of `channels` channels. If the file has one channel and is called
// ID_0000, its further channels beside it are opened too; otherwise only the file. channels = 0:
// only the file. Throws Error as open_volume and open_channels do.
std::unique_ptr<VolumeReader> open_item(const std::filesystem::path& path, std::int64_t channels,
                                        const ReadVolume& how = {});

}  // namespace lockstep::volume
