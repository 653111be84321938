#include <fmt/core.h>

#include "attune/base/log.h"
#include "attune/cli/commands/commands.h"
#include "attune/cli/input_output.h"
#include "attune/report/numbers.h"
#include "attune/tasks/calibrate.h"
#include "attune/tasks/classify.h"

namespace attune {

namespace {

struct CalibrateArguments {
  std::string model, data;
  std::optional<std::string> train;
  bool sharpen = false;
  evaluate::CalibrationOptions options;
  DocumentFormat format;
};

void print_contract(const evaluate::CalibrationContract& calibration) {
  fmt::print("{}\n", calibration.temperature_reason);
  fmt::print("ECE {} before, {} after; NLL {} before, {} after; on {} documents, {} of no category\n",
             report::percent(calibration.before.ece), report::percent(calibration.after.ece),
             report::fixed(calibration.before.nll), report::fixed(calibration.after.nll), calibration.documents,
             calibration.uncategorised);
  fmt::print("automatic part: {}\n", calibration.route.statement);
  fmt::print("length: to review below {} tokens, the shortest of these documents\n", calibration.shortest);
  if (calibration.novelty)
    fmt::print("novelty: to review above {:.4g}, where {} of the known documents are not\n",
               calibration.novelty->threshold, report::percent(calibration.novelty->share, 0));
  else
    fmt::print("novelty: not scored: --train FILE fits it on the training documents\n");
}

int run_calibrate(const CalibrateArguments& a, const Session& session) {
  evaluate::check_threshold_options(a.options.threshold);
  Bundle bundle = load_classifier(a.model);
  DocumentFormat format = a.format;
  format.labels = Labels::nullable;
  Documents validation = read_data(a.data, format), training;
  if (a.train) training = read_data(*a.train, format);
  CalibrationDocuments documents{
      .validation = validation, .hash = sha256_of_file(a.data), .training = a.train ? &training : nullptr};
  for (const std::string& warning : calibration_warnings(bundle, documents)) log_warning(warning);
  evaluate::CalibrationOptions options = a.options;
  if (a.sharpen) options.sharpening = evaluate::Sharpening::allowed;
  calibrate_bundle(bundle, documents, options, session.run);
  bundle.contract.evaluation = JsonValue();  // measured with the calibration that this one replaces
  save_contract(bundle);
  print_contract(*bundle.contract.calibration);
  return 0;
}

}  // namespace

Command calibrate_command() {
  return {"calibrate", "Train and adapt",
          "fits temperature and thresholds on documents that training has not seen, into the model's contract",
          "attune calibrate run/model --data split/validation.jsonl --train split/train.jsonl",
          [](Arguments& arguments) -> Action {
            auto a = std::make_shared<CalibrateArguments>();
            arguments.positional("MODEL", a->model, "model directory; its contract is rewritten");
            arguments.required("--data", a->data, "labelled documents; a null label: a document of no category");
            arguments.option("--target-error", a->options.threshold.target_error,
                             "error to keep to among documents answered automatically", {.above = 0, .below = 1});
            arguments.flag(
                "--sharpen", a->sharpen,
                "allow a temperature below 1, which raises the confidence: where new documents come from the "
                "same places as these");
            arguments.option("--train", a->train, "the training documents, to fit the novelty score on");
            arguments.option("--text-field", a->format.text_field, "the field that holds the text");
            arguments.option("--label-field", a->format.label_field, "the field that holds the label");
            arguments.flag("--skip-bad", a->format.skip_bad, "leave out bad lines, and list them");
            return [a](const Session& session) { return run_calibrate(*a, session); };
          }};
}

}  // namespace attune
