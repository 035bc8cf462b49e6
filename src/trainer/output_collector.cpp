// Outputs in input order.
#include "trainer/output_collector.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "run/events.h"

#include <algorithm>
#include <map>

namespace lockstep {
namespace fs = std::filesystem;

namespace {

constexpr double look_again_s = 0.01, show_every_s = 0.02, read_work_every_s = 0.2;

class JointFile : public JointOutput {
 public:
  explicit JointFile(fs::path path) : path_(std::move(path)) {
    std::error_code ignored;
    fs::create_directories(path_.parent_path(), ignored);
  }
  void write(std::string_view bytes) override {
    if (!file_) file_ = open_output(path_);
    append_output(file_, path_, bytes);
  }
  const fs::path& path() const override { return path_; }

 private:
  fs::path path_;
  UniqueFd file_;
};

}  // namespace

class OutputCollector::Joint : public JointOutputs {
 public:
  explicit Joint(const ItemJob& job) : job_(job) {}
  JointOutput& open(const std::string& name) override {
    auto& file = files_[name];
    if (!file) file = std::make_unique<JointFile>(joint_folder(job_.scratch) / name);
    return *file;
  }
  const std::vector<PredictItem>& items() const override { return job_.items; }
  const nlohmann::json& extra() const override { return job_.extra; }
  void place(const std::set<std::string>& taken) {
    for (auto& [name, file] : files_) {
      const fs::path path = file->path();
      file.reset();
      if (taken.contains(name))
        throw Error(cat("an item's output and one of all items are both called ", name),
                    "the recipe gives outputs their names");
      if (fs::exists(path)) place_output(path, job_.folder, name, job_.replace);
    }
  }

 private:
  const ItemJob& job_;
  std::map<std::string, std::unique_ptr<JointFile>> files_;
};

std::int64_t parts_of(const ItemJob& job) {
  return (static_cast<std::int64_t>(job.items.size()) + job.batch - 1) / job.batch;
}

OutputCollector::OutputCollector(Recipe& recipe, const ItemJob& job)
    : job_(job),
      inputs_(job.items),
      results_(job.scratch),
      work_of_ranks_(job.scratch),
      thread_([this, &recipe] { run(recipe); }) {}

OutputCollector::~OutputCollector() {
  abandoned_ = true;
  if (thread_.joinable()) thread_.join();
}

void OutputCollector::finish() {
  thread_.join();
  if (error_) std::rethrow_exception(error_);
}

void OutputCollector::run(Recipe& recipe) {
  try {
    collect(recipe);
  } catch (...) {
    error_ = std::current_exception();
    shown_s_ = 0;  // what is in its place by now
    show(false);
    failed_ = true;
  }
}

void OutputCollector::collect(Recipe& recipe) {
  Joint joint(job_);
  const std::unique_ptr<PredictionWriter> writer = recipe.prediction_writer(joint);
  for (std::int64_t part = 0; part < parts_of(job_); ++part) {
    if (!wait_for(part)) return;
    const std::vector<ItemResult> results = results_.take(part);
    for (const ItemResult& result : results) {
      const PredictItem& item = job_.items.at(static_cast<std::size_t>(done_));
      if (result.left && result.fault.empty()) {
        ++left_;
        ++done_;
        continue;
      }
      const std::string fault = result.fault.empty() ? fault_of(result) : result.fault;
      fault.empty() ? put(item, result, writer.get()) : skip(item, fault, writer.get());
      if (fault.empty() && !result.warning.empty())
        EventWriter().write({{"kind", "warning"}, {"text", cat(item.name, ": ", result.warning)}});
      ++done_;
    }
    show(false);
  }
  if (left_ == 0) {
    if (writer) writer->finish();
    joint.place(placed_);
  }
  show(true);
}

bool OutputCollector::wait_for(std::int64_t part) {
  while (!results_.has(part)) {
    if (abandoned_) return false;
    show(false);
    system_clock().sleep_s(look_again_s);
  }
  return true;
}

std::string OutputCollector::fault_of(const ItemResult& result) {
  std::set<std::string> own;
  for (const auto& [path, name] : result.files) {
    if (name.empty()) continue;
    if (std::string fault = fault_of_output_name(name); !fault.empty()) return fault;
    if (placed_.contains(name) || !own.insert(name).second)
      return cat("a second output would be called ", printable(name));
    if (inputs_.holds(job_.folder / name))
      return cat("its output ", printable(name), " would replace an input");
  }
  return "";
}

// All of an item's files or none: its own last.
void OutputCollector::put(const PredictItem& item, const ItemResult& result,
                          PredictionWriter* writer) {
  std::string bytes = result.bytes;
  if (result.in_file && writer != nullptr) bytes = read_file(result.files.at(0).first, data_bytes);
  std::vector<std::string> names;
  for (const auto& [path, name] : result.files)
    if (!name.empty()) names.push_back(name);
  if (!job_.replace) check_outputs_are_new(job_.folder, names);
  for (auto file = result.files.rbegin(); file != result.files.rend(); ++file) {
    if (file->second.empty())
      fs::remove(file->first);
    else
      place_output(file->first, job_.folder, file->second, job_.replace);
  }
  placed_.insert(names.begin(), names.end());
  if (writer != nullptr) writer->add(item, bytes);
}

void OutputCollector::skip(const PredictItem& item, const std::string& reason,
                           PredictionWriter* writer) {
  ++skipped_;
  EventWriter().write({{"kind", "item_skipped"}, {"name", item.name}, {"reason", reason}});
  if (writer != nullptr) writer->skip(item, reason);
}

void OutputCollector::show(bool now) {
  const double time = system_clock().now_s();
  if (!now && time - shown_s_ < show_every_s) return;
  shown_s_ = time;
  const auto total = static_cast<std::int64_t>(job_.items.size());
  const std::int64_t waiting = now ? 0 : results_.waiting() * job_.batch;
  nlohmann::json event{
      {"kind", "items"},         {"done", std::min(done_ + waiting, total) - left_},
      {"placed", done_ - left_}, {"total", total},
      {"skipped", skipped_},     {"left", left_}};
  if (now || time - work_read_s_ >= read_work_every_s) {
    work_read_s_ = time;
    work_ = work_of_ranks_.read();
  }
  if (!work_.unit.empty())
    event.update({{"work_done", work_.done},
                  {"work_total", work_.expected(all_bytes())},
                  {"work_known", work_.knows_all(all_bytes())},
                  {"work_unit", work_.unit}});
  EventWriter().write(event);
}

double OutputCollector::all_bytes() {
  if (all_bytes_) return *all_bytes_;
  all_bytes_ = 0;
  for (const PredictItem& item : job_.items)
    if (item.fault.empty()) *all_bytes_ += input_bytes(item.path);
  return *all_bytes_;
}

}  // namespace lockstep
