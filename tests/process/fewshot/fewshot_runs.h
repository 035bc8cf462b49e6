// Runs of the fewshot recipe that take a second: small pictures of shapes, a small model.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "core/media/pictures/picture_file.h"
#include "fakes/task_runs.h"
#include "recipes/fewshot/annotations/coco.h"
#include "recipes/fewshot/shapes/made_shapes.h"

namespace lockstep::testing {

class FewshotRuns : public TaskRuns {
 protected:
  // 40 pictures to train on and 16 to validate on, 96 x 80, in data/.
  FewshotRuns() {
    write_shapes("train", {.pictures = 40, .height = 80, .width = 96});
    write_shapes("valid", {.pictures = 16, .first = 40, .height = 80, .width = 96});
  }

  std::filesystem::path data() const { return folder.path() / "data"; }

  void write_shapes(const std::string& name, const fewshot::MadeShapes& set) const {
    const fewshot::DetectionData described = fewshot::describe_shapes(set);
    std::filesystem::create_directories(data() / name);
    for (int i = 0; i < set.pictures; ++i)
      write_picture(data() / name / described.pictures[static_cast<std::size_t>(i)].path,
                    fewshot::draw_shapes(set, i));
    write_file_atomic(data() / (name + ".json"), fewshot::coco_json(described, "for a test"));
  }

  // Threads that wait in vain for each other's core make small steps slow on a machine that is
  // busy.
  ToolResult tool(const Words& words) const {
    return run_tool(words, folder.path(), {{"OMP_WAIT_POLICY", "passive"}});
  }

  Words small_words(const std::string& name, const std::string& devices, const Words& more) const {
    Words words{"train",
                "fewshot",
                "--name",
                name,
                "--devices",
                devices,
                "precision=fp32",
                "run.record_samples=true",
                "data.path=data",
                "data.novel=star,ring,arrow,heart",
                "model.depth=18",
                "model.width=16",
                "model.neck=8",
                "model.hidden=16",
                "model.embedding=8",
                "model.anchor_sizes=16,32",
                "model.regions=8",
                "episode.size=64",
                "episode.context=4",
                "episode.n_way=2",
                "episode.k_shot=1",
                "episode.queries=2",
                "predict.regions=20",
                "evaluate.episodes=3",
                "batch.global=6",
                "schedule.kind=constant"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  ToolResult train_small(const std::string& name, const std::string& devices,
                         const Words& more) const {
    return tool(small_words(name, devices, more));
  }

  nlohmann::json metrics(const std::string& name) const {
    return events(name, "eval").back().at("metrics");
  }
};

}  // namespace lockstep::testing
