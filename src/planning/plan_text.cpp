// Prints the plan for users and for programs.
#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "planning/compute.h"
#include "planning/memory/memory.h"
#include "planning/plan.h"
#include "planning/precision.h"
#include "planning/schedule/curve.h"
#include "planning/words.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace lockstep {
namespace {

constexpr int title_width = 15, narrowest = 40;

std::string entry(const std::string& title, const std::string& body, int width) {
  return hang_cells(pad_cells(title, title_width), body, width);
}

std::string device_words(const Device& device) {
  std::string words = device.name.empty() ? "unnamed" : device.name;
  if (device.kind == DeviceKind::cpu) words += cat(", ", count_of(device.threads, "thread"));
  if (device.memory_bytes > 0)
    words += cat(", ", format_bytes(static_cast<double>(device.memory_bytes)));
  return words;
}

// Returns, for example, "2: rank 0 on cuda:0, rank 1 on cuda:1 (NVIDIA H200, 139.8 GiB)". Details
// that neighbours share are printed once.
std::string ranks_text(const Plan& plan) {
  std::string text = cat(plan.devices.size(), ": ");
  for (std::size_t rank = 0; rank < plan.devices.size(); ++rank) {
    const std::string words = device_words(plan.devices[rank]);
    text += cat(rank == 0 ? "" : ", ", "rank ", rank, " on ", device_label(plan.devices[rank]));
    const bool last_of_its_kind =
        rank + 1 == plan.devices.size() || device_words(plan.devices[rank + 1]) != words;
    if (last_of_its_kind) text += cat(" (", words, ")");
  }
  return text;
}

std::string batch_text(const Plan& plan) {
  const BatchPlan& batch = plan.batch;
  const std::string shares =
      cat(count_of(batch.world_size, rank_word(plan.devices)), " x micro-batch ", batch.micro,
          " x accumulation ", batch.accumulation);
  const std::string rows =
      batch.rows_per_sample > 1 ? cat(" x ", batch.rows_per_sample, " rows") : "";
  if (batch.places() == batch.rows()) return cat(batch.global, rows, " = ", shares);
  return cat(batch.global, rows, ", on ", shares, " = ", batch.places(), " places");
}

std::string step_text(const Plan& plan) {
  const std::string samples = count_of(plan.batch.global, "sample");
  if (plan.unit == "samples") return samples;
  const bool one = plan.units_per_step == 1 && plan.unit.ends_with('s');
  const std::string unit = one ? plan.unit.substr(0, plan.unit.size() - 1) : plan.unit;
  return cat(general(plan.units_per_step, 12), " ", unit, " (", samples, ")");
}

std::string length_text(const Plan& plan) {
  const std::string total = count_of(plan.total_steps, "step");
  if (plan.steps_per_epoch == 0) return total;
  const double epochs =
      static_cast<double>(plan.total_steps) / static_cast<double>(plan.steps_per_epoch);
  return cat(total, " = ", general(epochs, 4), epochs == 1 ? " epoch" : " epochs", " of ",
             count_of(plan.steps_per_epoch, "step"));
}

std::string data_text(const Plan& plan) {
  if (plan.train_samples == 0) return "number of samples not known yet";
  return cat(
      count_of(plan.train_samples, "training sample"), ", ",
      plan.epoch_size != plan.train_samples ? cat(plan.epoch_size, " of them an epoch, ") : "",
      count_of(plan.valid_samples, "validation sample"));
}

std::string memory_text(const Plan& plan) {
  if (plan.memory_needed_bytes <= 0) return "not known: the recipe gives no estimate";
  const auto tightest = tightest_device(plan.devices);
  return cat(format_bytes(plan.memory_needed_bytes), " needed of ",
             tightest ? format_bytes(tightest->available_bytes) : "an unknown size",
             " available per ", rank_word(plan.devices), " (",
             plan.memory.tried_micro > 0 ? "tried out"
             : plan.memory.measured      ? "measured"
                                         : "estimate",
             ")");
}

// Replaces numbers by "*": "blocks.*.up" for "blocks.11.up".
std::string without_numbers(const std::string& name) {
  std::string pattern;
  for (const char c : name) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit)
      pattern += c;
    else if (!pattern.ends_with('*'))
      pattern += '*';
  }
  return pattern;
}

// Returns, for example, "; of two dimensions: tok (embedding), heads.*.weight (head, 6)".
std::string matrices_text(const std::vector<RuleCount::Matrix>& matrices) {
  constexpr std::size_t most = 8;
  struct Entry {
    std::string name, pattern, why;
    int count = 0;
  };
  std::vector<Entry> entries;
  for (const RuleCount::Matrix& one : matrices) {
    const std::string pattern = without_numbers(one.name);
    const auto known = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
      return entry.pattern == pattern && entry.why == one.why;
    });
    if (known == entries.end())
      entries.push_back({.name = one.name, .pattern = pattern, .why = one.why, .count = 1});
    else
      ++known->count;
  }
  std::vector<std::string> words;
  for (const Entry& entry : entries)
    words.push_back(entry.count == 1 ? cat(entry.name, " (", entry.why, ")")
                                     : cat(entry.pattern, " (", entry.why, ", ", entry.count, ")"));
  if (words.size() > most) {
    const std::size_t more = words.size() - most;
    words.resize(most);
    words.push_back(cat(more, " more"));
  }
  return words.empty() ? "" : cat(", of two dimensions ", join(words, ", "));
}

std::string parameters_text(const Plan& plan) {
  if (plan.parameters == 0 && plan.frozen_parameters == 0) return "not known";
  std::string text = cat(format_count(static_cast<double>(plan.parameters)), " trained");
  if (plan.frozen_parameters > 0)
    text += cat(", ", format_count(static_cast<double>(plan.frozen_parameters)), " frozen");
  for (const GroupCount& group : plan.groups)
    text += cat("; ", group.pattern, " (", format_count(static_cast<double>(group.parameters)),
                "): ", group.words);
  for (const RuleCount& rule : plan.rules)
    text += cat("; ", rule.rule, ": ", rule.names.size(), " (",
                format_count(static_cast<double>(rule.parameters)), ")",
                rule.rule == "adamw" && plan.adamw_lr > 0
                    ? cat(" at a rate of ", general(plan.adamw_lr, 6))
                    : "",
                matrices_text(rule.matrices));
  return text;
}

std::string exact_text(const Plan& plan) {
  const ExactSum& exact = *plan.exact;
  std::string text = cat("leaf ", exact.leaf_samples, ", ", exact.leaves,
                         exact.leaves == 1 ? " leaf" : " leaves", " per step");
  if (plan.batch.world_size == 1) return text + ", added up on one device";
  text += cat(", ", count_of(exact.partial_sums, "partial sum"), " per ", rank_word(plan.devices));
  return exact.sent_bytes > 0 ? cat(text, ", which sends ", format_bytes(exact.sent_bytes)) : text;
}

}  // namespace

nlohmann::json to_json(const GroupCount& group) {
  return {{"pattern", group.pattern}, {"words", group.words}, {"parameters", group.parameters}};
}

nlohmann::json to_json(const RuleCount& rule) {
  nlohmann::json json{{"rule", rule.rule}, {"parameters", rule.parameters}, {"names", rule.names}};
  for (const RuleCount::Matrix& one : rule.matrices)
    json["matrices"].push_back({{"name", one.name}, {"why", one.why}});
  return json;
}

nlohmann::json to_json(const Device& device) {
  return {{"device", device_label(device)},
          {"uuid", device.uuid},
          {"name", device.name},
          {"memory_bytes", device.memory_bytes},
          {"compute_capability", cat(device.compute_major, ".", device.compute_minor)},
          {"threads", device.threads}};
}

nlohmann::json to_json(const MemoryEstimate& memory) {
  return {{"fixed_bytes", memory.fixed_bytes},
          {"per_sample_bytes", memory.per_sample_bytes},
          {"optimizer_bytes", memory.optimizer_bytes},
          {"blocks", memory.blocks},
          {"block_bytes", memory.block_bytes},
          {"recomputed_block_bytes", memory.recomputed_block_bytes},
          {"loss_bytes", memory.loss_bytes},
          {"loss_piece_bytes", memory.loss_piece_bytes},
          {"backward_bytes", memory.backward_bytes},
          {"large_samples", memory.large_samples},
          {"large_size", memory.large_size},
          {"evaluation_bytes", memory.evaluation_bytes},
          {"measured", memory.measured},
          {"tried_micro", memory.tried_micro}};
}

namespace {

nlohmann::json schedule_json(const Plan& plan) {
  const Schedule& schedule = plan.schedule;
  nlohmann::json json{
      {"kind", schedule.kind->name},         {"base_lr", schedule.base_lr},
      {"min_lr", schedule.min_lr},           {"warmup_steps", schedule.warmup_steps},
      {"total_steps", schedule.total_steps}, {"words", describe_curve(schedule, plan.total_steps)}};
  for (std::size_t i = 0; i < schedule.parameters.size(); ++i)
    json[record_key(schedule.kind->parameters[i])] = schedule.parameters[i];
  return json;
}

nlohmann::json memory_json(const Plan& plan) {
  const auto tightest = tightest_device(plan.devices);
  nlohmann::json json = to_json(plan.memory);
  json["needed_bytes"] = plan.memory_needed_bytes;
  json["sharding_saves_bytes"] = plan.sharding_saves_bytes;
  json["available_bytes"] = tightest ? nlohmann::json(tightest->available_bytes) : nullptr;
  return json;
}

nlohmann::json exact_json(const Plan& plan) {
  if (!plan.exact) return nullptr;
  return {{"leaf_samples", plan.exact->leaf_samples},
          {"leaves", plan.exact->leaves},
          {"partial_sums", plan.exact->partial_sums},
          {"buffers", plan.exact->buffers},
          {"sent_bytes", plan.exact->sent_bytes}};
}

}  // namespace

std::string to_text(const Plan& plan, bool curve, int width) {
  width = std::max(width, narrowest);
  std::string text = entry("ranks", ranks_text(plan), width);
  text += entry("global batch", batch_text(plan), width);
  if (plan.exact) text += entry("exact sum", exact_text(plan), width);
  text += entry("a step", step_text(plan), width);
  text += entry("precision", precision_text(plan.precision), width);
  text += entry("compute", compute_text(plan), width);
  text += entry("data", data_text(plan), width);
  text += entry("length", length_text(plan), width);
  text += entry("learning rate", describe_curve(plan.schedule, plan.total_steps), width);
  text += entry("parameters", parameters_text(plan), width);
  if (!plan.init_from.empty()) text += entry("first weights", "from " + plan.init_from, width);
  text += entry("memory", memory_text(plan), width);
  for (const std::string& note : plan.notes) text += hang_cells("- ", note, width);
  if (curve) text += "\n" + plot_curve(plan.schedule, plan.total_steps, width);
  return text;
}

nlohmann::json to_json(const Plan& plan) {
  nlohmann::json groups = nlohmann::json::array();
  for (const GroupCount& group : plan.groups) groups.push_back(to_json(group));
  nlohmann::json parameters{
      {"trained", plan.parameters}, {"frozen", plan.frozen_parameters}, {"groups", groups}};
  for (const RuleCount& rule : plan.rules) parameters["rules"].push_back(to_json(rule));
  nlohmann::json devices = nlohmann::json::array();
  for (const Device& device : plan.devices) devices.push_back(to_json(device));
  return {{"batch",
           {{"world_size", plan.batch.world_size},
            {"micro", plan.batch.micro},
            {"accumulation", plan.batch.accumulation},
            {"global", plan.batch.global},
            {"rows_per_sample", plan.batch.rows_per_sample},
            {"fixed_micro", plan.batch.fixed_micro},
            {"norm_rows", plan.batch.norm_rows}}},
          {"devices", devices},
          {"precision", to_json(plan.precision)},
          {"train_samples", plan.train_samples},
          {"valid_samples", plan.valid_samples},
          {"epoch_size", plan.epoch_size},
          {"steps_per_epoch", plan.steps_per_epoch},
          {"total_steps", plan.total_steps},
          {"schedule", schedule_json(plan)},
          {"memory", memory_json(plan)},
          {"recomputed_blocks", plan.recomputed_blocks},
          {"unit", plan.unit},
          {"units_per_step", plan.units_per_step},
          {"compute", to_json(plan.compute)},
          {"parameters", parameters},
          {"init_from", plan.init_from},
          {"exact", exact_json(plan)},
          {"notes", plan.notes}};
}

}  // namespace lockstep
