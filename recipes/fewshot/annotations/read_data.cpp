// Reads the sets that find_data found.
#include <algorithm>
#include <cmath>
#include <set>
#include <system_error>
#include <utility>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/philox.h"
#include "core/base/text/text.h"
#include "recipes/fewshot/annotations/coco.h"
#include "recipes/fewshot/annotations/find_data.h"

namespace lockstep::fewshot {
namespace {

namespace fs = std::filesystem;

std::string whole_path(const fs::path& path) {
  std::error_code error;
  const fs::path whole = fs::weakly_canonical(path, error);
  return (error ? path : whole).string();
}

void check_apart(const DetectionData& train, const DetectionData& valid) {
  std::set<std::string> trained;
  for (const Picture& picture : train.pictures) trained.insert(whole_path(picture.path));
  for (const Picture& picture : valid.pictures)
    if (trained.contains(whole_path(picture.path)))
      throw Error(cat(picture.path.string(), " (id ", picture.id, ") is in ", valid.name,
                      " and in ", train.name),
                  "a picture is either trained on or validated on");
}

}  // namespace

DetectionData read_detection_data(const DetectionFiles& files, const PictureRule& rule) {
  if (const auto* coco = std::get_if<CocoFiles>(&files))
    return read_coco(coco->json, coco->folders, rule);
  return read_voc(std::get<VocFolders>(files), rule);
}

std::vector<bool> choose_valid(const DetectionData& data, double share, std::uint64_t seed) {
  LOCKSTEP_CHECK(share > 0 && share < 1);
  const std::size_t count = data.pictures.size();
  if (count < 2)
    throw Error(cat(data.name, " has one picture, of which no share can be held back"),
                "name a validation set, or add pictures");
  std::vector<std::pair<std::uint64_t, std::size_t>> order;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string path = data.pictures[i].path.string();
    const std::uint64_t name = hash64(path.substr(path.find_last_of("/\\") + 1));
    order.emplace_back(Random(seed, RandomStream::split, name, 0).next_u64(), i);
  }
  std::sort(order.begin(), order.end());
  const auto wanted = static_cast<std::size_t>(std::llround(share * static_cast<double>(count)));
  std::vector<bool> chosen(count);
  for (std::size_t place = 0; place < std::clamp<std::size_t>(wanted, 1, count - 1); ++place)
    chosen[order[place].second] = true;
  return chosen;
}

DetectionSets read_detection_sets(const FoundData& found, double share, std::uint64_t seed,
                                  const PictureRule& rule) {
  DetectionSets sets{.train = read_detection_data(found.train, rule), .valid = {}};
  sets.warnings = found.notes;
  for (std::string& line : sets.train.warnings()) sets.warnings.push_back(std::move(line));
  if (!found.valid) {
    const std::vector<bool> chosen = choose_valid(sets.train, share, seed);
    std::vector<bool> rest(chosen);
    rest.flip();
    sets.valid = take_pictures(sets.train, chosen);
    sets.train = take_pictures(sets.train, rest);
    sets.split_off = true;
    return sets;
  }
  PictureRule of_valid = rule;
  of_valid.folder_option = "data.valid_pictures";
  DetectionData valid = read_detection_data(*found.valid, of_valid);
  for (std::string& line : valid.warnings()) sets.warnings.push_back(std::move(line));
  sets.valid = with_categories_of(sets.train, std::move(valid), sets.warnings);
  check_apart(sets.train, sets.valid);
  return sets;
}

}  // namespace lockstep::fewshot
