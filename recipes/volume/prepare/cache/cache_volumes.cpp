// Fills the cache of volumes: looks volumes up, makes room, and decodes the missing ones.
#include "recipes/volume/prepare/cache/cache_volumes.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>
#include <string_view>
#include <system_error>

#include "core/base/error.h"
#include "core/base/files/file_lock.h"
#include "core/base/files/files.h"
#include "core/base/hash.h"
#include "core/base/text/text.h"
#include "recipes/volume/prepare/cache/parallel.h"
#include "recipes/volume/prepare/find/source_index.h"
#include "recipes/volume/voxels/cache_writer.h"

namespace lockstep::volume {
namespace {

namespace fs = std::filesystem;

std::string cached_name(const std::string& image_hash, const std::string& label_hash,
                        const DecodeOptions& how) {
  std::string text = cat(cached_version, "\n", image_hash, "\n", label_hash, "\n", how.classes,
                         "\n", how.ignore.value_or(-1), "\n");
  if (how.spacing)
    for (const double spacing : *how.spacing) text += cat(general(spacing, 17), "\n");
  if (how.same_grid) text += "same grid\n";
  if (how.as_planes) text += "as planes\n";
  Hasher hasher;
  hasher.update(text);
  return hasher.hex() + ".vox";
}

// Larger volumes are not checked when a run starts, because the check reads the whole file.
constexpr double largest_checked_bytes = 2.0 * (1 << 30);

bool is_whole(const fs::path& cached) try {
  const CachedVolume volume(cached);
  return true;
} catch (const Error&) {
  return false;
}

std::string stamps_of(const Pair& pair) {
  std::string stamps = stamp_of(pair.label);
  for (const fs::path& image : pair.images()) stamps += "\n" + stamp_of(image);
  return stamps;
}

// The hash of one file, or the hash of the hashes of several files.
std::string joint_hash(const std::vector<std::string>& hashes) {
  if (hashes.size() == 1) return hashes[0];
  Hasher hasher;
  for (const std::string& hash : hashes) hasher.update(hash + "\n");
  return hasher.hex();
}

std::string how_many(std::size_t count) { return cat(count, count == 1 ? " volume" : " volumes"); }

// Adds a hint to errors of readers, which do not know that a volume can be left out.
template <class Function>
auto with_way_out(const Function& read) {
  try {
    return read();
  } catch (const Error& error) {
    if (!error.hint().empty() || !std::string_view(error.what()).starts_with("cannot read ")) throw;
    throw Error(
        error.what(),
        "put a copy that can be read in its place, or leave the volume out by a table of the "
        "others (data.csv)");
  }
}

class Filler {
 public:
  Filler(const std::vector<Pair>& pairs, const DecodeOptions& how, const fs::path& folder,
         const CacheLimits& limits, const Say& say)
      : pairs_(pairs),
        how_(how),
        folder_(folder),
        limits_(limits),
        say_(say),
        cached_(pairs.size()) {
    look_up();
    check_contents();
  }

  std::vector<fs::path> fill() {
    if (missing_.empty()) return cached_;
    make_directories(folder_);
    const UniqueFd held =
        lock_file(folder_ / "lock", [&] { say_("waiting for another run that prepares volumes"); });
    remove_what_was_begun();
    look_up();  // another run may have filled the cache while this one waited
    if (!missing_.empty()) {
      find_room();
      decode_missing();
    }
    return cached_;
  }

 private:
  // Sets cached_ to the volumes that are in the cache, and missing_ to the indices of the others.
  void look_up() {
    index_.emplace(folder_ / "sources.json");
    missing_.clear();
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const auto image = known_image_hash(pairs_[i]), label = known_hash(pairs_[i].label);
      cached_[i] = image && label ? folder_ / cached_name(*image, *label, how_) : fs::path();
      if (cached_[i].empty() || !mark_used(cached_[i]) || !is_whole(cached_[i]))
        missing_.push_back(i);
    }
  }

  // Checks as many files as the time limit allows. Each start begins with another file. Damaged
  // files are removed and decoded again.
  void check_contents() {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    std::vector<fs::path> there;
    std::error_code ignored;
    for (std::size_t i = 0; i < cached_.size(); ++i)
      if (!std::binary_search(missing_.begin(), missing_.end(), i) &&
          static_cast<double>(fs::file_size(cached_[i], ignored)) <= largest_checked_bytes)
        there.push_back(cached_[i]);
    if (there.empty()) return;
    const auto ticks = static_cast<std::size_t>(begin.time_since_epoch().count());
    std::rotate(there.begin(), there.begin() + static_cast<std::ptrdiff_t>(ticks % there.size()),
                there.end());
    std::vector<char> good(there.size(), 1);
    run_parallel({.count = there.size(), .run = [&](std::size_t i) {
                    if (std::chrono::duration<double>(Clock::now() - begin).count() <
                        limits_.check_s)
                      good[i] = static_cast<char>(CachedVolume(there[i]).has_its_content());
                  }});
    std::vector<std::string> damaged;
    for (std::size_t i = 0; i < there.size(); ++i)
      if (good[i] == 0) damaged.push_back(there[i].filename().string());
    if (damaged.empty()) return;
    say_(cat("warning: ", how_many(damaged.size()), " in the cache ",
             damaged.size() == 1 ? "is" : "are", " damaged and read again: ", first_five(damaged)));
    for (const std::string& name : damaged) fs::remove(folder_ / name);
    look_up();
  }

  std::optional<std::string> known_hash(const fs::path& source) const {
    return index_->hash_of(source, stamp_of(source));
  }

  std::optional<std::string> known_image_hash(const Pair& pair) const {
    std::vector<std::string> hashes;
    for (const fs::path& image : pair.images()) {
      const auto known = known_hash(image);
      if (!known) return std::nullopt;
      hashes.push_back(*known);
    }
    return joint_hash(hashes);
  }

  // Removes unfinished files of processes that ended. Only the process that has the lock writes
  // files.
  void remove_what_was_begun() const {
    std::error_code error, ignored;
    std::vector<fs::path> begun;
    for (fs::directory_iterator entry(folder_, error), end; !error && entry != end;
         entry.increment(error))
      if (entry->path().filename().string().starts_with('.') && entry->path().extension() == ".tmp")
        begun.push_back(entry->path());
    for (const fs::path& path : begun) fs::remove(path, ignored);
  }

  void find_room() {
    if (!try_room()) return;
    hash_missing();  // some volumes may be in the cache under other paths
    if (missing_.empty()) return;
    if (const auto why = try_room())
      throw Error(
          *why,
          "make room, raise data.cache_gb, name a folder on another disk with run.cache, or "
          "train on fewer volumes (data.csv) or coarser ones (data.spacing)");
  }

  std::optional<std::string> try_room() {
    std::vector<double> bytes(missing_.size());
    run_parallel({.count = missing_.size(), .run = [&](std::size_t i) {
                    bytes[i] = static_cast<double>(cached_bytes(
                        with_way_out([&] { return header_of(pairs_[missing_[i]], how_); })));
                  }});
    std::set<std::string> kept;
    for (const fs::path& path : cached_)
      if (!path.empty()) kept.insert(path.filename().string());
    needed_bytes_ = std::accumulate(bytes.begin(), bytes.end(), 0.0);
    return make_room(folder_, needed_bytes_, kept, limits_);
  }

  void hash_missing() {
    say_(cat("looking for ", how_many(missing_.size()), " in the cache"));
    run_parallel({.count = missing_.size(), .run = [&](std::size_t i) { find_name(missing_[i]); }});
    std::erase_if(missing_,
                  [&](std::size_t i) { return mark_used(cached_[i]) && is_whole(cached_[i]); });
  }

  std::string hash_of(const fs::path& source) {
    const std::string stamp = stamp_of(source);
    if (const auto known = index_->hash_of(source, stamp)) return *known;
    const std::string hash = content_hash(source);
    index_->remember(source, stamp, hash);
    return hash;
  }

  void find_name(std::size_t i) {
    if (!cached_[i].empty()) return;
    std::vector<std::string> images;
    for (const fs::path& image : pairs_[i].images()) images.push_back(hash_of(image));
    cached_[i] = folder_ / cached_name(joint_hash(images), hash_of(pairs_[i].label), how_);
  }

  void decode_one(std::size_t i) {
    const Pair& pair = pairs_[i];
    const std::string before = stamps_of(pair);
    find_name(i);
    if (mark_used(cached_[i]) && is_whole(cached_[i])) return;
    with_way_out([&] { decode(pair, how_, cached_[i]); });
    if (stamps_of(pair) == before) return;
    std::error_code ignored;
    fs::remove(cached_[i], ignored);
    throw Error(cat("the volume ", pair.id, " was changed while it was read"), "start again");
  }

  void decode_missing() {
    say_(cat("reading ", how_many(missing_.size()), " into the cache ", folder_.string(), ": ",
             format_bytes(needed_bytes_), " of ", format_bytes(free_bytes(folder_, limits_)),
             " that are free there"));
    auto told = std::chrono::steady_clock::now();
    const auto progress = [&](std::size_t done) {
      const auto now = std::chrono::steady_clock::now();
      if (done == missing_.size() || now - told < std::chrono::seconds(5)) return;
      told = now;
      say_(cat("read ", done, " of ", how_many(missing_.size())));
    };
    try {
      run_parallel({.count = missing_.size(),
                    .bytes = [&](std::size_t i) { return decode_bytes(pairs_[missing_[i]], how_); },
                    .run = [&](std::size_t i) { decode_one(missing_[i]); },
                    .progress = progress});
    } catch (...) {
      index_->save();  // keeps what was decoded for the next try
      throw;
    }
    index_->save();
  }

  const std::vector<Pair>& pairs_;
  const DecodeOptions& how_;
  const fs::path& folder_;
  const CacheLimits& limits_;
  const Say& say_;
  std::optional<SourceIndex> index_;
  std::vector<fs::path> cached_;
  std::vector<std::size_t> missing_;
  double needed_bytes_ = 0;  // disk space that the missing volumes need
};

}  // namespace

std::vector<fs::path> cache_volumes(const std::vector<Pair>& pairs, const DecodeOptions& how,
                                    const fs::path& folder, const CacheLimits& limits,
                                    const Say& say) {
  return Filler(pairs, how, folder, limits, say).fill();
}

}  // namespace lockstep::volume
