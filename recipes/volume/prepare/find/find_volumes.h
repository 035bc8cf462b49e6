// Finds volumes and their labels in folders, and reads tables of their ids.
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

// The options data.path, data.images, data.labels and data.csv, or their equivalents for generated
// data.
struct Places {
  std::string path, images, labels, csv;
  std::string ending{};  // only files whose names have this ending are used; empty: all
};

// An image and its labels.
struct Pair {
  std::string id;
  std::filesystem::path image, label;  // absolute paths of a file or a folder of slices
  // The files of channels 1, 2, …, if each channel has its own file.
  std::vector<std::filesystem::path> further{};

  std::vector<std::filesystem::path> images() const {
    std::vector<std::filesystem::path> all{image};
    all.insert(all.end(), further.begin(), further.end());
    return all;
  }
};

bool is_slice(const std::filesystem::path& path);  // judged by the extension
// Returns whether the files in a folder are slices of one volume. Also returns true if the files
// are images of a format that cannot be read. The Error of opening the folder then states the
// reason.
bool is_slice_folder(const std::filesystem::path& path);

// Returns the paths of the volumes in a folder by their ids. The id of a volume is its name without
// the suffix. ending: only names with this ending are listed. If it is empty, all names are listed.
// Throws Error if the folder cannot be listed, or if two volumes have the same id.
std::map<std::string, std::filesystem::path> list_volumes(const std::filesystem::path& folder,
                                                          const std::string& ending = {});

struct TableId {
  std::string id, place;  // place: for messages, such as "train.csv, line 3"
};
// Reads the column `id` of a table. Throws Error if there is no such column, if the table has no
// rows, or if an id is empty or repeated.
std::vector<TableId> read_ids(const std::filesystem::path& csv);

// Returns path/name if that folder exists. If it does not, returns `name` as a path of its own,
// whether it exists or not. path: data.path, or empty.
std::filesystem::path folder_below(const std::string& path, const std::string& name);

// Returns the pairs of an image and its labels, sorted by id. If a file or folder is missing,
// throws Error that names it and suggests the most similar name.
std::vector<Pair> find_pairs(const Places& places, const Say& say);

// Returns "the nearest id is X", or an empty text if no id is similar.
std::string nearest_hint(const std::string& id,
                         const std::map<std::string, std::filesystem::path>& volumes);
// Returns, for example, "a, b, c, d, e and 3 more".
std::string first_five(const std::vector<std::string>& names);
// Returns the path of the first of `names` that is a folder in `path`. Returns an empty path if
// none of them is a folder there.
std::filesystem::path first_folder(const std::filesystem::path& path,
                                   std::span<const std::string_view> names);

}  // namespace lockstep::volume
