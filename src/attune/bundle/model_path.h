#pragma once

#include "attune/base/file.h"

namespace attune {

/// Throws Error unless `path` is a directory that could be a model's, with config.json. It names the model directory
/// that is meant where one is near: RUN/model of a run, the directory around a single file of a model.
void check_model_directory(const Path& path);

}  // namespace attune
