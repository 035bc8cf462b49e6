// Computes all combinations of parameters, from lists of values, exclusions and additions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tools/jobs/job_file/placeholders.h"
#include "tools/jobs/place.h"

namespace lockstep {

// The largest number of jobs of a batch. The fuzzers lower this number, so that no input takes
// long.
inline std::int64_t most_jobs = 1'000'000;

// Parameters that vary together. Each row has one value for each name. Most axes have one name.
struct MatrixAxis {
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> rows;
};

struct Matrix {
  // Leaves out each combination in which every parameter named here has one of the listed values.
  struct Exclusion {
    Place place;
    std::vector<std::pair<std::string, std::vector<std::string>>> values;
  };
  // Adds parameters, as in GitHub Actions. They are added to every combination of the axes that has
  // no other value for these parameters. If every combination has another value for one of them,
  // they become an additional combination.
  struct Inclusion {
    Place place;
    JobParameters values;
  };

  Place place;
  std::vector<MatrixAxis> axes;
  std::vector<Exclusion> exclude;
  std::vector<Inclusion> include;

  bool empty() const { return axes.empty() && include.empty(); }
  // Returns the names of all parameters without repetitions. Parameters of the axes come first,
  // then those of `include`.
  std::vector<std::string> names() const;
};

// Returns the combinations in the order of the axes, with the last axis varying fastest.
// Combinations that `include` adds come last. An empty matrix gives one combination without
// parameters. Throws Error in these cases:
//   - the axes have more than `most_jobs` combinations; this is checked before any combination is
//     made
//   - `exclude` leaves no combination, and `include` is empty
//   - two axes have the same name
//   - `exclude` has a name that no axis has
std::vector<JobParameters> expand_matrix(const Matrix& matrix);

// number of combinations without those that `include` adds
std::size_t count_combinations(const Matrix& matrix);

// Visits the combinations of a matrix without `include` one by one, without keeping them. Throws
// Error as expand_matrix() does.
void each_combination(const Matrix& matrix, const std::function<void(JobParameters)>& visit);

// Throws Error unless the name is valid for a parameter. A valid name consists of letters, digits,
// _, - and points. It begins with a letter or _, and does not end with a point. Names of
// placeholders of an attempt, such as out or slot, are invalid.
void check_parameter_name(const std::string& name);

// Throws Error with the text `reason` if `count` is larger than `most_jobs`.
void check_job_count(double count, const std::string& reason);

}  // namespace lockstep
