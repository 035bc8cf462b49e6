// What the series of a log is by its name, and which one tells of the training.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

bool is_of_validation(const std::string& name);
bool is_loss(const std::string& name);  // a scale of the loss is none
// The validation loss itself, and no part of it such as val/aux_loss.
bool is_validation_loss(const std::string& name);

// What of a series tells whether it is the one that tells of the training.
struct SeriesShape {
  std::string name;
  std::size_t points = 0;
  std::size_t backs = 0;       // points whose place does not lie behind that of the one before
  double first = 0, last = 0;  // its rows, or its times
};

// The place in the list of the series that tells of the training's steps: the one with the most
// points, but for those of validation, which may count batches of their own, for counters, which
// Lightning logs with either, and for those with hardly any points beside the longest of all. Of
// such that have half as many points and last about as long, the one that goes back least: others
// may be logged of validation too, as MMEngine's data_time is, by epochs in place of steps. Where
// no series is left, the one with the most points of all; nothing of an empty list.
std::optional<std::size_t> main_series(const std::vector<SeriesShape>& all);

}  // namespace lockstep
