#include "attune/workflows/clinical_example/phrases.h"

namespace attune::clinical {
namespace {

constexpr std::string_view kChest[] = {
    "a {#4-28} mm [nodule|opacity|density] in the [right|left] [upper|lower|mid] [lobe|zone]",
    "[patchy|dense|hazy] [consolidation|shadowing] at the [right|left] base",
    "a [small|moderate|large] [right|left] pleural effusion[ with adjacent atelectasis|]",
    "[no|no sign of|no convincing] filling defect in the pulmonary arteries",
    "a filling defect in the [right|left] [lower|upper] lobe artery",
    "[hyperinflated|overexpanded] lungs with flattened diaphragms",
    "[clear|well aerated] lungs[ and pleural spaces|]",
    "[enlarged|borderline|normal sized] hilar nodes up to {#8-24} mm",
    "[no pneumothorax|a shallow apical pneumothorax on the left]",
    "a cardiothoracic ratio [within normal limits|of {#48-62}%]"};
constexpr std::string_view kAbdomen[] = {
    "[several|multiple|two] stones in the gallbladder, the largest {#4-22} mm",
    "a [thickened|normal] gallbladder wall[ with a trace of fluid around it|]",
    "a common duct of {#3-12} mm[ without a stone|]",
    "a {#3-14} mm stone in the [distal|proximal|mid] [left|right] ureter[ with hydronephrosis|]",
    "[no|mild|moderate] dilatation of the [right|left] collecting system",
    "[diverticula|thickening] of the sigmoid[ with stranding of the fat|]",
    "a [simple|septated] cyst of {#9-62} mm in the [right|left] kidney",
    "a liver of [normal|coarse|fatty] texture[ without a focal lesion|]",
    "a small volume of free fluid in the pelvis",
    "[no|no sign of] free gas or collection",
    "an aorta of [normal calibre|{#24-48} mm]"};
constexpr std::string_view kHead[] = {
    "[no|no sign of] [acute|recent] haemorrhage",
    "[an area|a small focus|a wedge] of low attenuation in the [left|right] [parietal|frontal|occipital] lobe",
    "[scattered|moderate|minor] white matter change of small vessel type",
    "[age related|generalised|mild] volume loss",
    "a {#3-19} mm [subdural|extradural] collection on the [left|right]",
    "[normal|symmetrical|slightly enlarged] ventricles",
    "[no|no convincing] mass or midline shift",
    "restricted diffusion in the [left|right] [thalamus|insula|cerebellum]",
    "[mucosal thickening in the sinuses|clear sinuses and mastoids]"};
constexpr std::string_view kNeck[] = {"a {#5-31} mm nodule in the [left|right] thyroid lobe",
                                      "[a diffusely enlarged|a normal sized|an atrophic] thyroid",
                                      "[increased|normal] flow in the gland",
                                      "[no|no sign of] enlarged nodes[ in the neck|]",
                                      "[a cyst|calcification] of {#2-14} mm in the isthmus",
                                      "[deviation|no deviation] of the trachea"};
constexpr std::string_view kSpine[] = {
    "a [left|right|central] disc protrusion at [L4/5|L5/S1|C5/6|L3/4][ touching the nerve root|]",
    "[mild|moderate|severe] narrowing of the canal at [L4/5|C5/6|L3/4]",
    "loss of height of [T12|L1|L2] by {#15-60}%",
    "[normal|preserved] alignment[ and cord signal|]",
    "[no|no sign of] cord compression",
    "facet joint [arthropathy|hypertrophy] at [two|several] levels",
    "high signal in the cord at [C4/5|C5/6]",
    "[degenerate|desiccated] discs at the lower levels"};
constexpr std::string_view kLimb[] = {
    "[a displaced|an undisplaced|a comminuted] fracture of the [distal radius|femoral neck|lateral malleolus|fifth "
    "metatarsal]",
    "[narrowing|loss] of the [medial|lateral] joint space with osteophytes",
    "[no|no acute] bony injury",
    "a [partial|full] thickness tear of the supraspinatus of {#5-24} mm",
    "[periarticular erosions|no erosions] at the metacarpal heads",
    "a [small|moderate] effusion[ in the joint|]",
    "[soft tissue swelling|an old healed fracture|reduced bone density]"};
constexpr std::string_view kVessel[] = {"[non-compressible|echogenic] thrombus in the [popliteal|femoral|calf] vein",
                                        "[compressible|patent] deep veins from groin to calf",
                                        "[monophasic|triphasic] flow in the tibial arteries",
                                        "subcutaneous oedema[ without a collection|]",
                                        "a {#30-90}% narrowing of the [superficial femoral|popliteal] artery",
                                        "[an incompetent|a competent] junction in the groin",
                                        "a [ruptured|simple] cyst behind the knee of {#12-60} mm",
                                        "[no|no sign of] thrombus above the knee"};
constexpr std::string_view kHeart[] = {
    "an ejection fraction of {#24-66}%",
    "[a dilated|a normal sized|a mildly enlarged] left ventricle",
    "[mild|moderate|severe] [mitral|tricuspid|aortic] regurgitation",
    "a peak gradient of {#18-96} mmHg across the aortic valve",
    "[hypokinesia|akinesia] of the [inferior|anterior|lateral] wall",
    "[no|a trace of|a small] pericardial effusion",
    "[a dilated|an enlarged|a normal] left atrium",
    "{#20-80}% narrowing of the [left anterior descending|right coronary|circumflex] artery",
    "a calcium score of {#0-940}",
    "[good|impaired|preserved] right ventricular function"};

// Findings in the reporter's own voice: how an imaging report says them.
constexpr std::string_view kFindingSentence[] = {
    "There is {@finding}.",
    "{@finding}.",
    "There is also {@finding}.",
    "{@finding} is [noted|demonstrated|seen].",
    "[Again noted is|Further note is made of] {@finding}.",
    "There is {@finding}, [unchanged|new|slightly larger|less marked] [since|compared with] {prior}.",
    "[Appearances are of|The appearances suggest] {@finding}.",
    "{@finding}[, as before|, of doubtful significance|, incidental|].",
    "There has been [little|no|some] change: {@finding}.",
    "Within the limits of the study, {@finding}."};
// The same findings as others tell them.
constexpr std::string_view kFindingTold[] = {
    "[{study}|imaging|the scan|the film] [on {prior}|] [showed|had shown|was said to show] {@finding}.",
    "[An earlier|The] {study} [showed|demonstrated|revealed] {@finding} and {@finding}.",
    "{He} had [a scan|imaging|{study}], which showed {@finding}.", "[On {study} there was|Radiology found] {@finding}.",
    "The report of {prior} [mentions|speaks of|reads:] {@finding}."};

// How the pictures were made, by kind of study.
constexpr std::string_view kTechniqueCt[] = {
    "[Axial|Helical|Volume] [images|acquisition] [with|without] [intravenous|IV] contrast, [with multiplanar "
    "reformats|reformatted in three planes].",
    "[Routine|Standard] protocol[ with contrast {#60-100} ml|]. Dose {#140-1900} mGy.cm.",
    "Slices of {#1-5} mm from [end to end|top to bottom][, breath held|]."};
constexpr std::string_view kTechniqueMri[] = {
    "Sagittal and axial T1 and T2 sequences[ with diffusion|].",
    "[Routine|Standard] sequences [with|without] contrast at [1.5|3] T.",
    "[FLAIR|STIR|T2] images [in three planes|added]. [Some movement artefact.|]"};
constexpr std::string_view kTechniqueFilm[] = {
    "[Two views|A single view|AP and lateral views].",
    "Performed [supine|erect|portable|at the bedside]. [Quality is adequate.|Some movement artefact.|Rotated.]",
    "[Both sides for comparison|Standard projections][, weight bearing|]."};
constexpr std::string_view kTechniqueSound[] = {
    "Real time scanning with a [curved|linear] probe[, limited by bowel gas|].",
    "[Views|Windows] were [good|limited|adequate].", "[Grey scale|B mode] and colour [flow|Doppler] [images|views]."};
constexpr std::string_view kComparison[] = {"[Compared with|Comparison:] {study} of {prior}.",
                                            "No [earlier|previous] study for comparison.",
                                            "[Previous|Prior] examination of {prior} [reviewed|is available]."};
constexpr std::string_view kIndication[] = {"[{Symptom}|{Problem}]. [?|Query] {other_problem}.",
                                            "{age} year old {man} with {symptom}. [Rule out|Exclude] {other_problem}.",
                                            "[Known|History of] {comorbidity}, now {symptom}.",
                                            "{symptom} for {#2-20} [days|weeks]. [Please exclude|?] {other_problem}.",
                                            "[Follow-up of|Check on] {problem}."};
constexpr std::string_view kImpression[] = {
    "{@finding}[, in keeping with {problem}|].",
    "[Appearances|Findings] [in keeping with|compatible with|suggestive of] {problem}.",
    "No [acute|significant] abnormality[ on this study|].",
    "{@finding}. [Suggest|Consider|Recommend] [follow-up in {#2-12} months|correlation with {result}|review in "
    "{department}].",
    "[Stable|Unchanged|Improved] appearances. {@finding}.",
    "[Compatible with|Consistent with] {other_problem}; {@finding}."};

constexpr Table kTables[] = {{"finding_chest", kChest},
                             {"finding_abdomen", kAbdomen},
                             {"finding_head", kHead},
                             {"finding_spine", kSpine},
                             {"finding_limb", kLimb},
                             {"finding_vessel", kVessel},
                             {"finding_neck", kNeck},
                             {"finding_heart", kHeart},
                             {"finding_sentence", kFindingSentence},
                             {"finding_told", kFindingTold},
                             {"technique_ct", kTechniqueCt},
                             {"technique_mri", kTechniqueMri},
                             {"technique_film", kTechniqueFilm},
                             {"technique_sound", kTechniqueSound},
                             {"comparison", kComparison},
                             {"indication", kIndication},
                             {"impression", kImpression}};

}  // namespace

std::span<const Table> imaging_tables() { return kTables; }

}  // namespace attune::clinical
