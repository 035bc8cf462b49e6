// Records outputs as they arrive, and delivers them in input order.
#include "training/trainer/output/output_collector.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "runtime/run/events/events.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

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
  // Closes the files. Returns their paths by name.
  std::map<std::string, fs::path> close() {
    std::map<std::string, fs::path> paths;
    for (auto& [name, file] : files_) {
      const fs::path path = file->path();
      file.reset();
      if (fs::exists(path)) paths[name] = path;
    }
    return paths;
  }

 private:
  const ItemJob& job_;
  std::map<std::string, std::unique_ptr<JointFile>> files_;
};

std::int64_t parts_of(const ItemJob& job) {
  return (static_cast<std::int64_t>(job.items.size()) + job.batch - 1) / job.batch;
}

std::int64_t OutputCollector::items_in(std::int64_t part) const {
  return std::min(job_.batch, static_cast<std::int64_t>(job_.items.size()) - part * job_.batch);
}

OutputCollector::OutputCollector(Recipe& recipe, const ItemJob& job)
    : job_(job),
      folder_(job.folder),
      inputs_(job.items),
      results_(job.scratch),
      record_(RecordWriter::open(job.record)),
      kept_(job.done),
      work_of_ranks_(job.scratch) {
  for (const auto& [part, place] : kept_) earlier_items_ += items_in(part);
  kept_items_ = earlier_items_;
  thread_ = std::thread([this, &recipe] { run(recipe); });
}

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
    shown_s_ = 0;  // so that show() reports at once which outputs are in place
    show(false);
    failed_ = true;
  }
}

void OutputCollector::collect(Recipe& recipe) {
  Joint joint(job_);
  const std::unique_ptr<PredictionWriter> writer = recipe.prediction_writer(joint);
  for (std::int64_t next = 0; next < parts_of(job_); show(false)) {
    for (const std::int64_t part : results_.ready()) {
      keep(part, writer != nullptr);
      show(false);
    }
    for (; kept_.contains(next) || left_.contains(next); ++next)
      if (kept_.contains(next)) deliver(next, writer.get());
    if (next == parts_of(job_)) break;
    if (abandoned_) return;  // the collector is being destroyed
    system_clock().sleep_s(look_again_s);
  }
  if (left_.empty()) {
    if (writer) writer->finish();
    place_joint(joint);
  }
  show(true);
}

void OutputCollector::keep(std::int64_t part, bool for_writer) {
  const std::vector<ItemResult> results = results_.take(part);
  if (std::any_of(results.begin(), results.end(),
                  [](const ItemResult& one) { return one.left && one.fault.empty(); })) {
    left_.insert(part);
    left_items_ += items_in(part);
    return;
  }
  RecordedPart made;
  auto index = static_cast<std::size_t>(part * job_.batch);
  for (const ItemResult& result : results) made.push_back(kept(index++, result, for_writer));
  kept_[part] = {.record = record_.path(), .place = record_.add(made)};
  kept_items_ += std::ssize(made);
}

RecordedItem OutputCollector::kept(std::size_t index, const ItemResult& result, bool for_writer) {
  RecordedItem made{.key = job_.item_keys.at(index),
                    .id = job_.items.at(index).id,
                    .bytes = for_writer ? result.bytes : "",
                    .in_file = result.in_file,
                    .fault = result.fault,
                    .warning = result.warning};
  for (const auto& [path, name] : result.files) {
    if (name.empty()) {
      fs::remove(path);
      continue;
    }
    if (!fs::exists(path))
      throw Error(
          cat((job_.folder / name).string(), " cannot be made: there is no file ", path.string()),
          "the recipe must write a file of its own for each item");
    OutputStamp file = stamp_output(path, name);
    const fs::path held = make_held_folder(record_.path()) / cat(next_held_++);
    fs::rename(path, held);
    file.held = held.lexically_relative(job_.folder).string();
    made.files.push_back(std::move(file));
  }
  return made;
}

void OutputCollector::deliver(std::int64_t part, PredictionWriter* writer) {
  const DonePart& kept = kept_.at(part);
  const bool is_new = !job_.done.contains(part);
  auto index = static_cast<std::size_t>(part * job_.batch);
  for (const RecordedItem& made : read_part(kept.record, kept.place))
    deliver(job_.items.at(index++), made, is_new, writer);
}

void OutputCollector::deliver(const PredictItem& item, const RecordedItem& made, bool is_new,
                              PredictionWriter* writer) {
  const std::string fault = made.fault.empty() ? fault_of(made) : made.fault;
  if (!fault.empty()) return skip(item, fault, writer);
  put(made);
  if (writer != nullptr) {
    const bool in_file = made.in_file && !made.files.empty();
    writer->add(item,
                in_file ? read_file(job_.folder / made.files[0].name, data_bytes) : made.bytes);
  }
  if (is_new && !made.warning.empty())
    EventWriter().write({{"kind", "warning"}, {"text", cat(item.name, ": ", made.warning)}});
}

std::string OutputCollector::fault_of(const RecordedItem& made) {
  std::set<std::string> own;
  for (const OutputStamp& file : made.files) {
    if (std::string fault = fault_of_output_name(file.name); !fault.empty()) return fault;
    if (placed_.contains(file.name) || !own.insert(file.name).second)
      return cat("a second output would be called ", printable(file.name));
    if (inputs_.holds(job_.folder / file.name))
      return cat("its output ", printable(file.name), " would replace an input");
  }
  return "";
}

void OutputCollector::put(const RecordedItem& made) {
  std::vector<const OutputStamp*> waiting;
  std::vector<std::string> names;  // names that must not exist yet
  for (const OutputStamp& file : made.files) {
    placed_.insert(file.name);
    if (!folder_.status(file.held)) {  // it was renamed before
      if (folder_.status(file.name)) continue;
      throw Error(cat((job_.folder / file.name).string(), " has gone meanwhile"),
                  "give the command again");
    }
    waiting.push_back(&file);
    if (!job_.replace && !job_.own.contains(file.name)) names.push_back(file.name);
  }
  check_outputs_are_new(job_.folder, names);
  for (auto file = waiting.rbegin(); file != waiting.rend(); ++file)
    place_output(job_.folder / (*file)->held, job_.folder, (*file)->name,
                 job_.replace || job_.own.contains((*file)->name));
}

void OutputCollector::place_joint(Joint& joint) {
  const std::map<std::string, fs::path> paths = joint.close();
  std::vector<OutputStamp> files;
  for (const auto& [name, path] : paths) {
    if (placed_.contains(name))
      throw Error(cat("an item's output and one of all items are both called ", name),
                  "the recipe gives outputs their names");
    files.push_back(stamp_output(path, name));
  }
  record_.add_joint(files);
  for (const auto& [name, path] : paths)
    place_output(path, job_.folder, name, job_.replace || job_.own.contains(name));
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
  nlohmann::json event{{"kind", "items"},           {"done", kept_items_},
                       {"earlier", earlier_items_}, {"total", job_.items.size()},
                       {"skipped", skipped_},       {"left", left_items_}};
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
  for (std::int64_t i = 0; i < std::ssize(job_.items); ++i) {
    const PredictItem& item = job_.items[static_cast<std::size_t>(i)];
    if (item.fault.empty() && !job_.done.contains(i / job_.batch))
      *all_bytes_ += input_bytes(item.path);
  }
  return *all_bytes_;
}

}  // namespace lockstep
