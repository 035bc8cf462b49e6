// Turns events into lines for users.
#include "runtime/run/progress/progress_text.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "planning/words.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/progress/forecast.h"
#include "runtime/run/progress/progress.h"
#include "runtime/run/progress/time_left.h"

namespace lockstep {
namespace {

std::string at_step(const nlohmann::json& event) {
  return event.contains("step") ? cat(" at step ", integer_or(event, "step", 0)) : "";
}

std::string seconds_text(const nlohmann::json& event) {
  const double seconds = number_or(event, "seconds", NAN);
  if (std::isnan(seconds)) return "";
  return seconds < 60 ? cat(fixed(seconds, 1), "s") : format_span(seconds);
}

EventLine describe_eval(const nlohmann::json& event) {
  std::string text = cat("eval", at_step(event));
  const std::string metrics = format_metrics(metrics_to_show(event));
  if (!metrics.empty()) text += "  " + metrics;
  if (const std::string took = seconds_text(event); !took.empty()) text += cat("  in ", took);
  const bool best = is_true(event, "best");
  if (best) text += "  best so far";
  return {text, best ? Tone::good : Tone::plain};
}

EventLine describe_given_up(const nlohmann::json& event) {
  return {cat("the evaluation", at_step(event), " was given up: it would take ",
              format_seconds(number_or(event, "expected_s", NAN)), ", and ",
              format_seconds(number_or(event, "limit_s", NAN)), " were left"),
          Tone::warning};
}

EventLine describe_quota(const nlohmann::json& event) {
  return {cat(text_or(event, "why", ""), ": training stops in ",
              format_span(number_or(event, "quota_s", NAN)), ", in time for the predictions")};
}

EventLine describe_checkpoint(const nlohmann::json& event) {
  std::string text = cat("checkpoint", at_step(event));
  const double bytes = number_or(event, "bytes", NAN);
  if (!std::isnan(bytes)) text += cat("  ", format_bytes(bytes));
  if (const std::string took = seconds_text(event); !took.empty()) text += cat("  in ", took);
  const std::string path = text_or(event, "path", "");
  if (!path.empty()) text += "  " + path;
  return {text};
}

EventLine describe_graph(const nlohmann::json& event) {
  const std::int64_t shapes = integer_or(event, "shapes", 0);
  if (!is_true(event, "captured"))
    return {cat(
        shapes > 0 ? "steps of other shapes are no CUDA graph: " : "the step is no CUDA graph: ",
        text_or(event, "why_not", "unknown reason"))};
  const std::string took = seconds_text(event);
  return {cat(shapes > 1 ? cat("steps of ", shapes, " shapes are CUDA graphs")
                         : "the step is one CUDA graph",
              " from step ", integer_or(event, "step", 0), " on",
              took.empty() ? "" : cat(", recorded in ", took))};
}

// Returns, for example, "gradients: all-reduce over 2 ranks by NCCL, 3 buckets of 87 MiB in all".
EventLine describe_buckets(const nlohmann::json& event) {
  double bytes = 0;
  std::int64_t count = 0;
  for (const nlohmann::json& bucket : event.value("bytes", nlohmann::json::array())) {
    ++count;
    if (bucket.is_number()) bytes += bucket.get<double>();
  }
  const bool scatters = text_or(event, "operation", "") == "reduce_scatter";
  return {cat("gradients: ", scatters ? "reduce-scatter" : "all-reduce", " over ",
              count_of(integer_or(event, "ranks", 0), "rank"), " by ",
              text_or(event, "library", ""), ", ", count_of(count, "bucket"), " of ",
              format_bytes(bytes), count == 1 ? "" : " in all")};
}

// Says how many steps ran as CUDA graphs. Empty if no step did, or if one shape covered all steps
// after warm-up.
std::string format_graphs(const nlohmann::json& event) {
  const nlohmann::json graphs = event.value("graphs", nlohmann::json::object());
  const std::int64_t shapes = integer_or(graphs, "shapes", 0),
                     steps = integer_or(graphs, "steps", 0),
                     without = integer_or(graphs, "steps_without", 0);
  if (shapes == 0 || (shapes == 1 && without <= 3)) return "";  // up to three steps are warm-up
  return cat("  ", steps, " of ", steps + without, " steps as CUDA graphs of ", shapes,
             shapes == 1 ? " shape" : " shapes");
}

// Returns, for example, "rank 1 (cuda:1) in backward".
std::string describe_ranks(const nlohmann::json& event) {
  std::vector<std::string> words;
  for (const nlohmann::json& rank : event.value("ranks", nlohmann::json::array()))
    if (rank.is_object())
      words.push_back(cat("rank ", integer_or(rank, "rank", 0), " (", text_or(rank, "device", "?"),
                          ") in ", text_or(rank, "phase", "?")));
  return words.empty() ? "a rank" : join(words, ", ");
}

std::string micro_change(const nlohmann::json& event) {
  return cat("micro-batch ", integer_or(event, "micro_before", 0), " -> ",
             integer_or(event, "micro", 0), ", accumulation ",
             integer_or(event, "accumulation_before", 0), " -> ",
             integer_or(event, "accumulation", 0));
}

EventLine describe_memory(const nlohmann::json& event) {
  std::string text = cat("out of memory on ", describe_ranks(event), ": ");
  if (event.contains("eval_batch") &&
      integer_or(event, "eval_batch", 0) == integer_or(event, "eval_batch_before", 0))
    text += "evaluation again, without what training keeps on the device (CUDA graphs)";
  else if (event.contains("eval_batch"))
    text += cat("evaluation of ", integer_or(event, "eval_batch", 0),
                " samples at once instead of ", integer_or(event, "eval_batch_before", 0));
  else if (event.contains("recompute"))
    text +=
        cat("all blocks of the model are computed again in backward from now on "
            "(memory.recompute = auto); ");
  else
    text += cat(micro_change(event), "; ");
  if (!event.contains("eval_batch"))
    text += cat("step ", integer_or(event, "step", 0) + 1, " is repeated with the same samples");
  return {text, Tone::warning};
}

std::vector<EventLine> describe_not_finite(const nlohmann::json& event) {
  if (text_or(event, "action", "") == "stop") return {};  // the error reports it
  return {{cat("warning: ", format_not_finite(event), "; the step is left out"), Tone::warning}};
}

std::string describe_skipped(const nlohmann::json& skipped) {
  if (skipped.is_string()) return skipped.get<std::string>();
  std::string text = text_or(skipped, "path", to_line(skipped));
  const std::string damage = text_or(skipped, "damage", "");
  return damage.empty() ? text : cat(text, ": ", damage);
}

std::vector<EventLine> describe_resume(const nlohmann::json& event) {
  std::vector<EventLine> lines;
  if (event.contains("skipped") && event["skipped"].is_array())
    for (const nlohmann::json& skipped : event["skipped"])
      lines.push_back(
          {cat("warning: passed over a damaged checkpoint: ", describe_skipped(skipped)),
           Tone::warning});
  const std::string from = text_or(event, "from", "");
  lines.push_back({cat("resumed", at_step(event), from.empty() ? "" : "  from " + from)});
  return lines;
}

// Returns, for example, "3 left as they were built", or "" if the list is empty.
std::string count_words(const nlohmann::json& event, const char* key, const char* words) {
  const auto list = event.find(key);
  if (list == event.end() || !list->is_array() || list->empty()) return "";
  return cat(", ", list->size(), " ", words);
}

std::string describe_first_weights(const nlohmann::json& event) {
  std::string text = cat("first weights: ", integer_or(event, "tensors", 0), " tensors of ",
                         text_or(event, "from", "?"));
  if (is_true(event, "average")) text += ", the average of the weights";
  text += count_words(event, "missing", "missing and left as they were built");
  text += count_words(event, "other_shape", "of another shape and left as they were built");
  text += count_words(event, "unexpected", "passed over");
  if (const auto converted = event.find("converted");
      converted != event.end() && converted->is_object())
    for (const auto& [types, count] : converted->items())
      if (count.is_number_integer())
        text += cat(", ", count.get<std::int64_t>(), " converted from ", types);
  return text;
}

std::string describe_weights(const nlohmann::json& event) {
  std::vector<std::string> steps;
  for (const nlohmann::json& step : event.value("steps", nlohmann::json::array()))
    if (step.is_number_integer()) steps.push_back(cat(step.get<std::int64_t>()));
  if (steps.size() == 1) return "weights of step " + steps[0];
  return cat("average of ", steps.size(), " runs: weights of steps ", join(steps, ", "));
}

}  // namespace

std::string format_loss(const nlohmann::json& value) {
  const double number = value.is_number() ? value.get<double>() : NAN;
  if (std::isnan(number)) return "nan";
  const double size = std::fabs(number);
  if (!std::isfinite(number) || size == 0) return fixed(number, 3);
  return size < 0.1 ? general(number, 3) : size < 1000 ? fixed(number, 3) : general(number, 6);
}

std::string format_not_finite(const nlohmann::json& event) {
  std::string text = cat(is_true(event, "loss_is_finite") ? "the gradient" : "the loss",
                         " of step ", integer_or(event, "step", 0), " is not finite");
  const std::string tensor = text_or(event, "tensor", "");
  if (tensor.empty())
    return cat(text,
               ", yet every micro-batch gives finite numbers when it is computed again: "
               "their sum is too large, or a device computes wrongly");
  text += cat(": first ", tensor, " on rank ", integer_or(event, "rank", 0), " (",
              text_or(event, "device", "?"), ")");
  const std::int64_t micro_batch = integer_or(event, "micro_batch", 0);
  if (micro_batch == 0) return text;
  text += cat(", micro-batch ", micro_batch, " of ", integer_or(event, "micro_batches", 0));
  const nlohmann::json samples = event.value("samples", nlohmann::json::array());
  constexpr std::size_t shown = 16;
  std::vector<std::string> words;
  if (samples.is_array())
    for (std::size_t i = 0; i < std::min(samples.size(), shown); ++i)
      words.push_back(samples[i].dump());
  if (samples.is_array() && samples.size() > shown)
    words.push_back(cat("and ", samples.size() - shown, " more"));
  return words.empty() ? text : cat(text, ", samples ", join(words, ", "));
}

std::string format_metrics(const nlohmann::json& metrics) {
  if (!metrics.is_object()) return "";
  std::vector<std::string> parts;
  for (const auto& [name, value] : metrics.items())
    if (name != "selection")  // the metric for retention, which is already listed
      parts.push_back(
          cat(name, " ", value.is_string() ? value.get<std::string>() : format_loss(value)));
  return join(parts, "  ");
}

nlohmann::json metrics_to_show(const nlohmann::json& event) {
  nlohmann::json metrics =
      event.is_object() ? event.value("metrics", nlohmann::json()) : nlohmann::json();
  const auto infinite = event.is_object() ? event.find("infinite") : event.end();
  if (metrics.is_object() && infinite != event.end() && infinite->is_object())
    metrics.update(*infinite);
  return metrics;
}

std::string format_mfu(const nlohmann::json& event) {
  if (!event.is_object() || !event.contains("mfu")) return "";
  const double share = number_or(event, "mfu", NAN);
  return std::isnan(share) ? "MFU unknown" : cat("MFU ", fixed(share * 100, 1), "%");
}

std::string format_rates(const nlohmann::json& event, const std::string& unit) {
  const double rate = number_or(event, "units_per_s", NAN);
  const std::string speed = std::isnan(rate) ? "" : format_rate(rate, unit),
                    mfu = format_mfu(event);
  return cat(speed, speed.empty() || mfu.empty() ? "" : "  ", mfu);
}

std::string format_start_up(const nlohmann::json& event) {
  if (!event.is_object()) return "";
  std::vector<std::string> parts;
  for (const nlohmann::json& part : event.value("parts", nlohmann::json::array()))
    if (part.is_array() && part.size() == 2 && part[0].is_string() && part[1].is_number()) {
      std::string name = part[0].get<std::string>();
      std::replace(name.begin(), name.end(), '_', ' ');
      parts.push_back(cat(name, " ", fixed(part[1].get<double>(), 2), "s"));
    }
  return cat(seconds_text(event), parts.empty() ? "" : ": ", join(parts, ", "));
}

std::string of_this_start(std::int64_t first_step, const std::string& before) {
  return first_step > 0 ? cat(before, "(from step ", first_step, " on)") : "";
}

std::vector<EventLine> describe_event(const nlohmann::json& event) {
  const std::string kind = text_or(event, "kind", "");
  if (kind == "eval") return {describe_eval(event)};
  if (kind == "checkpoint") return {describe_checkpoint(event)};
  if (kind == "checkpoint_failed")
    return {{cat("warning: no checkpoint", at_step(event), ": ",
                 text_or(event, "why", "unknown reason"), "; the run goes on"),
             Tone::warning}};
  if (kind == "warning") return {{"warning: " + text_or(event, "text", ""), Tone::warning}};
  if (kind == "item_skipped")
    return {{cat("skipped ", text_or(event, "name", ""), ": ", text_or(event, "reason", "")),
             Tone::warning}};
  if (kind == "memory") return {describe_memory(event)};
  if (kind == "micro")
    return {{cat(micro_change(event), " after step ", integer_or(event, "step", 0),
                 " (batch.micro_changes)")}};
  if (kind == "evaluation_left_out")
    return {{cat("no more evaluations from step ", integer_or(event, "step", 0),
                 " on: ", text_or(event, "why", "")),
             Tone::warning}};
  if (kind == "evaluation_given_up") return {describe_given_up(event)};
  if (kind == "quota") return {describe_quota(event)};
  if (kind == "not_finite") return describe_not_finite(event);
  if (kind == "startup") return {{"start-up " + format_start_up(event)}};
  if (kind == "graph") return {describe_graph(event)};
  if (kind == "buckets" && event.contains("library")) return {describe_buckets(event)};
  if (kind == "resume") return describe_resume(event);
  if (kind == "weights") return {{describe_weights(event)}};
  if (kind == "init") return {{describe_first_weights(event)}};
  if (kind != "stop" && kind != "end") return {};
  std::string rates = format_rates(event, text_or(event, "unit", "samples"));
  if (!rates.empty()) rates = "  " + rates;
  rates += format_graphs(event);
  if (!rates.empty()) rates += of_this_start(integer_or(event, "first_step", 0), "  ");
  if (kind == "stop") {
    const std::string why = text_or(event, "why", "");
    return {{cat("stopped", at_step(event), why.empty() ? "" : ": " + why, rates), Tone::warning}};
  }
  const std::string took = seconds_text(event);
  const std::string early = text_or(event, "early", "");
  return {{cat("finished", early.empty() ? "" : " early", at_step(event),
               took.empty() ? "" : " after " + took, early.empty() ? "" : ": " + early, rates),
           Tone::good}};
}

std::string fit_line(std::vector<Field> fields, int width) {
  std::erase_if(fields, [](const Field& field) { return field.text.empty(); });
  while (true) {
    std::vector<std::string> texts;
    for (const Field& field : fields) texts.push_back(field.text);
    std::string line = join(texts, "  ");
    if (width <= 0 || cells_of(line) <= width) return line;
    if (fields.size() <= 1) return cut_cells(line, width);
    fields.erase(std::max_element(fields.begin(), fields.end(),
                                  [](const Field& a, const Field& b) { return a.rank < b.rank; }));
  }
}

}  // namespace lockstep
