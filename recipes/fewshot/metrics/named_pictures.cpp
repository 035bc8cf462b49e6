#include "recipes/fewshot/metrics/named_pictures.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/base/text/text.h"

namespace lockstep::fewshot {

NamedPictures::NamedPictures(const std::vector<NamedPicture>& pictures) {
  for (const NamedPicture& one : pictures)
    if (!one.file_name.empty())
      by_stem_[std::string(stem_of(one.file_name))].push_back(
          {one.picture, parts_of(one.file_name)});
}

NamedPictures::Parts NamedPictures::parts_of(const std::string& name) {
  std::string with_slashes = name;
  std::replace(with_slashes.begin(), with_slashes.end(), '\\', '/');
  Parts parts{.folders = split(with_slashes, '/'), .file = {}};
  parts.file = std::move(parts.folders.back());
  parts.folders.pop_back();
  std::erase_if(parts.folders, [](const std::string& one) { return one.empty() || one == "."; });
  return parts;
}

// The number of equal folders, compared from the file upwards.
std::size_t NamedPictures::shared_folders(const Parts& a, const Parts& b) {
  const auto end =
      std::mismatch(a.folders.rbegin(), a.folders.rend(), b.folders.rbegin(), b.folders.rend());
  return static_cast<std::size_t>(end.first - a.folders.rbegin());
}

// Whether one of the two paths ends with all folders of the other.
bool NamedPictures::may_be_one_file(const Parts& a, const Parts& b) {
  return shared_folders(a, b) == std::min(a.folders.size(), b.folders.size());
}

NamedPictures::Fitting NamedPictures::fitting(const std::string& name) const {
  const auto same = by_stem_.find(std::string(stem_of(name)));
  if (same == by_stem_.end()) return {};
  const Parts wanted = parts_of(name);
  std::tuple<bool, bool, std::size_t, bool> best{};
  Fitting found;
  for (const Known& one : same->second) {
    const std::size_t shared = shared_folders(one.parts, wanted);
    const std::tuple fit{may_be_one_file(one.parts, wanted), one.parts.file == wanted.file, shared,
                         shared == wanted.folders.size() && shared == one.parts.folders.size()};
    if (fit < best) continue;
    if (fit > best) found.pictures.clear();
    best = fit;
    found.pictures.push_back(one.picture);
  }
  found.by_file = found.pictures;
  if (wanted.folders.empty()) {
    found.by_file.clear();
    for (const Known& one : same->second)
      if ((one.parts.file == wanted.file) == std::get<1>(best))
        found.by_file.push_back(one.picture);
  }
  found.is_in_other_folders = !std::get<0>(best);
  if (found.is_in_other_folders && found.pictures.size() > 1) {
    found.pictures.clear();
    found.by_file.clear();
  }
  return found;
}

NamedPictures::Fitting& NamedPictures::known_fitting(const std::string& name) {
  const auto [at, is_new] = fitting_.try_emplace(name);
  if (is_new) at->second = fitting(name);
  return at->second;
}

const std::vector<std::int64_t>& NamedPictures::find(const std::string& name) {
  return known_fitting(name).pictures;
}

const std::vector<std::int64_t>& NamedPictures::find_by_file(const std::string& name) {
  return known_fitting(name).by_file;
}

std::string NamedPictures::take(const std::string& name, std::int64_t picture) {
  Fitting& fitting = known_fitting(name);
  const auto note = [&](Unsure& unsure) {
    if (unsure.count++ == 0) unsure.first = name;
  };
  const bool says_picture = fitting.pictures.size() == 1 && fitting.pictures[0] == picture;
  if (!says_picture) note(by_id_alone_);
  if (fitting.is_in_other_folders) note(in_other_folders_);
  if (std::exchange(fitting.is_taken, true)) return "";
  const auto [before, is_new] = taken_.try_emplace(picture, name);
  const Parts earlier = parts_of(before->second), now = parts_of(name);
  if (!is_new && !(earlier.file == now.file && may_be_one_file(earlier, now)))
    return before->second;
  if (now.folders.size() > earlier.folders.size()) before->second = name;
  return "";
}

std::vector<std::string> NamedPictures::notes() const {
  std::vector<std::string> notes;
  const auto add = [&](const Unsure& unsure, const char* what) {
    if (unsure.count > 0)
      notes.push_back(cat(unsure.count, unsure.count == 1 ? " detection has" : " detections have",
                          " a file name ", what, " (first: ", printable(unsure.first), ")"));
  };
  add(by_id_alone_, "that fits several pictures of the ground truth: the image_id alone decides");
  add(in_other_folders_,
      "in other folders than the ground truth says: the name without folders decides");
  return notes;
}

}  // namespace lockstep::fewshot
