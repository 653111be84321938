#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "attune/base/error.h"
#include "attune/base/file.h"
#include "attune/workflows/clinical_example/clinical_example.h"
#include "attune/workflows/clinical_model.h"

namespace attune {
namespace {

/// The workflow's own model, as a run file (workflows/clinical_model.h).
std::string run_toml() {
  const workflows::ClinicalModel m;
  return fmt::format(
      R"(# How `attune train` learns from the split documents, as `attune workflow clinical` does: every value may be changed here or with --set.
task = "classify"
seed = 1

[data]
train = "split"                # the directory that `attune split` made
text_field = "text"
label_field = "label"

[model]
architecture = "bert"
hidden_size = {hidden}
num_hidden_layers = {layers}
num_attention_heads = {heads}
intermediate_size = {intermediate}
initializer_range = {deviation}       # near 1 / sqrt(hidden_size): at BERT's 0.02 so small a model hardly starts
classifier_pooling = "{pooling}"    # of all tokens of a piece
max_position_embeddings = {longest}

[tokenizer]
type = "{tokenizer}"                   # byte-level bpe keeps line ends and case, which tell headings and quotations
vocab_size = {vocabulary}

[long]
policy = "chunk"               # nothing is cut: a longer document is read in pieces

[train]
epochs = {epochs}
batch_tokens = {batch}
learning_rate = {rate}
weight_decay = {decay}
dropout = {dropout}
label_smoothing = {smoothing}
early_stopping = {{ metric = "macro_f1", patience = {patience} }}
)",
      fmt::arg("hidden", m.hidden_size), fmt::arg("layers", m.num_hidden_layers),
      fmt::arg("heads", m.num_attention_heads), fmt::arg("intermediate", m.intermediate_size),
      fmt::arg("deviation", m.initializer_range), fmt::arg("pooling", m.classifier_pooling),
      fmt::arg("longest", m.max_position_embeddings), fmt::arg("tokenizer", m.tokenizer),
      fmt::arg("vocabulary", m.vocab_size), fmt::arg("epochs", m.epochs), fmt::arg("batch", m.batch_tokens),
      fmt::arg("rate", m.learning_rate), fmt::arg("decay", m.weight_decay), fmt::arg("dropout", m.dropout),
      fmt::arg("smoothing", m.label_smoothing), fmt::arg("patience", m.patience));
}

constexpr std::string_view kRulesToml =
    R"(# The rules baseline: what someone who knows these papers would write down in an afternoon. Edit it and run again.
# A rule adds its weight to its label once if any of its phrases (or its regex) is found, in any case and spacing.
# where = "heading" (lines that announce), "beginning" (the first characters, see below) or "anywhere".
default = "medication_record"        # when nothing matches
tie_break = ["billing_correspondence", "discharge_summary", "referral", "medication_record", "imaging_report"]
beginning = 500

[[rule]]
label = "discharge_summary"
weight = 4
where = "beginning"
phrases = ["discharge summary", "discharge letter", "day case discharge", "discharge note", "report of discharge", "end of episode", "department discharge"]

[[rule]]
label = "discharge_summary"
weight = 1
where = "heading"
phrases = ["hospital course", "discharge medication", "treatment at discharge", "to take home", "motive of admission"]

[[rule]]
label = "discharge_summary"
weight = 3
where = "beginning"
phrases = ["was admitted", "went home on", "was discharged", "has been discharged", "we discharged", "under our care", "has gone home", "been discharged", "back the care of", "return to you the care", "summary of the stay", "well enough to leave", "final diagnosis", "principal diagnosis"]

[[rule]]
label = "discharge_summary"
weight = 1
where = "anywhere"
phrases = ["at discharge", "on discharge", "discharged with", "discharged in", "days of tablets", "after this stay", "went home in good condition"]

[[rule]]
label = "imaging_report"
weight = 4
where = "beginning"
phrases = ["radiology report", "ultrasound report", "sonography sheet", "imaging report", "imaging laboratory", "film reading", "x-ray report", "MR department"]

[[rule]]
label = "imaging_report"
weight = 1
where = "heading"
phrases = ["technique", "impression", "comparison", "clinical information", "protocol"]

[[rule]]
label = "imaging_report"
weight = 3
where = "beginning"
phrases = ["report of", "report on", "images of", "films of", "was read by", "was reported by", "clinical question"]

[[rule]]
label = "imaging_report"
weight = 3
where = "beginning"
regex = '^(this )?(CT|MRI|chest|ultrasound|echography|echocardiogram|doppler|radiograph\w*|x-ray)\b[^.\n]{0,40}(:|performed|done|obtained|shows|demonstrates|\d\. )'

[[rule]]
label = "imaging_report"
weight = 1
where = "anywhere"
phrases = ["reported by", "in keeping with", "is demonstrated", "further note is made", "appearances are", "within the limits of the study", "there is also"]

[[rule]]
label = "referral"
weight = 4
where = "beginning"
phrases = ["urgent referral", "suspected cancer referral", "referral by fax", "referral to", "re: referral", "consult request", "inpatient consult", "request for appointment", "advice and guidance", "advice please"]

[[rule]]
label = "referral"
weight = 3
where = "beginning"
phrases = ["grateful if you could", "please could you", "pls could you", "could you please", "could you pls", "kindly see", "kindly assess", "kindly advise", "your opinion", "your help", "your advice", "agreeing to see", "thank you for seeing", "taking on", "I am referring", "we are referring", "we refer", "please accept", "please take on", "request for", "needs an appointment", "to be seen in", "what we ask", "question: could this be"]

[[rule]]
label = "referral"
weight = 1
where = "anywhere"
phrases = ["glad of your", "look forward to", "let me know what you", "write back to us", "appointment requested", "asked you to see"]

[[rule]]
label = "medication_record"
weight = 4
where = "beginning"
phrases = ["medication reconciliation", "drug chart", "medication administration record", "medicines review", "medications review", "record of medicines", "record of medications", "prescription list", "list of medicines", "list of medications", "treatment sheet", "sheet of treatment"]

[[rule]]
label = "medication_record"
weight = 3
where = "beginning"
regex = '(medicines|medications|meds|doses|prescribed|charted|this (list|chart|sheet|record)|medication|drug).{0,50}(given|prescribed|reconciled|checked|listed|confirmed|in use|taken on|replaces|review|history)'

[[rule]]
label = "medication_record"
weight = 1
where = "anywhere"
regex = '\d\d:\d\d .{3,40}(given|signed|refused|omitted)'

[[rule]]
label = "billing_correspondence"
weight = 4
where = "beginning"
phrases = ["re: claim", "claim decision", "statement of account", "explanation of benefits", "billing office", "payment and authorisation", "payment and authorization"]

[[rule]]
label = "billing_correspondence"
weight = 3
where = "beginning"
phrases = ["balance of", "please pay", "pls pay", "amount due", "amt due", "your claim", "our claim", "our invoice", "our account", "the claim of", "unpaid", "charges for", "fees for", "not to pay", "your payment"]

[[rule]]
label = "billing_correspondence"
weight = 1
where = "anywhere"
phrases = ["payment is due", "is due within", "you may appeal", "accounts office", "billing questions", "questions about this account", "co-payment", "deductible", "excess"]
)";

constexpr std::string_view kReadme = R"(# The clinical example

`documents.jsonl`: about 3,000 invented documents of five categories and some of none. They are made by a program; no patient
is real. One JSON object a line: id, text, label (null: of no category), patient, source, template, date, language.

The whole job, from these documents to a report:

    attune workflow clinical --data documents.jsonl --output work

Or step by step, in this directory:

    attune split --data documents.jsonl --group patient --hold-out template,source --stratify label --fractions 0.75,0.1,0.15 --output split
    attune train run.toml --output run
    attune calibrate run/model --data split/validation.jsonl --train split/train.jsonl --target-error 0.05
    attune evaluate run/model --data split/unfamiliar.jsonl --by source,template

`run.toml` says how to train, `rules.toml` is the rules baseline: both are meant to be edited. How the documents are made, and
what they can not stand for: docs/clinical-example.md in Attune's source.
)";

constexpr std::string_view kFiles[] = {"documents.jsonl", "run.toml", "rules.toml", "README.md"};

// A directory is replaced as a whole, so one that holds anything else is left alone.
void check_replaceable(const Path& directory) {
  std::error_code none;
  if (!std::filesystem::exists(directory, none)) return;
  check(std::filesystem::is_directory(directory, none), "writing the clinical example: {} is a file: give a directory",
        directory.string());
  for (const auto& entry : std::filesystem::directory_iterator(directory, none)) {
    std::string name = entry.path().filename().string();
    check(std::find(std::begin(kFiles), std::end(kFiles), name) != std::end(kFiles),
          "writing the clinical example: {} holds other files ({}): give a new directory", directory.string(), name);
  }
}

}  // namespace

std::string_view clinical_rules() { return kRulesToml; }

void write_clinical_example(const Path& directory, std::uint64_t seed) {
  check_replaceable(directory);
  std::vector<Document> documents = clinical_documents(seed);
  write_directory_atomically(directory, [&](const Path& fresh) {
    DocumentFormat format;
    format.labels = Labels::nullable;  // null is written: a document of no category
    write_documents(fresh / "documents.jsonl", documents, format);
    write_file_atomically(fresh / "run.toml", run_toml());
    write_file_atomically(fresh / "rules.toml", kRulesToml);
    write_file_atomically(fresh / "README.md", kReadme);
  });
}

}  // namespace attune
