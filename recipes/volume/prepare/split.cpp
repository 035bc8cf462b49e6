// Splits volumes by name, by fold and by share.
#include "recipes/volume/prepare/split.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/hash.h"
#include "core/base/text/text.h"

namespace lockstep::volume {
namespace {

namespace fs = std::filesystem;

// The indices of the ids, sorted by the hash of each id.
std::vector<std::size_t> shuffled(const std::vector<std::string>& ids) {
  std::vector<std::size_t> order(ids.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) {
    return std::pair(hash64("volume split\n" + ids[i]), ids[i]);
  };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

// The ids as typed, or the ids in a table or in a file with one per line.
std::vector<TableId> named_ids(const std::vector<std::string>& valid) {
  std::error_code ignored;
  std::vector<TableId> ids;
  if (valid.size() == 1 && fs::is_regular_file(valid[0], ignored)) {
    if (fs::path(valid[0]).extension() == ".csv") return read_ids(valid[0]);
    const std::vector<std::string> lines = lines_of(read_file(valid[0], list_bytes));
    for (std::size_t i = 0; i < lines.size(); ++i)
      if (const std::string id = trim(lines[i]); !id.empty())
        ids.push_back({id, cat(valid[0], ", line ", i + 1)});
    return ids;
  }
  for (const std::string& id : valid) ids.push_back({id, "data.valid"});
  return ids;
}

void take_named(const VolumeOptions& options, const std::vector<std::string>& ids,
                std::vector<bool>& chosen) {
  for (const TableId& named : named_ids(options.data.valid)) {
    const auto found = std::find(ids.begin(), ids.end(), named.id);
    if (found == ids.end()) {
      const std::string near = nearest(named.id, ids);
      throw Error(cat(named.place, ": there is no volume ", named.id),
                  near.empty() ? "data.valid holds ids of volumes, or a file of them"
                               : cat("the nearest id is ", near));
    }
    chosen[static_cast<std::size_t>(found - ids.begin())] = true;
  }
}

void take_fold(const VolumeOptions& options, const std::vector<std::string>& ids,
               std::vector<bool>& chosen) {
  const auto folds = static_cast<std::size_t>(options.data.folds);
  const auto fold = static_cast<std::size_t>(options.data.fold);
  if (folds > ids.size())
    throw Error(cat("data.folds is ", folds, ", but there ", ids.size() == 1 ? "is " : "are ",
                    ids.size(), ids.size() == 1 ? " volume" : " volumes"),
                ids.size() < 2 ? "leave data.folds out: of a single volume the last planes are "
                                 "validated on"
                               : cat("set data.folds to at most ", ids.size()));
  if (fold >= folds)
    throw Error(cat("data.fold must be below data.folds=", folds, ", but is ", fold),
                "folds are counted from 0");
  const std::vector<std::size_t> order = shuffled(ids);
  for (std::size_t place = fold; place < order.size(); place += folds) chosen[order[place]] = true;
}

void take_share(const VolumeOptions& options, const std::vector<std::string>& ids,
                std::vector<bool>& chosen) {
  if (options.data.valid_share <= 0 || ids.size() < 2) return;
  const auto wanted = std::llround(options.data.valid_share * static_cast<double>(ids.size()));
  const auto count = std::clamp<std::size_t>(static_cast<std::size_t>(wanted), 1, ids.size() - 1);
  const std::vector<std::size_t> order = shuffled(ids);
  for (std::size_t place = 0; place < count; ++place) chosen[order[place]] = true;
}

}  // namespace

std::vector<bool> choose_valid(const VolumeOptions& options, const std::vector<std::string>& ids) {
  const auto& data = options.data;
  if (!data.valid.empty() && data.folds > 1)
    throw Error("data.valid and data.folds both say what is held back", "leave out one of them");
  std::vector<bool> chosen(ids.size());
  if (!data.valid.empty())
    take_named(options, ids, chosen);
  else if (data.folds > 1)
    take_fold(options, ids, chosen);
  else
    take_share(options, ids, chosen);
  if (std::find(chosen.begin(), chosen.end(), false) == chosen.end())
    throw Error("no volume is left for training: data.valid names all of them",
                "leave out some of them");
  return chosen;
}

namespace {

bool holds_planes_back(const VolumeOptions& options) {
  return options.data.valid.empty() && options.data.folds < 2 && options.data.valid_share > 0;
}

std::int64_t share_of(const VolumeOptions& options, std::int64_t extent) {
  return std::max<std::int64_t>(
      1, std::llround(options.data.valid_share * static_cast<double>(extent)));
}

}  // namespace

std::int64_t held_back_planes(const VolumeOptions& options, std::int64_t depth) {
  if (!holds_planes_back(options)) return 0;
  const std::int64_t patch = options.patch()[0], room = std::max<std::int64_t>(0, depth - patch);
  const std::int64_t share = share_of(options, depth);
  if (options.data.pad && room < share) return std::min(share, depth - 1);
  return std::min(room, std::max(share, patch));
}

std::optional<VolumePart> held_back_part(const VolumeOptions& options, const VolumeShape& shape) {
  if (!holds_planes_back(options)) return std::nullopt;
  const auto patch = options.patch();
  const std::int64_t axis = shape.width - patch[2] > shape.height - patch[1] ? 2 : 1;
  const std::int64_t extent = axis == 2 ? shape.width : shape.height;
  const std::int64_t one_patch = patch[static_cast<std::size_t>(axis)], room = extent - one_patch;
  if (room < 1) return std::nullopt;
  const std::int64_t count = std::min(room, std::max(share_of(options, extent), one_patch));
  return VolumePart{.axis = axis, .begin = extent - count, .end = extent};
}

}  // namespace lockstep::volume
