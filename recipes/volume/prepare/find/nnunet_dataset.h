// Reads the dataset.json of an nnU-Net data set, and sets options from it.
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
  // Names of the labels 0, 1, …, without the label that is ignored. The list is empty if `regions`
  // is not empty.
  std::vector<std::string> labels;
  // The names of nnU-Net's regions, which are unions of several labels, with commas between the
  // names.
  std::string regions;
  std::optional<std::int64_t> ignore;  // number of the label named "ignore"
  std::vector<std::string> channels;   // names of the channels 0, 1, …; empty if not stated
  std::string file_ending;             // for example ".nii.gz"; empty if not stated
};

// Reads both forms of the file. The newer form has the members `labels`, with names as keys, and
// `channel_names`. The older form has `labels`, with numbers as keys, and `modality`. If a member
// is not valid, throws Error that names the file and the member.
NnunetDataset read_nnunet_dataset(const std::filesystem::path& file);

// Returns the path of dataset.json in a folder, if the folder also contains a folder imagesTr,
// labelsTs or imagesTs. If not, it is not a data set of nnU-Net, and the result is empty.
std::filesystem::path nnunet_dataset_file(const std::filesystem::path& folder);

// Returns nnunet_dataset_file() of the parent folder. So `folder` may be labelsTs, for example.
std::filesystem::path nnunet_dataset_around(const std::filesystem::path& folder);

// Returns the file_ending that a dataset.json states. In a folder with several kinds of files, only
// files with this ending are listed. Returns an empty text if the file cannot be read, or if we
// cannot read files with this ending.
std::string nnunet_file_ending(const std::filesystem::path& dataset_json);

// Lists volumes for prediction and scoring with list_volumes. If no volume in the folder has
// nnunet_file_ending, all volumes are listed, because a user's own files may be of another kind.
std::map<std::string, std::filesystem::path> list_nnunet_volumes(
    const std::filesystem::path& folder, const std::filesystem::path& dataset_json);

// Sets data.classes and data.ignore from the file. With `training`, also sets data.channels and
// data.normalize. If nnU-Net does not normalise the channels, `training` also sets data.divide.
// Options that the user set keep their values. Calls `say` to report which options were set, and
// which kept a value that differs from the file. Throws Error if the file has regions and
// data.classes is not set. Also throws Error if we cannot read files with its file_ending.
void take_nnunet_dataset(VolumeOptions& options, const NnunetDataset& dataset, bool training,
                         const Say& say);

}  // namespace lockstep::volume
