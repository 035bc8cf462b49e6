#include "tools/jobs/files/batch_shares.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/fd.h"
#include "core/base/files/files.h"
#include "core/base/json/json.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "tools/jobs/files/share_out.h"
#include "tools/jobs/job_json.h"
#include "tools/jobs/ledger/ledger_schema.h"

namespace lockstep {
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t attempts_of_a_share = 1'000'000;
constexpr const char* shared_folders[] = {"jobs", "logs", "attempts"};

fs::path shares_folder(const BatchFolder& batch) { return batch.path / "shares"; }

// Jobs of one batch and their dependencies, by job number.
struct Graph {
  std::unordered_map<std::int64_t, std::string> states;
  std::unordered_map<std::int64_t, std::int64_t> shares;
  std::vector<std::pair<std::int64_t, std::int64_t>> needs;  // a job, and the job that it needs
  // key: job; value: the unsuccessful job that blocks it
  std::unordered_map<std::int64_t, std::int64_t> blocked;
};

bool is_left(const std::string& state) { return state == "waiting" || state == "running"; }

Graph graph_of(Ledger& all) {
  Graph graph;
  Statement jobs(all.database(),
                 "SELECT id, state, share.number FROM job JOIN share ON share.job = job.id WHERE "
                 "listed = 1");
  while (jobs.step()) {
    graph.states[jobs.integer(0)] = jobs.text(1);
    graph.shares[jobs.integer(0)] = jobs.integer(2);
  }
  std::unordered_map<std::int64_t, std::vector<std::int64_t>> needed_by;
  for (const auto& [job, need] : all.dependencies()) {
    if (!graph.states.contains(job) || !graph.states.contains(need)) continue;
    graph.needs.emplace_back(job, need);
    needed_by[need].push_back(job);
  }
  // a job, and the failed job that blocks it
  std::vector<std::pair<std::int64_t, std::int64_t>> reached;
  for (const auto& [id, state] : graph.states)
    if (!is_left(state) && state != "done") reached.emplace_back(id, id);
  while (!reached.empty()) {
    const auto [id, failed] = reached.back();
    reached.pop_back();
    for (const std::int64_t other : needed_by[id])
      if (graph.states[other] == "waiting" && graph.blocked.emplace(other, failed).second)
        reached.emplace_back(other, failed);
  }
  return graph;
}

// A URI that attaches a file for reading only.
std::string read_only_uri(const fs::path& file) {
  constexpr const char* digits = "0123456789ABCDEF";
  std::string uri = "file:";
  for (const char c : fs::absolute(file).string()) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '/' || c == '.' || c == '-' || c == '_')
      uri += c;
    else
      uri += {'%', digits[byte >> 4], digits[byte & 15]};
  }
  return uri + "?mode=ro";
}

// The pauses of the share, as its ledger stores them. A share may still wait for its Slurm task, so
// its pauses differ from those of other shares.
nlohmann::json pauses_of_part(Database& all) {
  Statement row(all, "SELECT value FROM part.fact WHERE key = 'pauses'");
  nlohmann::json pauses = row.step() ? parse_json(row.text(0)) : nlohmann::json();
  return pauses.is_array() ? pauses : nlohmann::json::array();
}

// Copies a share into the ledger. Returns the share's pauses.
nlohmann::json copy_in(Database& all, const BatchFolder& share, std::int64_t number) {
  check_database_files(share.ledger());
  all.prepared("ATTACH ? AS part").bind(1, read_only_uri(share.ledger())).run();
  check_ledger_schema(all, "part", share.ledger());
  nlohmann::json pauses = pauses_of_part(all);
  all.execute(
      cat("BEGIN;"
          "INSERT INTO main.job SELECT * FROM part.job;"
          "INSERT INTO main.attempt SELECT * FROM part.attempt;"
          "INSERT INTO main.result SELECT * FROM part.result;"
          "INSERT INTO main.dependency SELECT * FROM part.dependency;"
          "INSERT INTO main.note(at, text) SELECT at, text FROM part.note;"
          "INSERT OR REPLACE INTO main.fact SELECT * FROM part.fact WHERE key IN ('paused', "
          "'left_out');"
          "INSERT INTO share SELECT id, ",
          number, " FROM part.job; COMMIT; DETACH part"));
  return pauses;
}

// Like copy_in, but errors name the share's ledger.
nlohmann::json copy_share(Database& all, const BatchFolder& share, std::int64_t number) try {
  return copy_in(all, share, number);
} catch (const Error& error) {
  Ledger::open_to_read(share.ledger());
  throw Error(cat(share.ledger().string(), ": ", error.what()), error.hint());
}

// Adds the reason for jobs that wait for a job of another share. No share's ledger has it.
void fill_in_reasons(Ledger& all) {
  const Graph graph = graph_of(all);
  Statement& set = all.database().prepared(
      "UPDATE job SET reason = (SELECT 'it needs ' || need.name || ', which is ' || need.state "
      "FROM job AS need WHERE need.id = ?2) WHERE id = ?1 AND reason = ''");
  for (const auto& [job, failed] : graph.blocked) set.bind(1, job).bind(2, failed).run();
}

// Jobs that wait for a job outside the list, directly or through other jobs.
std::vector<std::string> held_keys(const std::vector<Job>& jobs) {
  std::unordered_set<std::string> keys, held;
  for (const Job& job : jobs) keys.insert(job.key);
  for (bool more = true; std::exchange(more, false);)
    for (const Job& job : jobs) {
      if (held.contains(job.key)) continue;
      const bool waits = std::any_of(
          job.after.begin(), job.after.end(),
          [&](const std::string& key) { return !keys.contains(key) || held.contains(key); });
      if (waits) more = held.insert(job.key).second || more;
    }
  return {held.begin(), held.end()};
}

fs::path building_folder(const BatchFolder& batch, const NewShare& share) {
  return shares_folder(batch) / cat(".new-", share.number);
}

// Builds the share under a temporary name. The result is not yet durable.
void build_share(const BatchFolder& batch, const NewShare& share) {
  const fs::path building = building_folder(batch, share);
  fs::remove_all(building);
  fs::create_directory(building);
  for (const char* name : shared_folders)
    fs::create_directory_symlink(fs::path("../..") / name, building / name);
  Ledger::build(BatchFolder{building}.ledger(), share.list, share.number * attempts_of_a_share,
                held_keys(share.list.jobs));
}

void sync_file_system(const fs::path& path) {
  const UniqueFd folder(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!folder || ::syncfs(folder.get()) != 0)
    throw Error(cat("cannot sync the folder ", path.string(), ": ", errno_text(errno)));
}

// Whether the ledger already has exactly the list's jobs. If so, nothing is written.
bool says_the_same(Ledger& ledger, const JobList& own) {
  std::unordered_map<std::string, std::string> listed;
  Statement rows(ledger.database(), "SELECT key, spec FROM job WHERE listed != 0");
  while (rows.step()) listed.emplace(rows.text(0), rows.text(1));
  if (listed.size() != own.jobs.size()) return false;
  for (const Job& job : own.jobs) {
    const auto found = listed.find(job.key);
    if (found == listed.end() || found->second != job_json(job)) return false;
  }
  return ledger.limits() == own.limits;
}

// Updates known jobs with the present values of the list.
void relist(const BatchFolder& share, const JobList& list) {
  Ledger ledger = Ledger::open(share.ledger());
  std::unordered_set<std::string> keys;
  Statement rows(ledger.database(), "SELECT key FROM job");
  while (rows.step()) keys.insert(rows.text(0));
  rows.reset();
  JobList own{.jobs = {}, .limits = list.limits};
  for (const Job& job : list.jobs)
    if (keys.contains(job.key)) own.jobs.push_back(job);
  if (says_the_same(ledger, own)) return;
  Transaction transaction(ledger.database());
  ledger.database().execute(
      "CREATE TEMP TABLE IF NOT EXISTS held(id); DELETE FROM held;"
      "INSERT INTO held SELECT id FROM job WHERE listed = 2");
  ledger.add(own, true);
  ledger.database().execute(
      "UPDATE job SET listed = 2 WHERE listed = 1 AND id IN (SELECT id FROM held)");
  transaction.commit();
}

}  // namespace

bool has_shares(const BatchFolder& batch) {
  std::error_code ignored;
  return fs::is_directory(shares_folder(batch), ignored);
}

BatchFolder share_folder(const BatchFolder& batch, std::int64_t share) {
  return {shares_folder(batch) / cat(share)};
}

std::vector<std::int64_t> shares_of(const BatchFolder& batch) {
  std::vector<std::int64_t> shares;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(shares_folder(batch), ignored))
    if (const auto number = whole_number<std::int64_t>(entry.path().filename().string(), 1))
      shares.push_back(*number);
  std::sort(shares.begin(), shares.end());
  return shares;
}

std::vector<BatchFolder> parts_of(const BatchFolder& batch) {
  if (!has_shares(batch)) return {batch};
  std::vector<BatchFolder> parts;
  for (const std::int64_t share : shares_of(batch)) parts.push_back(share_folder(batch, share));
  return parts;
}

std::optional<LockHolder> holder_of(const BatchFolder& batch) {
  for (const BatchFolder& part : parts_of(batch))
    if (auto holder = lock_holder(part.lock(), lock_rules(part.path))) return holder;
  return std::nullopt;
}

std::set<std::int64_t> running_shares(const BatchFolder& batch) {
  std::set<std::int64_t> running;
  for (const std::int64_t share : shares_of(batch)) {
    const BatchFolder folder = share_folder(batch, share);
    if (lock_holder(folder.lock(), lock_rules(folder.path))) running.insert(share);
  }
  return running;
}

Ledger ledger_to_read(const BatchFolder& batch, double limit_s) {
  if (!has_shares(batch)) return Ledger::open_to_read(batch.ledger(), limit_s);
  Ledger all = Ledger::in_memory();
  all.database().execute("CREATE TABLE share(job INTEGER PRIMARY KEY, number INTEGER NOT NULL)");
  all.drop_indexes();
  double copy_s = 0;
  nlohmann::json pauses = nlohmann::json::array();
  for (const std::int64_t share : shares_of(batch)) {
    const BatchFolder part = share_folder(batch, share);
    WorkLimit limit = reading_limit(part.ledger(), INFINITY);
    copy_s += limit.seconds;
    limit.seconds = std::min(copy_s, limit_s);
    all.database().limit_work(std::move(limit));
    const nlohmann::json more = copy_share(all.database(), part, share);
    pauses.insert(pauses.end(), more.begin(), more.end());
  }
  all.database().limit_work({});
  if (!pauses.empty()) all.set_fact("pauses", pauses.dump());
  all.create_indexes();
  all.database().execute("UPDATE job SET listed = 1 WHERE listed = 2");
  fill_in_reasons(all);
  return all;
}

SharePlan plan_shares(Ledger& all, JobList list, std::size_t most) {
  SharePlan plan{.added = all.add(list, true), .shares = {}, .known = {.limits = list.limits}};
  Statement of_share(all.database(), "SELECT coalesce(max(number), 0) FROM share");
  of_share.step();
  std::int64_t number = of_share.integer(0);
  of_share.reset();
  std::vector<Job> fresh;
  Statement known(all.database(),
                  "SELECT id, name, (SELECT 1 FROM share WHERE share.job = id) FROM job WHERE key "
                  "= ?");
  for (Job& job : list.jobs) {
    known.bind(1, job.key).step();
    const bool is_new = known.is_null(2);
    if (is_new) {
      job.number = known.integer(0);
      job.name = known.text(1);
    }
    known.reset();
    (is_new ? fresh : plan.known.jobs).push_back(std::move(job));
  }
  list.jobs = {};
  Statement put(all.database(), "INSERT INTO share(job, number) VALUES(?, ?)");
  for (const std::vector<std::size_t>& places : share_out(fresh, most)) {
    NewShare& share = plan.shares.emplace_back(
        NewShare{.number = ++number, .list = {.jobs = {}, .limits = list.limits}});
    for (const std::size_t place : places) {
      put.bind(1, fresh[place].number).bind(2, number).run();
      share.list.jobs.push_back(std::move(fresh[place]));
    }
  }
  return plan;
}

void write_shares(const BatchFolder& batch, const SharePlan& plan) {
  for (const char* name : shared_folders) make_directories(batch.path / name);
  make_directories(shares_folder(batch));
  for (const std::int64_t share : shares_of(batch)) relist(share_folder(batch, share), plan.known);
  if (plan.shares.empty()) return;
  for (const NewShare& share : plan.shares) build_share(batch, share);
  sync_file_system(shares_folder(batch));
  for (const NewShare& share : plan.shares)
    fs::rename(building_folder(batch, share), share_folder(batch, share.number).path);
  sync_directory(shares_folder(batch));
}

std::int64_t release_held(const BatchFolder& batch, std::int64_t share) {
  Ledger ledger = Ledger::open(share_folder(batch, share).ledger());
  std::vector<std::pair<std::int64_t, std::string>> held;
  Statement rows(ledger.database(), "SELECT id, key FROM job WHERE listed = 2");
  while (rows.step()) held.emplace_back(rows.integer(0), rows.text(1));
  if (held.empty()) return 0;
  Ledger all = ledger_to_read(batch);
  // For each job, the unsuccessful jobs of other shares that it needs, directly or through jobs of
  // its own share.
  Statement unmet(
      all.database(),
      "WITH RECURSIVE wanted(key) AS (SELECT ?1 UNION SELECT needs FROM wanted JOIN job USING(key) "
      "JOIN share ON share.job = job.id AND share.number = ?2 JOIN dependency ON dependency.job = "
      "job.id) SELECT count(*) FROM wanted JOIN job USING(key) JOIN share ON share.job = job.id "
      "WHERE share.number != ?2 AND job.state != 'done'");
  Transaction transaction(ledger.database());
  Statement release(ledger.database(), "UPDATE job SET listed = 1 WHERE id = ?");
  std::int64_t still = 0;
  for (const auto& [id, key] : held) {
    unmet.bind(1, key).bind(2, share).step();
    if (unmet.integer(0) == 0)
      release.bind(1, id).run();
    else
      ++still;
    unmet.reset();
  }
  transaction.commit();
  return still;
}

std::map<std::int64_t, ShareWork> work_left(Ledger& all) {
  const Graph graph = graph_of(all);
  std::map<std::int64_t, ShareWork> work;
  for (const auto& [id, state] : graph.states)
    if (is_left(state) && !graph.blocked.contains(id)) ++work[graph.shares.at(id)].left;
  for (const auto& [job, need] : graph.needs) {
    const std::int64_t share = graph.shares.at(job), other = graph.shares.at(need);
    if (share != other && work.contains(share) && work.contains(other) &&
        is_left(graph.states.at(job)) && is_left(graph.states.at(need)))
      work[share].after.insert(other);
  }
  // Each round sets the levels of jobs one level further.
  for (bool more = true; std::exchange(more, false);)
    for (auto& [share, one] : work)
      for (const std::int64_t other : one.after)
        if (const int level = work[other].level + 1;
            level > one.level && level <= static_cast<int>(work.size())) {
          one.level = level;
          more = true;
        }
  return work;
}

}  // namespace lockstep
