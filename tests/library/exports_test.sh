#!/bin/bash
# usage: exports_test.sh LIBRARY - the shared library shows what src/attune/api/attune.h declares as ATTUNE_PUBLIC, and nothing else.
set -euo pipefail
shown=$(nm --dynamic --defined-only --demangle "$1" | sed -E 's/^[0-9a-f]+ [A-Za-z] //')
other=$(grep -vE '^attune::(Error::~Error|LoadedModel::[~A-Za-z_=]+|use_threads|tell_warnings|version(\[abi:cxx11\])?)(\[abi:cxx11\])?\(' <<<"$shown" || true)
if [[ -n $other ]]; then
  echo "$1 shows what the public header does not declare:"
  echo "$other"
  exit 1
fi
for name in open LoadedModel '~LoadedModel' operator= model_type abilities labels longest count_tokens embed classify tag answer generate translate; do
  grep -qE "^attune::LoadedModel::$name(\[abi:cxx11\])?\(" <<<"$shown" || { echo "$1 hides attune::LoadedModel::$name"; exit 1; }
done
for name in use_threads tell_warnings version; do
  grep -qE "^attune::$name(\[abi:cxx11\])?\(" <<<"$shown" || { echo "$1 hides attune::$name"; exit 1; }
done
echo "$(wc -l <<<"$shown") symbols"
