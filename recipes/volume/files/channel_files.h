// Channels in files of their own, as nnU-Net names them: ID_0000.nii.gz, ID_0001.nii.gz, …
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "recipes/volume/files/volume_reader.h"

namespace lockstep::volume {

// ".tif", ".nii.gz" in small letters; empty for a folder of slices and for anything else.
std::string volume_suffix(const std::filesystem::path& path);

// "case_1" and 3 of "case_1_0003"; nothing for an id that does not end in _ and four digits.
struct ChannelId {
  std::string id;
  std::int64_t channel = 0;
};
std::optional<ChannelId> channel_id(const std::string& id);
std::string channel_name(const std::string& id, std::int64_t channel);  // "case_1_0003"

// The name of a volume's file or folder without its suffix.
std::string id_of(const std::filesystem::path& path);

// The files of channels 0 to `channels` - 1, where `first` is that of channel 0. A further channel
// has the suffix of `first`, or another of these suffixes if there is no such file. Throws Error,
// which names the one that is missing.
std::vector<std::filesystem::path> channel_files(const std::filesystem::path& first,
                                                 std::int64_t channels);

// One file, as open_volume; or several files of one channel each, as one volume. Files of different
// types, slopes or intercepts become f32. Also throws Error if extents, spacing or places differ,
// or if a file has several channels.
std::unique_ptr<VolumeReader> open_channels(const std::vector<std::filesystem::path>& files,
                                            const ReadVolume& how = {});

// The files of a volume for a model of `channels` channels: those of open_item. Throws Error.
std::vector<std::filesystem::path> files_of_item(const std::filesystem::path& path,
                                                 std::int64_t channels, const ReadVolume& how = {});

// A volume for a model of `channels` channels. It is the file alone, or, if the file has one
// channel and is called ID_0000, the file with its further channels beside it. channels = 0: the
// file alone. Throws Error as both do.
std::unique_ptr<VolumeReader> open_item(const std::filesystem::path& path, std::int64_t channels,
                                        const ReadVolume& how = {});

}  // namespace lockstep::volume
