#pragma once

#include <string>
#include <string_view>

namespace attune::report {

/// The style sheet of all drawings: light and, where the reader prefers it or the screen is dark, dark. A page holds it
/// once. Series colours are Okabe & Ito's ("Color universal design", 2008), lightened for dark backgrounds.
std::string_view plot_style();

/// The rest of a page's style sheet.
std::string_view page_style();

/// A drawing as a file of its own: the <svg> element with the style inside.
std::string standalone_svg(std::string_view svg);

}  // namespace attune::report
