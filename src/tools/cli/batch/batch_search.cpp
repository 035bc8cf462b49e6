#include "tools/cli/batch/batch_search.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/devices/gpus/gpu_probe.h"
#include "planning/words.h"
#include "runtime/run/events/json_lines.h"
#include "tools/cli/context.h"

namespace lockstep::cli {
namespace {

constexpr const char* search_fact = "search";

// Collects the kinds of jobs. All kinds must be the same, so that any difference comes from the
// settings.
class SearchedJobs {
 public:
  void add(const std::string& kind, const GpuRequest& gpus, const GpuMemoryRequest& memory) {
    kinds_.insert(kind);
    if (gpus.kind == GpuRequest::Kind::automatic)
      throw Error("--search cannot tell CPU from GPU, which gpus = \"auto\" leaves open",
                  "give the jobs gpus = 0, 1 or a part such as 0.25");
    if (gpus.kind == GpuRequest::Kind::whole && gpus.devices > 1)
      throw Error(cat("--search looks for the number of jobs per device, but a job asks for ",
                      gpus.devices, " devices"),
                  "--search is for jobs with gpus = 0, 1 or a part such as 0.25");
    if (gpus.kind != GpuRequest::Kind::none && memory.kind == GpuMemoryRequest::Kind::all)
      throw Error(
          "--search looks for the number of jobs per device, but gpu_memory = \"all\" keeps "
          "each job alone on its device",
          "leave gpu_memory out, or give the memory of one job, such as \"2GiB\"");
  }
  // The kind that all jobs have. Throws Error if there are several.
  std::string kind() const {
    if (kinds_.size() > 1)
      throw Error(cat("--search compares jobs that differ only in their parameters, but the batch "
                      "has ",
                      kinds_.size(), " kinds of jobs"),
                  "make a batch of each [[jobs]] table, or command");
    return kinds_.empty() ? std::string() : *kinds_.begin();
  }

 private:
  std::set<std::string> kinds_;
};

std::vector<std::string> chosen_parameters(const Parsed& parsed) {
  std::vector<std::string> names;
  for (const std::string& list : parsed.all("--choose"))
    for (const std::string& name : split(list, ',')) names.push_back(trim(name));
  return names;
}

// The combination of a job, such as "num_leaves=31,learning_rate=0.1".
std::string combination_of(const Job& job, const std::vector<std::string>& names) {
  std::vector<std::string> values;
  for (const std::string& name : names) {
    const auto found = std::find_if(job.parameters.begin(), job.parameters.end(),
                                    [&](const auto& parameter) { return parameter.first == name; });
    if (found != job.parameters.end()) {
      values.push_back(cat(name, "=", found->second));
      continue;
    }
    std::vector<std::string> known;
    for (const auto& [parameter, value] : job.parameters) known.push_back(parameter);
    throw Error(
        cat("--choose names ", name, ", which is no parameter of the jobs"),
        known.empty() ? "the jobs have no parameters" : cat("they have ", join(known, ", ")));
  }
  return join(values, ",");
}

// The memory that is free now, limited by the allowed memory.
std::int64_t memory_for_jobs() {
  const auto allowed = static_cast<std::int64_t>(host_info().memory_bytes);
  std::ifstream file("/proc/meminfo");
  std::string word;
  for (std::int64_t kib = 0; file >> word;)
    if (word == "MemAvailable:" && file >> kib)
      return allowed > 0 ? std::min(allowed, kib * 1024) : kib * 1024;
  return allowed;
}

nlohmann::json setting_json(const JobSetting& setting) {
  return {
      {"combination", setting.combination}, {"at_once", setting.at_once}, {"cpus", setting.cpus}};
}

std::vector<std::string> texts_of(const std::vector<Expectation>& targets) {
  std::vector<std::string> texts;
  for (const Expectation& target : targets) texts.push_back(target.text());
  return texts;
}

struct KeptSearch {
  std::vector<std::string> parameters, targets;
  std::string trials;  // as written by SettingSearch::json
  std::optional<JobSetting> chosen;
};

// Nothing if there is no earlier search, or if it cannot be read.
std::optional<KeptSearch> kept_search(Ledger& ledger) try {
  const nlohmann::json value = parse_object(ledger.fact(search_fact));
  if (value.is_discarded()) return std::nullopt;
  KeptSearch kept{.parameters = value.at("choose").get<std::vector<std::string>>(),
                  .targets = value.at("targets").get<std::vector<std::string>>(),
                  .trials = to_line(value.at("search"))};
  if (const nlohmann::json& chosen = value.at("chosen"); chosen.is_object())
    kept.chosen = JobSetting{.combination = chosen.at("combination").get<int>(),
                             .at_once = std::clamp(chosen.at("at_once").get<int>(), 1, most_slots),
                             .cpus = std::clamp(chosen.at("cpus").get<double>(), 0.0, most_cpus)};
  return kept;
} catch (const nlohmann::json::exception&) {
  return std::nullopt;
}

// The kind of all jobs. "" if an earlier search is no longer used because other kinds of jobs were
// added.
std::string kind_of_all(const std::vector<QueuedJob>& queue, bool is_asked) try {
  SearchedJobs searched;
  for (const QueuedJob& job : queue) searched.add(job.kind, job.gpus, job.gpu_memory);
  return searched.kind();
} catch (const Error&) {
  if (is_asked) throw;
  say("search: not used any more, as the batch has got other kinds of jobs");
  return {};
}

// Whether enough jobs are left for one trial, and the same number again to benefit from it.
bool has_enough(const SearchPlan& plan, const std::vector<QueuedJob>& queue) {
  SearchRoom room{.jobs = {}};
  std::set<std::int64_t> waiting;
  for (const QueuedJob& job : queue)
    if (job.state == JobState::waiting) waiting.insert(job.id);
  for (const std::set<std::int64_t>& jobs : plan.jobs)
    room.jobs.push_back(std::count_if(jobs.begin(), jobs.end(),
                                      [&](std::int64_t job) { return waiting.contains(job); }));
  const SettingSearch search(plan.space, {});
  if (search.next(room)) return true;
  say(cat("search: none, as there are too few jobs: a trial takes ",
          search.needs(search.first(0)).jobs, ", and as many have to be left; ", waiting.size(),
          waiting.size() == 1 ? " waits" : " wait"));
  return false;
}

// Reads the combinations, in the order of their first jobs.
void read_combinations(Ledger& ledger, const std::vector<QueuedJob>& queue, SearchPlan& plan) {
  std::map<std::string, std::size_t> places;
  plan.space.combinations.clear();
  for (const QueuedJob& queued : queue) {
    const std::string name =
        plan.choose.empty() ? std::string() : combination_of(ledger.job(queued.id), plan.choose);
    const auto [found, is_new] = places.emplace(name, places.size());
    if (is_new) {
      plan.space.combinations.push_back({.name = name, .cpus = queued.cpus});
      plan.jobs.emplace_back();
    }
    plan.jobs[found->second].insert(queued.id);
  }
}

TrialTimer::End trial_end_of(const RunningAttempt& running, const AttemptEnd& end) {
  if (ran_out_of_memory(running, end)) return TrialTimer::End::out_of_memory;
  if (end.outcome == AttemptOutcome::done) return TrialTimer::End::done;
  if (end.outcome == AttemptOutcome::failed || end.outcome == AttemptOutcome::timed_out)
    return TrialTimer::End::failed;
  return TrialTimer::End::other;
}

}  // namespace

const std::vector<Flag>& search_flags() {
  static const std::vector<Flag> flags{
      {"--search", "",
       "find out how many jobs at once, with how many cores each, finish the most jobs per minute "
       "and meet --expect; the first jobs are the trials, the rest runs with the best setting"},
      {"--choose", "NAMES",
       "with --search: parameters, such as num_leaves, of which only the best combination of "
       "values is kept; jobs of the others are cancelled after their trial"}};
  return flags;
}

void check_search_flags(const Parsed& parsed) {
  if (parsed.has("--choose") && !parsed.has("--search"))
    throw Error("--choose says among which parameters --search chooses, but there is no --search",
                "add --search");
  if (parsed.has("--search") && parsed.has("--slots"))
    throw Error("--slots says how many jobs run at once, and --search looks for it",
                "leave one of them out");
}

void check_search(const Parsed& parsed, const JobSource& jobs) {
  check_search_flags(parsed);
  if (!parsed.has("--search")) return;
  SearchedJobs searched;
  const std::vector<std::string> names = chosen_parameters(parsed);
  jobs.each([&](const Job& job) {
    searched.add(job.kind, job.gpus, job.gpu_memory);
    combination_of(job, names);
  });
  searched.kind();
}

std::optional<SearchPlan> plan_search(const Parsed& parsed, Ledger& ledger,
                                      const BatchResources& resources,
                                      std::vector<Expectation> targets) {
  check_search_flags(parsed);
  const std::optional<KeptSearch> kept = kept_search(ledger);
  if (parsed.has("--slots") || (!parsed.has("--search") && !kept)) return std::nullopt;
  const std::vector<QueuedJob> queue = ledger.queue();
  if (queue.empty()) return std::nullopt;
  const std::string kind = kind_of_all(queue, parsed.has("--search"));
  if (kind.empty()) return std::nullopt;
  SearchPlan plan{.kind = kind,
                  .choose = chosen_parameters(parsed),
                  .targets = std::move(targets),
                  .is_asked = parsed.has("--search"),
                  .loads = ledger.job(queue.front().id).keeps_worker,
                  .memory_bytes = memory_for_jobs()};
  if (kept && plan.choose.empty()) plan.choose = kept->parameters;
  if (kept && plan.targets.empty())
    for (const std::string& text : kept->targets) plan.targets.emplace_back(text);
  const GpuRequest& gpus = queue.front().gpus;
  plan.space.cores = static_cast<int>(resources.cores.size());
  if (gpus.kind != GpuRequest::Kind::none)
    plan.space.devices = static_cast<int>(resources.devices.size());
  if (gpus.kind == GpuRequest::Kind::share)
    plan.space.per_device = static_cast<int>(1 / gpus.share + 1e-9);
  read_combinations(ledger, queue, plan);
  if (!kept && !has_enough(plan, queue)) return std::nullopt;
  return plan;
}

BatchSearch::BatchSearch(SearchPlan plan, Scheduler& scheduler, Ledger& ledger, const GpuLog* log,
                         Say say)
    : plan_(std::move(plan)),
      scheduler_(scheduler),
      ledger_(ledger),
      log_(log),
      say_(std::move(say)),
      search_(plan_.space, plan_.targets) {
  if (!restore()) begin_next();
}

void BatchSearch::note(const std::string& text) {
  ledger_.note(cat("search: ", text));
  say_(cat("search: ", text));
}

// Restores the setting of an earlier search. Returns whether there is one that is valid here.
bool BatchSearch::restore() {
  const std::optional<KeptSearch> kept = kept_search(ledger_);
  if (!kept) return false;
  if (kept->parameters != plan_.choose || !search_.restore(kept->trials)) {
    note("begins anew, as cores, devices or parameters are others than before");
    return false;
  }
  const auto combinations = static_cast<int>(plan_.space.combinations.size());
  if (!kept->chosen || kept->chosen->combination < 0 || kept->chosen->combination >= combinations)
    return false;
  if (plan_.is_asked && texts_of(plan_.targets) != kept->targets) {
    note("goes on, as --expect is another than before");
    return false;
  }
  go_on_with(*kept->chosen);
  say_(cat("search: ", search_.text(setting_), ", as was chosen before"));
  return true;
}

void BatchSearch::keep() {
  ledger_.set_fact(search_fact,
                   to_line({{"choose", plan_.choose},
                            {"targets", texts_of(plan_.targets)},
                            {"search", nlohmann::json::parse(search_.json())},
                            {"chosen", chosen_ ? setting_json(setting_) : nlohmann::json()}}));
}

SearchRoom BatchSearch::room() const {
  SearchRoom room{
      .jobs = {}, .per_device = scheduler_.fit_per_device(), .memory_bytes = plan_.memory_bytes};
  for (std::size_t i = 0; i < plan_.jobs.size(); ++i) {
    const std::set<std::int64_t>& jobs = plan_.jobs[i];
    room.jobs.push_back(used_up_.contains(static_cast<int>(i))
                            ? 0
                            : std::count_if(jobs.begin(), jobs.end(), [&](std::int64_t job) {
                                return scheduler_.waits(job);
                              }));
  }
  return room;
}

void BatchSearch::begin_next() {
  if (const std::optional<JobSetting> next = search_.next(room())) return begin(*next);
  if (!search_.trials().empty()) return choose();
  scheduler_.use(search_.first(0));
  give_up("too few jobs are left for a trial");
}

void BatchSearch::begin(const JobSetting& setting) {
  setting_ = setting;
  TrialTimer::Needs needs = search_.needs(setting);
  if (plan_.loads) needs.to_load = needs.at_once;
  timer_.emplace(setting, needs);
  std::set<std::int64_t> held;
  for (std::size_t i = 0; i < plan_.jobs.size(); ++i)
    if (static_cast<int>(i) != setting.combination)
      held.insert(plan_.jobs[i].begin(), plan_.jobs[i].end());
  scheduler_.use(setting);
  scheduler_.hold(std::move(held));
  begin_counting(system_clock().wall_s());
}

// Begins to count once no job runs that began with an earlier setting.
void BatchSearch::begin_counting(double now_s) {
  const auto running = scheduler_.running();
  if (timer_->has_begun() ||
      std::any_of(running.begin(), running.end(), [&](const RunningAttempt* one) {
        return one->setting != scheduler_.settings_used();
      }))
    return;
  timer_->begin(now_s);
  if (log_ != nullptr) gpus_before_ = log_->sums();
}

void BatchSearch::ended(const RunningAttempt& running, const Settled& settled) {
  if (running.attempt.id == 0) return;  // the job can never run
  if (over_) return lower(running, settled.end);
  if (running.setting == scheduler_.settings_used()) {
    const bool counted = timer_->counts();
    timer_->ended(trial_end_of(running, settled.end), settled.end.started, settled.end.ended,
                  settled.end.max_rss_bytes);
    if (!counted && log_ != nullptr) gpus_before_ = log_->sums();
  } else {
    begin_counting(settled.end.ended);
  }
  if (timer_->is_over() && !scheduler_.draining()) take_result();
}

void BatchSearch::take_result() {
  SettingTrial trial = timer_->result();
  if (log_ != nullptr) trial.gpus = activity_between(gpus_before_, log_->sums());
  note(search_.text(trial));
  search_.add(std::move(trial));
  keep();
  begin_next();
}

void BatchSearch::look() {
  if (over_ || scheduler_.draining()) return;
  if (scheduler_.resources().all().slots != search_.jobs_at_once(setting_))
    return give_up("another number of jobs at once was asked for");
  if (scheduler_.paused()) {
    paused_ = true;
  } else if (std::exchange(paused_, false)) {
    begin(setting_);
  } else if (scheduler_.is_idle()) {
    used_up_.insert(setting_.combination);
    begin_next();
  }
}

void BatchSearch::finish() {
  if (over_ || scheduler_.draining()) return;
  over_ = true;
  note("ends without a choice: the batch was over before the trial was");
}

void BatchSearch::choose() {
  const SettingTrial* const choice = search_.choice();
  if (const std::string untried = search_.untried_text(room()); !untried.empty()) note(untried);
  note(search_.choice_text());
  if (choice == nullptr) {
    scheduler_.use(search_.first(0));
    return give_up(cat(search_.text(search_.first(0)), ", as the batch has it"));
  }
  const JobSetting setting = choice->setting;
  for (std::size_t i = 0; i < plan_.jobs.size(); ++i)
    if (static_cast<int>(i) != setting.combination)
      scheduler_.cancel_waiting(plan_.jobs[i], left_out_by_search);
  go_on_with(setting);
  keep();
  if (log_ != nullptr) chosen_at_ = log_->sums();
}

// Continues with a chosen setting. No jobs are cancelled: waiting jobs with other parameters were
// retried or added by a user.
void BatchSearch::go_on_with(const JobSetting& setting) {
  over_ = chosen_ = true;
  setting_ = setting;
  scheduler_.use(setting);
  scheduler_.hold({});
}

void BatchSearch::give_up(const std::string& why) {
  over_ = true;
  note(cat("ends: ", why));
  scheduler_.hold({});
}

// Lowers the number of jobs at once if memory runs out after the choice.
void BatchSearch::lower(const RunningAttempt& running, const AttemptEnd& end) {
  if (!chosen_ || !ran_out_of_memory(running, end) || setting_.at_once == 1 ||
      running.setting != scheduler_.settings_used())
    return;
  --setting_.at_once;
  scheduler_.use(setting_);
  note(cat("memory ran out; ", search_.text(setting_), " from here on"));
  keep();
}

}  // namespace lockstep::cli
