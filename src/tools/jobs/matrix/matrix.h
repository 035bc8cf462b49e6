// All combinations of parameters, from lists of values, exclusions and additions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tools/jobs/job_file/placeholders.h"
#include "tools/jobs/place.h"

namespace lockstep {

// The most jobs of a batch. The fuzzers lower it, so that no input takes long.
inline std::int64_t most_jobs = 1'000'000;

// Parameters that vary together: a row has a value for each name. Most axes have one name.
struct MatrixAxis {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> rows;
};

struct Matrix {
  // A combination is left out if every parameter named here has one of the values.
  struct Exclusion {
    Place place;
    std::vector<std::pair<std::string, std::vector<std::string>>> values;
  };
  // As in GitHub Actions: its parameters are added to every combination of the axes that has no
  // other value for them. If there is no such combination, it becomes one of its own.
  struct Inclusion {
    Place place;
    JobParameters values;
  };

  Place place;
  std::vector<MatrixAxis> axes;
  std::vector<Exclusion> exclude;
  std::vector<Inclusion> include;

  bool empty() const { return axes.empty() && include.empty(); }
  // All names of parameters, each once: first those of the axes, then those of `include`.
  std::vector<std::string> names() const;
};

// Returns the combinations in the order of the axes, the last varying fastest, and then those that
// `include` adds. An empty matrix gives one combination without parameters. Throws Error for more
// than `most_jobs` (before any is made), if `exclude` leaves nothing, for a repeated name, and for
// a name in `exclude` that no axis has.
std::vector<JobParameters> expand_matrix(const Matrix& matrix);

std::size_t count_combinations(const Matrix& matrix);  // without those that `include` adds

// Visits the combinations one by one without keeping them. For a matrix without `include`.
void each_combination(const Matrix& matrix, const std::function<void(JobParameters)>& visit);

// Throws Error unless the name is valid for a parameter: letters, digits, _, - and .; it begins
// with a letter or _, and does not end with a point. Names of placeholders of an attempt, such as
// out, slot, gpu and attempt, are invalid.
void check_parameter_name(const std::string& name);

// Throws Error, with the reason in words, if there would be more than `most_jobs`.
void check_job_count(double count, const std::string& reason);

}  // namespace lockstep
