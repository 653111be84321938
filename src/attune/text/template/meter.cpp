#include "attune/text/template/meter.h"

#include "attune/base/error.h"

namespace attune::jinja {

void Meter::too_long() const {
  fail("the template has not ended after {} steps: a loop in it runs on; use another template", limits_.steps);
}

void Meter::too_much() const {
  fail("the template makes more than {} bytes of text: use another template, or a shorter conversation", limits_.bytes);
}

void Meter::too_deep() const {
  fail(
      "statements and macros are nested deeper than {} levels: a macro calls itself without end, or what it walks over "
      "is too deep",
      limits_.depth);
}

}  // namespace attune::jinja
