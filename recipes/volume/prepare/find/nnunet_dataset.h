// Reads nnU-Net's dataset.json: its facts about labels, channels and files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "recipes/volume/options/volume_options.h"
#include "recipes/volume/prepare/find/find_volumes.h"

namespace lockstep::volume {

struct NnunetDataset {
  std::filesystem::path file;
  // Names of the labels 0, 1, …, without the label to ignore. Empty if `regions` is not empty.
  std::vector<std::string> labels;
  std::string regions;                 // names of labels that stand for several numbers: "a, b"
  std::optional<std::int64_t> ignore;  // the label called "ignore"
  std::vector<std::string> channels;   // names of the channels 0, 1, …; empty: not said
  std::string file_ending;             // ".nii.gz"; empty: not said
};

// Reads both forms: `labels` by name with `channel_names`, and the older one, by number with
// `modality`. Throws Error, which names the file and the member.
NnunetDataset read_nnunet_dataset(const std::filesystem::path& file);

// dataset.json of a folder that has imagesTr, labelsTs or imagesTs. Empty if it is no folder of
// nnU-Net.
std::filesystem::path nnunet_dataset_file(const std::filesystem::path& folder);

// The same for the parent of one of these folders, for example of labelsTs.
std::filesystem::path nnunet_dataset_around(const std::filesystem::path& folder);

// The file_ending in that file, if it can be read and names a kind that can be read. In a folder
// with several kinds of files, only files with this ending are listed. "": any.
std::string nnunet_file_ending(const std::filesystem::path& dataset_json);

// list_volumes for prediction and scoring. It uses that ending only if some volume in the folder
// has it, since a user's own outputs and labels may be of another kind.
std::map<std::string, std::filesystem::path> list_nnunet_volumes(
    const std::filesystem::path& folder, const std::filesystem::path& dataset_json);

// Sets data.classes and data.ignore, and with `training` also data.channels and data.normalize,
// unless they are set already. Reports what was set, and what differs from the existing values.
// Throws Error for regions, unless data.classes is set, and for kinds of files that cannot be read.
void take_nnunet_dataset(VolumeOptions& options, const NnunetDataset& dataset, bool training,
                         const Say& say);

}  // namespace lockstep::volume
