// The folder that a trial of two commands leaves: docs/reference/abtest.md.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tools/cli/abtest/abtest_result.h"

namespace lockstep::cli {

class AbtestRecord {
 public:
  // Creates the folder, and its record with state "running". Throws Error.
  AbtestRecord(const AbtestSetup& setup, const OthersLoad& load);

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path output_of(const RunKey& key) const;  // the output file of one run

  // Writes at most once a second. So a kill -9 loses little, and the disk does not disturb the
  // trial.
  void add(const AbtestSetup& setup, const AbtestTrial& trial);
  // Returns the reason if the record could not be written, or "". Earlier measurements stay in any
  // case.
  std::string finish(const AbtestSetup& setup, const AbtestTrial& trial, const AbtestResult& result,
                     const OthersLoad& load);
  const nlohmann::json& json() const { return record_; }
  void fail(const std::string& why);  // never throws

 private:
  void write() const;

  std::filesystem::path folder_;
  nlohmann::json record_;
  double written_s_ = 0;
};

// Shortens an output that is longer than `most_bytes`, keeping its end.
void shorten_output(const std::filesystem::path& file, std::uint64_t most_bytes = 1 << 20);

}  // namespace lockstep::cli
