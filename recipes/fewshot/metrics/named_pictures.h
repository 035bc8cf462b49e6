// Finds the picture of the ground truth to which a name in a file of detections refers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "recipes/fewshot/metrics/result_files.h"

namespace lockstep::fewshot {

// Finds pictures by name. A picture's name in the ground truth and its name in the detections may
// differ in folders and ending. Folders distinguish pictures whose files have the same name. Use an
// object on one thread at a time.
class NamedPictures {
 public:
  // pictures: the pictures of the ground truth. Those without a name are left out.
  explicit NamedPictures(const std::vector<NamedPicture>& pictures);

  // Returns the ids of the pictures that fit the name best. Several ids mean that the name does not
  // distinguish these pictures. The result is empty if no picture has this file name. It is also
  // empty if several pictures have it, but all lie in other folders than the name states.
  const std::vector<std::int64_t>& find(const std::string& name);

  // Finds pictures like `find`, but for a file of detections whose names never state folders. A
  // name then fits every picture with that file name, whatever its folders. Pictures with the same
  // ending are preferred to those with another ending.
  const std::vector<std::int64_t>& find_by_file(const std::string& name);

  static bool has_folders(const std::string& name) { return !parts_of(name).folders.empty(); }

  // Records that detections with that name belong to `picture`, which must fit the name. If another
  // name was recorded for the picture before, and one file cannot have both names, returns the
  // earlier name. Otherwise, returns an empty text.
  std::string take(const std::string& name, std::int64_t picture);

  // Returns notes for users about names in `take` that fit several pictures, or only pictures in
  // other folders.
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
  std::unordered_map<std::string, Fitting> fitting_;  // pictures by requested name
  // by picture: the recorded name that has the most folders
  std::unordered_map<std::int64_t, std::string> taken_;
  Unsure by_id_alone_, in_other_folders_;
};

}  // namespace lockstep::fewshot
