#include "runtime/run/predictions/item_work.h"

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "runtime/run/predictions/prediction_folder.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>

namespace lockstep {
namespace {

namespace fs = std::filesystem;

constexpr double write_every_s = 0.2;
constexpr const char* work_prefix = "work-";
constexpr const char* unfinished_suffix = ".new";

}  // namespace

ItemWork& ItemWork::operator+=(const ItemWork& other) {
  done += other.done;
  begun += other.begun;
  bytes += other.bytes;
  uncounted += other.uncounted;
  if (unit.empty()) unit = other.unit;
  return *this;
}

double ItemWork::expected(double all_bytes) const {
  if (begun <= 0 || bytes <= 0) return begun;
  return begun * std::max(1.0, (all_bytes - uncounted) / bytes);
}

bool ItemWork::knows_all(double all_bytes) const {
  constexpr double rounding = 0.5;
  return bytes + uncounted >= all_bytes - rounding;
}

RankWork::RankWork(fs::path folder, int rank, Clock& clock)
    : file_(std::move(folder) / cat(work_prefix, rank)), clock_(clock) {}

void RankWork::begin(double bytes) {
  bytes_ = bytes;
  done_ = total_ = 0;
}

void RankWork::report(double done, double total, const std::string& unit) {
  if (!(total > 0) || !std::isfinite(total) || !(done >= 0)) return;
  unit_ = unit;
  total_ = total;
  done_ = std::min(done, total);
  const double now = clock_.now_s();
  if (written_s_ >= 0 && now - written_s_ < write_every_s) return;
  written_s_ = now;
  write();
}

void RankWork::end() {
  if (total_ > 0)
    ended_ += {.done = total_, .begun = total_, .bytes = bytes_, .unit = unit_};
  else
    ended_.uncounted += bytes_;
  bytes_ = done_ = total_ = 0;
  write();
}

void RankWork::write() try {
  ItemWork now = ended_;
  if (total_ > 0) now += {.done = done_, .begun = total_, .bytes = bytes_, .unit = unit_};
  if (now.unit.empty()) return;
  const fs::path begun = file_.string() + unfinished_suffix;
  write_output(begun, cat(general(now.done, 17), " ", general(now.begun, 17), " ",
                          general(now.bytes, 17), " ", general(now.uncounted, 17), " ", now.unit));
  fs::rename(begun, file_);
} catch (const Error&) {  // writing the outputs reports a full disk
} catch (const fs::filesystem_error&) {
}

ItemWork WorkOfRanks::read() {
  std::error_code error;
  for (fs::directory_iterator entry(folder_, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(work_prefix) || name.ends_with(unfinished_suffix)) continue;
    try {
      std::istringstream text(read_file(entry->path()));
      ItemWork work;
      if (text >> work.done >> work.begun >> work.bytes >> work.uncounted &&
          std::getline(text >> std::ws, work.unit))
        ranks_[name] = work;
    } catch (const Error&) {  // the earlier value is kept
    }
  }
  ItemWork all;
  for (const auto& [name, work] : ranks_) all += work;
  return all;
}

double input_bytes(const fs::path& path) {
  std::error_code error;
  if (path.empty()) return 0;
  if (!fs::is_directory(path, error)) {
    const auto size = fs::file_size(path, error);
    return error ? 0 : static_cast<double>(size);
  }
  double sum = 0;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error))
    if (std::error_code ignored; entry->is_regular_file(ignored))
      if (const auto size = entry->file_size(ignored); !ignored) sum += static_cast<double>(size);
  return sum;
}

ItemLoad load_of(const std::vector<PredictItem>& items) {
  ItemLoad load{.items = std::ssize(items)};
  double bytes = 0;
  for (const PredictItem& item : items) bytes += input_bytes(item.path);
  if (load.items > 0) load.item_bytes = bytes / static_cast<double>(load.items);
  return load;
}

}  // namespace lockstep
