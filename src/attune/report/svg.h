#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attune::report {

struct Point {
  double x, y;
};

struct Box {
  double x, y, width, height;
};

/// Builds one <svg> element. Colours and line styles are classes of plot_style() (report/style.h), so that a drawing
/// follows the page's light or dark theme: c0 ... c7 choose a series' colour, `line`, `fill`, `band`, `grid`, `axis`,
/// `tick`, ... what to do with it. All text is escaped. Coordinates are pixels from the top left.
class Svg {
 public:
  struct Accessible {
    std::string title;        // read by screen readers and shown on hover
    std::string description;  // the same facts in words
  };
  Svg(double width, double height, const Accessible& about);

  void line(Point from, Point to, std::string_view classes);
  void polyline(const std::vector<Point>& points, std::string_view classes);
  void polygon(const std::vector<Point>& points, std::string_view classes);
  void rect(Box box, std::string_view classes, std::string_view tooltip = "");
  /// A rectangle whose colour is thinned to `opacity`, for heat maps.
  void shade(Box box, std::string_view classes, double opacity, std::string_view tooltip);
  void circle(Point centre, double radius, std::string_view classes, std::string_view tooltip = "");
  /// A marker that differs in shape as well as in colour: circle, square, diamond, triangle, and the first again.
  void marker(Point centre, double size, int series, std::string_view tooltip);
  /// Anchors: "start", "middle", "end".
  void text(Point at, std::string_view words, std::string_view classes, std::string_view anchor = "start");
  /// Text turned to read upwards, centred at the point.
  void upright_text(Point at, std::string_view words, std::string_view classes);
  /// Text turned by -35 degrees, ending at the point.
  void slanted_text(Point at, std::string_view words, std::string_view classes);

  double width() const { return width_; }
  double height() const { return height_; }
  std::string finish() const;

 private:
  double width_, height_;
  std::string body_;
};

/// Pixels that `words` take at this font size, estimated for the page's sans-serif font.
double text_width(std::string_view words, double font_size = 12);

}  // namespace attune::report
