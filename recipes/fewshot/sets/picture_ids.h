// Ids of pictures in results.
#pragma once

#include <cstdint>
#include <filesystem>
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
  // Throws Error where the file cannot be read.
  explicit PictureList(const DetectionFiles& files);
  // A list without folders, of names alone.
  explicit PictureList(const std::map<std::string, std::int64_t>& ids);

  // Of the picture at that whole path, if this is one that the list names: the file in one of its
  // folders, or, where it lies in one, the only one of that name without folders.
  std::optional<std::int64_t> id_of(const std::filesystem::path& path) const;
  // Of the only picture of that name without folders, wherever it lies.
  std::optional<std::int64_t> id_of_name(const std::string& name) const;

 private:
  void add(const std::filesystem::path& file_name, std::int64_t id);

  std::vector<std::filesystem::path> folders_;
  std::map<std::string, std::int64_t> by_file_name_;            // as the list writes them
  std::map<std::string, std::optional<std::int64_t>> by_name_;  // without folders
};

// COCO's jsons that lie in the folder or near it and whose pictures may lie in it, as
// find_detection_data looks for them: the nearest first. What is no such json is skipped.
std::vector<PictureList> lists_beside(const std::filesystem::path& folder);

// Of a run: its validation set, then its training set, as far as their files can be read; of an
// export the names that it kept. extra: Prepared::extra.
std::vector<PictureList> lists_of_run(const nlohmann::json& extra);

// An id for each picture, all different, in the order of `paths` (whole ones): that of a json
// beside it; else that of the lists of the run, for its path, then for its name; else the number
// that its name is, as COCO's are (000000000139.jpg); else the smallest that is free, from 1. An id
// that an earlier picture has by another rule than the last is not free. extra: as of lists_of_run.
std::vector<std::int64_t> picture_ids(const std::vector<std::filesystem::path>& paths,
                                      const nlohmann::json& extra);

}  // namespace lockstep::fewshot
