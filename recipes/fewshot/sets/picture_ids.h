// Assigns to each predicted picture the id that it has in results.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "recipes/fewshot/annotations/find_data.h"

namespace lockstep::fewshot {

// The pictures that an annotation file lists, and their ids. No picture is opened.
class PictureList {
 public:
  // Reads the names and ids from annotation files. Throws Error if a file cannot be read or is
  // invalid.
  explicit PictureList(const DetectionFiles& files);
  // Makes a list from names and their ids. The folders of the pictures are then unknown.
  explicit PictureList(const std::map<std::string, std::int64_t>& ids);

  // Returns the id of the picture at that full path. The path must be a folder in which the list's
  // pictures may lie, followed by a name in the list. If the path lies directly in such a folder,
  // id_of_name is tried too.
  std::optional<std::int64_t> id_of(const std::filesystem::path& path) const;
  // Returns the id of the picture whose name in the list is the end of the path. That name must
  // include a folder. If several names are the end of the path, the one with the most folders is
  // used.
  std::optional<std::int64_t> id_of_ending(const std::filesystem::path& path) const;
  // Returns the id of the picture with that file name, in any folder. Returns nothing if several
  // pictures have the name.
  std::optional<std::int64_t> id_of_name(const std::string& name) const;
  // Calls `visit` with each file name, without folders.
  void visit_names(const std::function<void(const std::string&)>& visit) const;

 private:
  void add(const std::filesystem::path& file_name, std::int64_t id);

  std::vector<std::filesystem::path> folders_;
  std::map<std::string, std::int64_t> by_file_name_;  // by the names in the list
  // by file name without folders; no id if several pictures have it
  std::map<std::string, std::optional<std::int64_t>> by_name_;
};

// Returns an id for each picture, in the order of `paths` (full paths). All ids are different. The
// first of these rules that gives an id is used:
//   - The id in a COCO json in the picture's folder or near it, if the json's pictures may lie in
//     that folder by the rules of find_detection_data. If no such json lists the picture, the
//     folders above are tried in turn, up to the folder that the user named.
//   - The id in the run's validation set, or else in its training set. A set is skipped if its
//     files cannot be read. An export has instead the names and ids that it kept. The sets are
//     searched for the picture's path, then for the end of its path. If no other one of `paths` has
//     the same file name, they are also searched for that name.
//   - The number that is the picture's file name, as in COCO (000000000139.jpg).
//   - The smallest number from 1 that is not yet the id of a picture.
// If an earlier picture already has the id that one of the first three rules gives, the last rule
// is used. extra: Prepared::extra, as the run or export recorded it. names: PredictItem::id of each
// picture. `names` is empty if the user named each picture individually.
std::vector<std::int64_t> picture_ids(const std::vector<std::filesystem::path>& paths,
                                      const nlohmann::json& extra,
                                      const std::vector<std::string>& names = {});

}  // namespace lockstep::fewshot
