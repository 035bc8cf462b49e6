// Finds the picture of the ground truth that a name in a file of detections means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "recipes/fewshot/metrics/result_files.h"

namespace lockstep::fewshot {

// Names may have more folders on one side than on the other, and other endings. Folders distinguish
// pictures whose files have the same name. Use it on one thread at a time.
class NamedPictures {
 public:
  // Pictures without a name are left out.
  explicit NamedPictures(const std::vector<NamedPicture>& pictures);

  // The ids of the pictures that fit the name best. If there are several, the name does not
  // distinguish them. None if no picture has the name, or if several have it but all lie in other
  // folders than the name's own.
  const std::vector<std::int64_t>& find(const std::string& name);

  // The same for a name in a file of detections that never states folders. A name without folders
  // then fits every picture that ends with it, not only the one without folders.
  const std::vector<std::int64_t>& find_by_file(const std::string& name);

  static bool has_folders(const std::string& name) { return !parts_of(name).folders.empty(); }

  // Records that detections of that name belong to `picture`, which fits the name. If another name
  // was recorded for the same picture before, and the two names are of different files, returns
  // that other name. Otherwise returns "".
  std::string take(const std::string& name, std::int64_t picture);

  // Doubts that `take` found, for people.
  std::vector<std::string> notes() const;

 private:
  struct Parts {
    std::vector<std::string> folders;
    std::string file;
  };
  struct Known {
    std::int64_t picture = 0;
    Parts parts;
  };
  struct Fitting {
    std::vector<std::int64_t> pictures;
    std::vector<std::int64_t> by_file;
    bool is_in_other_folders = false;
    bool is_taken = false;
  };
  struct Unsure {
    std::int64_t count = 0;
    std::string first;
  };

  static Parts parts_of(const std::string& name);
  static std::size_t shared_folders(const Parts& a, const Parts& b);
  static bool may_be_one_file(const Parts& a, const Parts& b);
  Fitting fitting(const std::string& name) const;
  Fitting& known_fitting(const std::string& name);

  std::unordered_map<std::string, std::vector<Known>> by_stem_;
  std::unordered_map<std::string, Fitting> fitting_;  // by requested name
  // by picture: its recorded name with the most folders
  std::unordered_map<std::int64_t, std::string> taken_;
  Unsure by_id_alone_, in_other_folders_;
};

}  // namespace lockstep::fewshot
