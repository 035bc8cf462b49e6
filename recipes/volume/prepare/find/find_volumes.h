// Finds volumes: files and folders of slices, their labels, and the ids of tables.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/volume/files/channel_files.h"

namespace lockstep::volume {

using Say = std::function<void(const std::string&)>;

// data.path, data.images, data.labels and data.csv, or the same of generated data.
struct Places {
  std::string path, images, labels, csv;
  std::string ending{};  // the ending of the names of files; empty: any that can be read
};

// A volume and its labels.
struct Pair {
  std::string id;
  std::filesystem::path image, label;  // absolute; a file, or a folder of slices
  // files of channels from 1 on, if each channel has its own file
  std::vector<std::filesystem::path> further{};

  std::vector<std::filesystem::path> images() const {
    std::vector<std::filesystem::path> all{image};
    all.insert(all.end(), further.begin(), further.end());
    return all;
  }
};

bool is_slice(const std::filesystem::path& path);  // judged by its name
// Whether a folder holds slices and no volumes. Also true if its slices cannot be read; opening
// them reports that.
bool is_slice_folder(const std::filesystem::path& path);

// The volumes in a folder by id, which is the name without its suffix. Throws Error if the folder
// cannot be listed, or if two volumes have the same id. ending: the ending of the names of files;
// empty: any that can be read.
std::map<std::string, std::filesystem::path> list_volumes(const std::filesystem::path& folder,
                                                          const std::string& ending = {});

struct TableId {
  std::string id, place;  // place: "train.csv, line 3"
};
// Reads the column `id`. Throws Error if there is no such column or no id, or if an id is empty or
// repeated.
std::vector<TableId> read_ids(const std::filesystem::path& csv);

// A folder of images or labels by its name: a folder below `path` (data.path), or else a path. If
// neither exists, the name is taken as typed, relative to the current folder.
std::filesystem::path folder_below(const std::string& path, const std::string& name);

// Returns the pairs, sorted by id. Throws Error, which names what is missing and the nearest name.
std::vector<Pair> find_pairs(const Places& places, const Say& say);

// "the nearest of these is X", or "".
std::string nearest_hint(const std::string& id,
                         const std::map<std::string, std::filesystem::path>& volumes);
// "a, b, c, d, e and 3 more".
std::string first_five(const std::vector<std::string>& names);
// The first of the names that is a folder below `path`; empty if none is.
std::filesystem::path first_folder(const std::filesystem::path& path,
                                   std::span<const std::string_view> names);

}  // namespace lockstep::volume
