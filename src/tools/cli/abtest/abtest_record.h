// Writes the folder of a trial of two commands. docs/reference/abtest.md describes its files.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tools/cli/abtest/abtest_result.h"

namespace lockstep::cli {

class AbtestRecord {
 public:
  // Creates the folder, and the record in it with the state "running". Throws Error if they cannot
  // be created.
  AbtestRecord(const AbtestSetup& setup, const OthersLoad& load);

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path output_of(const RunKey& key) const;  // the output file of one run

  // Adds the new pairs of the trial. Writes the record at most once a second, so that the disk does
  // not disturb the trial. If the trial is killed, only the newest pairs are lost.
  void add(const AbtestSetup& setup, const AbtestTrial& trial);
  // Writes the final record. Returns "", or the reason if it cannot be written. In that case, the
  // record keeps the measurements that were written before.
  std::string finish(const AbtestSetup& setup, const AbtestTrial& trial, const AbtestResult& result,
                     const OthersLoad& load);
  const nlohmann::json& json() const { return record_; }
  void fail(const std::string& why);  // records an error as the end of the trial; never throws

 private:
  void write() const;

  std::filesystem::path folder_;
  nlohmann::json record_;
  double written_s_ = 0;
};

// Shortens an output file that is longer than `most_bytes`. Its end is kept.
void shorten_output(const std::filesystem::path& file, std::uint64_t most_bytes = 1 << 20);

}  // namespace lockstep::cli
