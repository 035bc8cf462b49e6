#include "tools/jobs/ledger/ledger.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/files/fd.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "runtime/run/folder/run_lock.h"
#include "tools/jobs/job_json.h"
#include "tools/jobs/job_names.h"
#include "tools/jobs/ledger/ledger_schema.h"

namespace lockstep {
namespace {

// from this number on, rows are added before indexes are created
constexpr std::size_t many_jobs = 1000;
constexpr double longest_wait_s = 30;  // longest wait for other writers

constexpr std::array<std::pair<JobState, const char*>, 6> state_names{
    {{JobState::waiting, "waiting"},
     {JobState::running, "running"},
     {JobState::done, "done"},
     {JobState::skipped, "skipped"},
     {JobState::failed, "failed"},
     {JobState::cancelled, "cancelled"}}};

JobState state_of(const std::string& text) {
  for (const auto& [state, name] : state_names)
    if (text == name) return state;
  throw Error(cat("the ledger holds a job whose state is ", text), "it is damaged");
}

nlohmann::json parsed(const std::string& text) {
  nlohmann::json value = parse_json(text);
  if (value.is_discarded()) throw Error("the ledger holds a text that is no JSON", "it is damaged");
  return value;
}

template <class T>
std::vector<T> parsed_list(const std::string& text) try {
  return parsed(text).get<std::vector<T>>();
} catch (const nlohmann::json::exception&) {
  throw Error(cat("the ledger holds ", printable(text), " in place of a list"), "it is damaged");
}

// Whether an entry of the fact `pauses` has no end.
bool is_open_pause(const nlohmann::json& pause) {
  return pause.is_array() && pause.size() == 2 && pause[0].is_number() && pause[1].is_null();
}

// Returns a name that no other job has. Folders and logs are named after jobs, and those of earlier
// job files remain.
std::string unused_name(const Job& job, std::unordered_set<std::string>& names) {
  if (names.insert(job.name).second) return job.name;
  const std::string base = cat(job.name, "-", job.key.substr(0, 8));
  std::string name = base;
  for (int count = 2; !names.insert(name).second; ++count) name = name_of_repeat(base, count);
  return name;
}

// Enlarges SQLite's cache. Keys come in random order, so pages that do not fit would be written and
// read repeatedly.
class RoomForKeys {
 public:
  explicit RoomForKeys(Database& database) : database_(database) {
    database_.execute("PRAGMA cache_size = -65536");
  }
  ~RoomForKeys() {
    try {
      database_.execute("PRAGMA cache_size = -2000; PRAGMA shrink_memory");
    } catch (const Error&) {
      // The cache then stays large.
    }
  }
  RoomForKeys(const RoomForKeys&) = delete;
  RoomForKeys& operator=(const RoomForKeys&) = delete;

 private:
  Database& database_;
};

// Binds the facts by which the scheduler chooses a job, from parameter `first` on. Their order is
// priority, cpus, gpus, gpu_devices, gpu_share, gpu_memory, gpu_memory_bytes, kind.
Statement& bind_demand(Statement& row, int first, const Job& job) {
  return row.bind(first, std::int64_t{job.priority})
      .bind(first + 1, job.cpus)
      .bind(first + 2, static_cast<std::int64_t>(job.gpus.kind))
      .bind(first + 3, std::int64_t{job.gpus.devices})
      .bind(first + 4, job.gpus.share)
      .bind(first + 5, static_cast<std::int64_t>(job.gpu_memory.kind))
      .bind(first + 6, job.gpu_memory.bytes)
      .bind(first + 7, job.kind);
}

}  // namespace

WorkLimit reading_limit(const std::filesystem::path& file, double limit_s) {
  constexpr double least_s = 60, bytes_per_s = 4 << 20;
  constexpr std::int64_t least_steps = 20'000'000;
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(file, error);
  const double usual_s = least_s + (error ? 0 : static_cast<double>(bytes)) / bytes_per_s;
  return {.seconds = std::min(usual_s, limit_s), .steps = least_steps, .file = file};
}

const char* to_string(JobState state) {
  return state_names[static_cast<std::size_t>(state)].second;
}

const char* to_string(AttemptOutcome outcome) {
  constexpr std::array names{"done",          "skipped",   "failed",  "timed out",
                             "out of memory", "cancelled", "stopped", "lost"};
  return names[static_cast<std::size_t>(outcome)];
}

Ledger Ledger::open(const std::filesystem::path& file) {
  Ledger ledger(std::make_unique<Database>(file, Database::Access::create));
  ledger.create_tables(file);
  return ledger;
}

void Ledger::build(const std::filesystem::path& file, const JobList& list, std::int64_t attempts,
                   const std::vector<std::string>& held) {
  Ledger ledger(std::make_unique<Database>(file, Database::Access::create));
  Database& database = ledger.database();
  database.limit_work({});
  database.execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF");
  Transaction transaction(database);
  create_ledger_schema(database);
  for (const Job& job : list.jobs) ledger.insert(job, job.number, job.name);
  ledger.set_limits(list.limits);
  Statement& hold = database.prepared("UPDATE job SET listed = 2 WHERE key = ?");
  for (const std::string& key : held) hold.bind(1, key).run();
  database.prepared("INSERT INTO sqlite_sequence(name, seq) VALUES('attempt', ?)")
      .bind(1, attempts)
      .run();
  transaction.commit();
}

Ledger Ledger::open_to_read(const std::filesystem::path& file, double limit_s) {
  Ledger ledger(
      std::make_unique<Database>(file, Database::Access::read, std::min(longest_wait_s, limit_s)));
  check_ledger_schema(ledger.database(), "main", file);
  ledger.database().limit_work(reading_limit(file, limit_s));
  return ledger;
}

Ledger Ledger::in_memory() {
  Ledger ledger(std::make_unique<Database>(":memory:", Database::Access::create));
  create_ledger_schema(ledger.database());
  return ledger;
}

void Ledger::create_tables(const std::filesystem::path& file) {
  // Checked before anything is written, because the file may belong to somebody else.
  if (!is_new(file)) check_ledger_schema(*database_, "main", file);
  database_->limit_work({});
  // WAL needs shared memory, which network file systems do not have.
  local_ = lock_rules(file).own_disk;
  Statement mode(*database_, local_ ? "PRAGMA journal_mode = WAL" : "PRAGMA journal_mode = DELETE");
  mode.run();
  database_->execute(local_ ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL");
  Transaction transaction(*database_);
  if (is_new(file)) create_ledger_schema(*database_);
  transaction.commit();
  check_ledger_schema(*database_, "main", file);
}

bool Ledger::is_new(const std::filesystem::path& file) {
  if (ledger_version(*database_, "main") != 0) return false;
  Statement others(*database_, "SELECT 1 FROM sqlite_master LIMIT 1");
  if (others.step())
    throw Error(cat(file.string(), " is a database, but no ledger of Lockstep's"),
                "choose another folder");
  return true;
}

void Ledger::insert(const Job& job, std::int64_t number, const std::string& name) {
  Statement& row = database_->prepared(
      "INSERT INTO job(id, key, name, spec, priority, cpus, gpus, gpu_devices, gpu_share, "
      "gpu_memory, gpu_memory_bytes, kind) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  row.bind(1, number).bind(2, job.key).bind(3, name).bind(4, job_json(job));
  bind_demand(row, 5, job).run();
  Statement& need =
      database_->prepared("INSERT OR IGNORE INTO dependency(job, needs) VALUES(?, ?)");
  for (const std::string& key : job.after) need.bind(1, number).bind(2, key).run();
}

AddedJobs Ledger::add(const JobList& list, bool replaces) {
  const auto each = [&](const JobSource::Visit& visit) {
    for (const Job& job : list.jobs) visit(job);
  };
  return add({list.jobs.size(), each, list.limits}, replaces);
}

AddedJobs Ledger::add(const JobSource& source, bool replaces) {
  const auto each = [&](const JobSource::Visit& visit) { source.each(visit); };
  return add({source.size(), each, source.limits()}, replaces);
}

AddedJobs Ledger::add(const Jobs& jobs, bool replaces) {
  Transaction transaction(*database_);
  Statement any(*database_, "SELECT 1 FROM job");
  const bool is_first = !any.step();
  any.reset();
  const AddedJobs result = is_first ? add_first(jobs) : add_more(jobs, replaces);
  if (replaces) set_limits(jobs.limits);
  transaction.commit();
  return result;
}

void Ledger::set_limits(const BatchLimits& limits) {
  const auto& rate = limits.max_failure_rate;
  set_fact("max_failure_rate", rate ? general(*rate, 17) : "");
  set_fact("min_finished", cat(limits.min_finished));
  if (!limits.left_out.empty() || !fact("left_out").empty())
    set_fact("left_out", nlohmann::json(limits.left_out).dump());
}

void Ledger::drop_indexes() { drop_ledger_indexes(*database_); }
void Ledger::create_indexes() { create_ledger_indexes(*database_); }

AddedJobs Ledger::add_first(const Jobs& jobs) {
  const bool many = jobs.count >= many_jobs;
  if (many) drop_indexes();
  std::int64_t number = 0;
  jobs.each([&](const Job& job) { insert(job, ++number, job.name); });
  if (many) create_indexes();
  return {.added = number};
}

AddedJobs Ledger::add_more(const Jobs& jobs, bool replaces) {
  const RoomForKeys room(*database_);
  AddedJobs result;
  std::unordered_map<std::string, std::int64_t> known;
  std::unordered_set<std::string> names;
  std::int64_t number = 0;
  Statement all(*database_, "SELECT key, id, name FROM job");
  while (all.step()) {
    known.emplace(all.text(0), all.integer(1));
    number = std::max(number, all.integer(1));
    names.insert(all.text(2));
  }
  all.reset();
  Statement& relist = database_->prepared(
      "UPDATE job SET listed = 1, spec = ?2, priority = ?3, cpus = ?4, gpus = ?5, "
      "gpu_devices = ?6, gpu_share = ?7, gpu_memory = ?8, gpu_memory_bytes = ?9, kind = ?10 "
      "WHERE id = ?1");
  jobs.each([&](const Job& job) {
    const auto found = known.find(job.key);
    if (found == known.end()) {
      const std::string name = unused_name(job, names);
      insert(job, ++number, name);
      ++result.added;
      if (name != job.name && ++result.renamed == 1) result.first_renamed = name;
      return;
    }
    ++result.known;
    relist.bind(1, found->second).bind(2, job_json(job));
    bind_demand(relist, 3, job).run();
    known.erase(found);
  });
  if (replaces) {
    Statement& leave_out =
        database_->prepared("UPDATE job SET listed = 0 WHERE id = ? AND listed = 1");
    for (const auto& [key, id] : known) {
      leave_out.bind(1, id).run();
      result.left_out += database_->changes();
    }
  }
  return result;
}

BatchLimits Ledger::limits() {
  BatchLimits limits;
  if (const std::string rate = fact("max_failure_rate"); !rate.empty())
    limits.max_failure_rate = std::stod(rate);
  limits.min_finished = whole_number<std::int64_t>(fact("min_finished"), 0, std::int64_t{1} << 40)
                            .value_or(limits.min_finished);
  limits.left_out = left_out();
  return limits;
}

// The ledger may come from a stranger, so values that are not text are ignored.
std::vector<std::string> Ledger::left_out() {
  std::vector<std::string> lines;
  const nlohmann::json kept = parse_json(fact("left_out"));
  if (!kept.is_array()) return lines;
  for (const nlohmann::json& line : kept)
    if (line.is_string()) lines.push_back(line.get<std::string>());
  return lines;
}

std::string Ledger::made_by() { return fact("made_by"); }

void Ledger::set_made_by(const std::string& command) {
  if (command != made_by()) set_fact("made_by", command);
}

std::vector<QueuedJob> Ledger::queue() {
  std::vector<QueuedJob> result;
  Statement rows(*database_,
                 "SELECT id, state, priority, cpus, gpus, gpu_devices, gpu_share, not_before, "
                 "tries, gpu_memory, gpu_memory_bytes, kind FROM job WHERE listed = 1 ORDER BY "
                 "id");
  while (rows.step())
    result.push_back({.id = rows.integer(0),
                      .state = state_of(rows.text(1)),
                      .priority = static_cast<int>(rows.integer(2)),
                      .cpus = rows.number(3),
                      .gpus = {.kind = static_cast<GpuRequest::Kind>(rows.integer(4)),
                               .devices = static_cast<int>(rows.integer(5)),
                               .share = rows.number(6)},
                      .not_before = rows.number(7),
                      .tries = static_cast<int>(rows.integer(8)),
                      .gpu_memory = {.kind = static_cast<GpuMemoryRequest::Kind>(rows.integer(9)),
                                     .bytes = rows.integer(10)},
                      .kind = rows.text(11)});
  return result;
}

bool Ledger::wants_gpu() {
  return Statement(*database_, "SELECT 1 FROM job WHERE listed = 1 AND gpus != 0 LIMIT 1").step();
}

std::vector<std::pair<std::int64_t, std::int64_t>> Ledger::dependencies() {
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  Statement rows(*database_,
                 "SELECT dependency.job, job.id FROM dependency JOIN job ON job.key = needs");
  while (rows.step()) result.emplace_back(rows.integer(0), rows.integer(1));
  return result;
}

Job Ledger::job(std::int64_t id) {
  Statement& row = database_->prepared("SELECT key, name, spec FROM job WHERE id = ?");
  if (!row.bind(1, id).step()) throw Error(cat("the ledger has no job ", id), "it is damaged");
  const std::string key = row.text(0), name = row.text(1), spec = row.text(2);
  row.reset();
  if (name == "." || name == ".." || name.find('/') != name.npos)
    throw Error(
        cat("the ledger holds a job whose name cannot be that of a folder: ", printable(name)),
        "it is damaged, or made so by somebody");
  Job job = job_from_json(parsed(spec));
  job.number = id;
  job.key = key;
  job.name = name;
  return job;
}

std::optional<std::int64_t> Ledger::find(const std::string& name_or_number) {
  Statement& row = database_->prepared(
      "SELECT id, listed = 0 AND name = ?1 FROM job WHERE name = ?1 OR id = ?2 "
      "ORDER BY name = ?1 DESC LIMIT 1");
  const auto number = whole_number<std::int64_t>(name_or_number, 1, std::int64_t{1} << 60);
  std::optional<std::int64_t> id;
  bool is_replaced = false;
  if (row.bind(1, name_or_number).bind(2, number.value_or(0)).step()) {
    id = row.integer(0);
    is_replaced = row.integer(1) != 0;
  }
  row.reset();
  if (!is_replaced) return id;
  const std::optional<std::int64_t> present = find_renamed(name_or_number, *id);
  return present ? present : id;
}

// Finds the job whose name has the form that `unused_name` gives. A different job with a similar
// value is not accepted. The bounds allow SQLite to use the index of names, because '.' follows
// '-'.
std::optional<std::int64_t> Ledger::find_renamed(const std::string& name, std::int64_t replaced) {
  Statement& row = database_->prepared(
      "SELECT id FROM job WHERE listed != 0 AND name > ?1 || '-' AND name < ?1 || '.' AND "
      "substr(name, 1, length(?1) + 9) = ?1 || '-' || substr(key, 1, 8) ORDER BY id DESC");
  std::vector<std::int64_t> found;
  row.bind(1, name);
  while (row.step()) found.push_back(row.integer(0));
  row.reset();
  const Job before = job(replaced);
  for (const std::int64_t id : found)
    if (!names_hide_difference(before, job(id))) return id;
  return std::nullopt;
}

std::map<JobState, std::int64_t> Ledger::counts() {
  std::map<JobState, std::int64_t> result;
  Statement rows(*database_, "SELECT state, count(*) FROM job WHERE listed = 1 GROUP BY state");
  while (rows.step()) result[state_of(rows.text(0))] = rows.integer(1);
  return result;
}

std::int64_t Ledger::unsynced() {
  Statement row(
      *database_,
      "SELECT count(*) FROM job WHERE synced = 0 AND listed = 1 AND state != 'waiting' AND "
      "state != 'running'");
  return row.step() ? row.integer(0) : 0;
}

void Ledger::begin(std::vector<Attempt>& attempts) {
  if (attempts.empty()) return;
  Transaction transaction(*database_);
  Statement& count = database_->prepared("SELECT count(*) FROM attempt WHERE job = ?");
  Statement& row = database_->prepared(
      "INSERT INTO attempt(job, number, supervisor, slot, cores, devices) VALUES(?, ?, ?, ?, ?, "
      "?)");
  Statement& state =
      database_->prepared("UPDATE job SET state = 'running', reason = '' WHERE id = ?");
  for (Attempt& attempt : attempts) {
    count.bind(1, attempt.job).step();
    attempt.number = static_cast<int>(count.integer(0)) + 1;
    count.reset();
    row.bind(1, attempt.job)
        .bind(2, std::int64_t{attempt.number})
        .bind(3, attempt.supervisor)
        .bind(4, std::int64_t{attempt.slot})
        .bind(5, nlohmann::json(attempt.cores).dump())
        .bind(6, nlohmann::json(attempt.devices).dump())
        .run();
    attempt.id = database_->last_row_id();
    state.bind(1, attempt.job).run();
  }
  transaction.commit();
}

void Ledger::ask_end(const Attempt& attempt) {
  database_
      ->prepared(
          "UPDATE attempt SET reason = ?2, ended = nullif(?3, 0) WHERE id = ?1 AND outcome IS NULL")
      .bind(1, attempt.id)
      .bind(2, attempt.asked)
      .bind(3, attempt.signalled)
      .run();
}

void Ledger::end(const Attempt& attempt, const AttemptEnd& end, JobState state, double not_before) {
  Transaction transaction(*database_);
  database_
      ->prepared(
          "UPDATE attempt SET outcome = ?2, reason = ?3, exit_code = ?4, started = ?5, "
          "ended = ?6, cpu_s = ?7, max_rss_bytes = ?8, placement = nullif(?9, ''), "
          "gpu_memory_bytes = nullif(?10, 0), gpu_activity_percent = nullif(?11, -1.0), "
          "results_left_out = nullif(?12, '') WHERE id = ?1 AND outcome IS NULL")
      .bind(1, attempt.id)
      .bind(2, to_string(end.outcome))
      .bind(3, end.reason)
      .bind(4, std::int64_t{end.exit_code})
      .bind(5, end.started)
      .bind(6, end.ended)
      .bind(7, end.cpu_s)
      .bind(8, end.max_rss_bytes)
      .bind(9, end.placement)
      .bind(10, end.gpu_memory_bytes)
      .bind(11, end.gpu_activity_percent.value_or(-1))
      .bind(12, end.results.left_out)
      .run();
  if (database_->changes() == 0) return;
  for (const JobResult& result : end.results.values) put_result(attempt.id, result);
  const bool counts =
      end.counts && end.outcome != AttemptOutcome::stopped && end.outcome != AttemptOutcome::lost;
  database_
      ->prepared(
          "UPDATE job SET state = ?2, reason = ?3, not_before = ?4, tries = tries + ?5, "
          "synced = 0 WHERE id = ?1")
      .bind(1, attempt.job)
      .bind(2, to_string(state))
      .bind(3, end.reason)
      .bind(4, not_before)
      .bind(5, std::int64_t{counts})
      .run();
  transaction.commit();
  unsynced_ = true;
}

void Ledger::put_result(std::int64_t attempt, const JobResult& result) {
  Statement& row =
      database_->prepared("INSERT INTO result(attempt, name, number, text) VALUES(?, ?, ?, ?)");
  row.bind(1, attempt).bind(2, result.name).bind_null(3).bind_null(4);
  if (const auto* const number = std::get_if<double>(&result.value))
    row.bind(3, *number);
  else
    row.bind(4, std::get<std::string>(result.value));
  row.run();
}

std::vector<JobResult> Ledger::results(std::int64_t attempt) {
  std::vector<JobResult> results;
  Statement& rows =
      database_->prepared("SELECT name, number, text FROM result WHERE attempt = ? ORDER BY name");
  rows.bind(1, attempt);
  while (rows.step()) {
    JobResult& result = results.emplace_back(JobResult{.name = rows.text(0), .value = {}});
    if (rows.is_null(1))
      result.value = rows.text(2);
    else
      result.value = rows.number(1);
  }
  rows.reset();
  return results;
}

std::vector<Attempt> Ledger::unfinished() {
  std::vector<Attempt> result;
  Statement rows(*database_,
                 "SELECT id, job, number, supervisor, slot, cores, devices, reason, ended FROM "
                 "attempt WHERE outcome IS NULL ORDER BY id");
  while (rows.step())
    result.push_back({.id = rows.integer(0),
                      .job = rows.integer(1),
                      .number = static_cast<int>(rows.integer(2)),
                      .supervisor = rows.text(3),
                      .slot = static_cast<int>(rows.integer(4)),
                      .cores = parsed_list<int>(rows.text(5)),
                      .devices = parsed_list<std::string>(rows.text(6)),
                      .asked = rows.text(7),
                      .signalled = rows.number(8)});
  return result;
}

int Ledger::times_lost(std::int64_t job) {
  Statement& row =
      database_->prepared("SELECT count(*) FROM attempt WHERE job = ? AND outcome = 'lost'");
  row.bind(1, job).step();
  const auto times = static_cast<int>(row.integer(0));
  row.reset();
  return times;
}

std::int64_t Ledger::attempt_before(const Attempt& attempt) {
  Statement& row = database_->prepared("SELECT max(id) FROM attempt WHERE job = ? AND id < ?");
  row.bind(1, attempt.job).bind(2, attempt.id).step();
  const std::int64_t before = row.integer(0);
  row.reset();
  return before;
}

int Ledger::tries(std::int64_t job) {
  Statement& row = database_->prepared("SELECT tries FROM job WHERE id = ?");
  const int tries = row.bind(1, job).step() ? static_cast<int>(row.integer(0)) : 0;
  row.reset();
  return tries;
}

void Ledger::set_state(std::int64_t job, JobState state, const std::string& reason) {
  database_->prepared("UPDATE job SET state = ?2, reason = ?3, not_before = 0 WHERE id = ?1")
      .bind(1, job)
      .bind(2, to_string(state))
      .bind(3, reason)
      .run();
}

void Ledger::forget_tries(std::int64_t job) {
  database_
      ->prepared(
          "UPDATE job SET state = 'waiting', reason = '', not_before = 0, tries = 0 WHERE id "
          "= ?")
      .bind(1, job)
      .run();
}

void Ledger::sync() {
  if (!unsynced_) return;
  const UniqueFd folder(::open(database_->path().parent_path().c_str(), O_RDONLY | O_CLOEXEC));
  if (!folder || ::syncfs(folder.get()) != 0)
    throw Error(cat("cannot sync the folder ", database_->path().parent_path().string(), ": ",
                    errno_text(errno)),
                "what ended since the last time may run again after a power loss");
  // This write must be durable too. If it were lost, a reported job would run again.
  database_->execute("PRAGMA synchronous = FULL");
  database_->prepared("UPDATE job SET synced = 1 WHERE synced = 0").run();
  database_->execute(local_ ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL");
  unsynced_ = false;
}

std::int64_t Ledger::forget_unsynced() {
  Transaction transaction(*database_);
  database_->prepared("UPDATE job SET state = 'waiting' WHERE synced = 0 AND state != 'cancelled'")
      .run();
  const std::int64_t changed = database_->changes();
  database_->prepared("UPDATE job SET synced = 1 WHERE synced = 0").run();
  transaction.commit();
  return changed;
}

void Ledger::request(const std::string& what, std::int64_t job, const std::string& value) {
  database_->prepared("INSERT INTO request(what, job, value) VALUES(?, ?, ?)")
      .bind(1, what)
      .bind(2, job)
      .bind(3, value)
      .run();
}

std::vector<Request> Ledger::take_requests() {
  std::vector<Request> result;
  Statement& rows = database_->prepared("SELECT id, what, job, value FROM request ORDER BY id");
  while (rows.step())
    result.push_back({.id = rows.integer(0),
                      .what = rows.text(1),
                      .job = rows.integer(2),
                      .value = rows.text(3)});
  rows.reset();
  if (!result.empty())
    database_->prepared("DELETE FROM request WHERE id <= ?").bind(1, result.back().id).run();
  return result;
}

bool Ledger::changed_by_others() {
  Statement& row = database_->prepared("PRAGMA data_version");
  const std::int64_t version = row.step() ? row.integer(0) : 0;
  row.reset();
  return std::exchange(data_version_, version) != version;
}

void Ledger::idle(const std::string& device, double begin, double end, const std::string& why) {
  database_->prepared("INSERT INTO idle(device, begin, end, why) VALUES(?, ?, ?, ?)")
      .bind(1, device)
      .bind(2, begin)
      .bind(3, end)
      .bind(4, why)
      .run();
}

void Ledger::note(const std::string& text) {
  database_->prepared("INSERT INTO note(at, text) VALUES(?, ?)")
      .bind(1, system_clock().wall_s())
      .bind(2, text)
      .run();
}

void Ledger::set_paused(bool paused) {
  Transaction transaction(*database_);
  if (paused == is_paused()) return;
  nlohmann::json pauses = parse_json(fact("pauses"));
  if (!pauses.is_array()) pauses = nlohmann::json::array();
  const bool is_open = !pauses.empty() && is_open_pause(pauses.back());
  const double now = system_clock().wall_s();
  if (paused) {
    if (is_open)
      pauses.erase(pauses.size() - 1);  // an earlier version ended the pause without recording when
    pauses.push_back({now, nullptr});
  } else if (is_open) {
    pauses.back()[1] = now;
  }
  set_fact("pauses", pauses.dump());
  set_fact("paused", paused ? "yes" : "no");
  transaction.commit();
}

bool Ledger::is_paused() { return fact("paused") == "yes"; }

std::vector<std::pair<double, double>> Ledger::pauses() {
  std::vector<std::pair<double, double>> result;
  const nlohmann::json pauses = parse_json(fact("pauses"));
  if (!pauses.is_array()) return result;
  const bool now = is_paused();
  for (const nlohmann::json& one : pauses) {
    if (!one.is_array() || one.size() != 2 || !one[0].is_number()) continue;
    const double begin = one[0].get<double>();
    if (is_open_pause(one) && now)
      result.emplace_back(begin, INFINITY);
    else if (one[1].is_number() && begin <= one[1].get<double>())
      result.emplace_back(begin, one[1].get<double>());
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::string Ledger::fact(const std::string& key) {
  Statement& row = database_->prepared("SELECT value FROM fact WHERE key = ?");
  std::string value;
  if (row.bind(1, key).step()) value = row.text(0);
  row.reset();
  return value;
}

void Ledger::set_fact(const std::string& key, const std::string& value) {
  database_->prepared("INSERT OR REPLACE INTO fact(key, value) VALUES(?, ?)")
      .bind(1, key)
      .bind(2, value)
      .run();
}

}  // namespace lockstep
