#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attune::report {

/// Guo et al. 2017, figure 1: for each bin of confidence the share that was right, as a bar from 0; the gap to the
/// bin's mean confidence hatched above or below it; the diagonal is perfect calibration. Below it, how many documents
/// each bin holds.
struct ReliabilityDiagram {
  struct Bin {
    double low = 0, high = 0;  // of confidence
    double confidence = 0;     // mean over the bin's documents
    double accuracy = 0;
    std::int64_t documents = 0;
  };
  std::string title;
  std::vector<Bin> bins;
  double ece = 0;  // written into the plot
  double width = 460, height = 400;

  /// Throws Error without a bin that holds documents.
  std::string svg() const;
};

}  // namespace attune::report
