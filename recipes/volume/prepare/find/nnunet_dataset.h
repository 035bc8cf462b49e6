// nnU-Net's dataset.json: what it says of labels, channels and files.
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
  // Names of the labels 0, 1, …; the label to ignore is not among them. Empty if `regions` is
  // not empty.
  std::vector<std::string> labels;
  std::string regions;                 // names of labels that stand for several numbers: "a, b"
  std::optional<std::int64_t> ignore;  // the label called "ignore"
  std::vector<std::string> channels;   // names of the channels 0, 1, …; empty: not said
  std::string file_ending;             // ".nii.gz"; empty: not said
};

// Both forms: `labels` by name with `channel_names`, and the older one by number with `modality`.
// Throws Error, which names the file and the member.
NnunetDataset read_nnunet_dataset(const std::filesystem::path& file);

// dataset.json of a folder that has imagesTr, or of one that has labelsTs or imagesTs; empty: it is
// no folder of nnU-Net's.
std::filesystem::path nnunet_dataset_file(const std::filesystem::path& folder);

// The same for the folder around one of these folders, such as around labelsTs.
std::filesystem::path nnunet_dataset_around(const std::filesystem::path& folder);

// The file_ending of that file, if it can be read and names a kind that is read. A folder with
// several kinds of files is listed by it. "": any.
std::string nnunet_file_ending(const std::filesystem::path& dataset_json);

// list_volumes for what is predicted or scored. It uses that ending if any volume in the folder has
// it, since one's own outputs and labels may be of another kind.
std::map<std::string, std::filesystem::path> list_nnunet_volumes(
    const std::filesystem::path& folder, const std::filesystem::path& dataset_json);

// Sets data.classes and data.ignore, and with `training` data.channels and data.normalize too,
// if nobody has set them; reports what was taken, and what differs from what is set. Throws
// Error for regions, unless data.classes is set, and for kinds of files that are not read.
void take_nnunet_dataset(VolumeOptions& options, const NnunetDataset& dataset, bool training,
                         const Say& say);

}  // namespace lockstep::volume
