#include "tools/jobs/job_names.h"

#include <algorithm>
#include <cstdio>
#include <unordered_map>
#include <unordered_set>

#include "core/base/hash.h"
#include "core/base/text/text.h"
#include "core/base/text/utf8.h"

namespace lockstep {
namespace {

bool stays(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c >= 0x80 ||
         (c != '\0' &&
          std::string_view(".,=+-_@%:~^").find(static_cast<char>(c)) != std::string_view::npos);
}

std::string hash_text(std::string_view text) {
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08x", static_cast<unsigned>(hash64(text)));
  return digits;
}

// Cuts a text to `bytes`, without splitting a character.
std::string cut(std::string text, std::size_t bytes) {
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  text.resize(bytes);
  return text;
}

// The key of the first job that is equal to this one.
const std::string& first_key(const std::vector<Job>& jobs, const EqualJobs& equal,
                             std::size_t job) {
  const auto found = equal.find(job);
  return found == equal.end() ? jobs[job].key : found->second;
}

}  // namespace

std::string plain_job_name(std::string_view text) {
  std::string name = invalid_bytes(text) > 0 ? mend_utf8(text) : std::string(text);
  for (char& c : name)
    if (!stays(static_cast<unsigned char>(c))) c = '_';
  if (name.starts_with('.') || name.starts_with('-')) name.insert(0, 1, '_');
  if (name.size() <= longest_job_name) return name;
  const std::string hash = hash_text(text);
  return cut(std::move(name), longest_job_name - hash.size() - 1) + "-" + hash;
}

std::string parameter_list(const Job& job) {
  std::string list;
  for (const auto& [parameter, value] : job.parameters) {
    if (!list.empty()) list += ',';
    list += parameter;
    list += '=';
    list += value;
  }
  return list;
}

std::string name_of_parameters(std::string_view group, const Job& job) {
  std::string name(group);
  if (!name.empty() && !job.parameters.empty()) name += ',';
  return plain_job_name(name + parameter_list(job));
}

bool names_hide_difference(const Job& a, const Job& b) {
  return std::any_of(a.parameters.begin(), a.parameters.end(), [&](const auto& one) {
    return std::any_of(b.parameters.begin(), b.parameters.end(), [&](const auto& other) {
      return one.first == other.first && one.second != other.second &&
             plain_job_name(one.second) == plain_job_name(other.second);
    });
  });
}

std::string shown_name(const Job& job) {
  constexpr std::size_t most_bytes = 200;
  const std::string list = parameter_list(job);
  const bool is_plain = std::all_of(list.begin(), list.end(),
                                    [](char c) { return stays(static_cast<unsigned char>(c)); });
  if (is_plain) return printable(job.name);
  const std::string shown = printable(list);
  return cat(printable(job.name), " (", first_bytes(shown, most_bytes),
             shown.size() > most_bytes ? "…" : "", ")");
}

std::string name_of_repeat(const std::string& name, int count) {
  return name + "-repeat-" + std::to_string(count);
}

void make_names_unique(std::vector<Job>& jobs, const EqualJobs& equal) {
  std::unordered_map<std::string_view, std::size_t> first;
  // key: the first job with this name
  std::unordered_map<std::size_t, std::vector<std::size_t>> shared;
  first.reserve(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto [at, is_new] = first.emplace(jobs[i].name, i);
    if (is_new) continue;
    std::vector<std::size_t>& same = shared[at->second];
    if (same.empty()) same.push_back(at->second);
    same.push_back(i);
  }
  if (shared.empty()) return;
  first.clear();
  std::unordered_set<std::string> taken;
  std::unordered_map<std::string, int> repeats;  // key: a name; value: its last number
  std::vector<bool> renamed(jobs.size(), false);
  for (const auto& [begin, same] : shared)
    for (const std::size_t job : same) renamed[job] = true;
  for (std::size_t i = 0; i < jobs.size(); ++i)
    if (!renamed[i]) taken.insert(jobs[i].name);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto group = shared.find(i);
    if (group == shared.end()) continue;
    const auto key_of = [&](std::size_t job) { return first_key(jobs, equal, job); };
    const bool all_equal =
        std::all_of(group->second.begin(), group->second.end(),
                    [&](std::size_t job) { return key_of(job) == key_of(group->second[0]); });
    for (const std::size_t job : group->second) {
      std::string base = jobs[job].name;
      if (!all_equal) base += "-" + key_of(job).substr(0, 8);
      std::string name = base;
      int& count = repeats.try_emplace(base, 1).first->second;
      while (!taken.insert(name).second) name = name_of_repeat(base, ++count);
      jobs[job].name = name;
    }
  }
}

}  // namespace lockstep
