// Assigns ids to pictures in results.
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

// The pictures that an annotation file lists, and their ids. Opens no picture.
class PictureList {
 public:
  // Throws Error if the file cannot be read.
  explicit PictureList(const DetectionFiles& files);
  // Makes a list of names without folders.
  explicit PictureList(const std::map<std::string, std::int64_t>& ids);

  // The id of the picture at that full path, if the list names it as a file in one of its folders.
  // If the path lies directly in such a folder, the only picture of that name without folders is
  // found too.
  std::optional<std::int64_t> id_of(const std::filesystem::path& path) const;
  // The id of the picture whose listed name, including folders, is the end of the path. If there
  // are several, the one with the most folders. None for a picture that the list names without
  // folders.
  std::optional<std::int64_t> id_of_ending(const std::filesystem::path& path) const;
  // The id of the only picture with that name without folders, wherever it lies.
  std::optional<std::int64_t> id_of_name(const std::string& name) const;
  // Calls `visit` with each name, without its folders.
  void visit_names(const std::function<void(const std::string&)>& visit) const;

 private:
  void add(const std::filesystem::path& file_name, std::int64_t id);

  std::vector<std::filesystem::path> folders_;
  std::map<std::string, std::int64_t> by_file_name_;            // as the list writes them
  std::map<std::string, std::optional<std::int64_t>> by_name_;  // without folders
};

// Returns an id for each picture, all different, in the order of `paths` (full paths). It comes
// from the first of these that has one:
//   - a json in its folder or near it whose pictures may lie there, by the rules of
//     find_detection_data; else a json near a folder above, up to the folder that the user named;
//   - the lists of the run: its validation set, then its training set, as far as their files can be
//     read; for an export the names that it kept. They are searched for the picture's path, then
//     for the end of its path, then for its name, if no other of `paths` has that name;
//   - the number that is its name, as in COCO (000000000139.jpg);
//   - the smallest number that is free, from 1.
// An id that an earlier picture has by a rule other than the last one is not free. extra:
// Prepared::extra. names: PredictItem::id of each; none: all were named individually.
std::vector<std::int64_t> picture_ids(const std::vector<std::filesystem::path>& paths,
                                      const nlohmann::json& extra,
                                      const std::vector<std::string>& names = {});

}  // namespace lockstep::fewshot
