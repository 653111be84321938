#include "attune/report/svg.h"

#include <fmt/core.h>

#include "attune/report/text.h"

namespace attune::report {

namespace {

std::string tooltip_element(std::string_view tooltip) {
  return tooltip.empty() ? "" : "<title>" + escaped(tooltip) + "</title>";
}

std::string joined(const std::vector<Point>& points) {
  std::string out;
  for (const Point& p : points) out += fmt::format("{}{:.1f},{:.1f}", out.empty() ? "" : " ", p.x, p.y);
  return out;
}

}  // namespace

Svg::Svg(double width, double height, const Accessible& about) : width_(width), height_(height) {
  body_ = "<title>" + escaped(about.title) + "</title>\n";
  if (!about.description.empty()) body_ += "<desc>" + escaped(about.description) + "</desc>\n";
}

void Svg::line(Point a, Point b, std::string_view classes) {
  body_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", a.x, a.y, b.x,
                       b.y, classes);
}

void Svg::polyline(const std::vector<Point>& points, std::string_view classes) {
  body_ += fmt::format("<polyline points=\"{}\" class=\"{}\"/>\n", joined(points), classes);
}

void Svg::polygon(const std::vector<Point>& points, std::string_view classes) {
  body_ += fmt::format("<polygon points=\"{}\" class=\"{}\"/>\n", joined(points), classes);
}

void Svg::rect(Box box, std::string_view classes, std::string_view tooltip) {
  body_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"{}\">{}</rect>\n",
                       box.x, box.y, box.width, box.height, classes, tooltip_element(tooltip));
}

void Svg::shade(Box box, std::string_view classes, double opacity, std::string_view tooltip) {
  body_ += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"{}\" "
      "fill-opacity=\"{:.3f}\">{}</rect>\n",
      box.x, box.y, box.width, box.height, classes, opacity, tooltip_element(tooltip));
}

void Svg::circle(Point centre, double radius, std::string_view classes, std::string_view tooltip) {
  body_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" class=\"{}\">{}</circle>\n", centre.x,
                       centre.y, radius, classes, tooltip_element(tooltip));
}

void Svg::marker(Point c, double size, int series, std::string_view tooltip) {
  const std::string classes = fmt::format("c{} fill", series % 8);
  if (series % 4 == 0) return circle(c, size, classes, tooltip);
  std::vector<Point> points;
  if (series % 4 == 1) {
    const double r = size * 0.88;
    points = {{c.x - r, c.y - r}, {c.x + r, c.y - r}, {c.x + r, c.y + r}, {c.x - r, c.y + r}};
  } else if (series % 4 == 2) {
    const double r = size * 1.3;
    points = {{c.x, c.y - r}, {c.x + r, c.y}, {c.x, c.y + r}, {c.x - r, c.y}};
  } else {
    const double r = size * 1.15;
    points = {{c.x, c.y - r}, {c.x + r, c.y + r * 0.8}, {c.x - r, c.y + r * 0.8}};
  }
  body_ += fmt::format("<polygon points=\"{}\" class=\"{}\">{}</polygon>\n", joined(points), classes,
                       tooltip_element(tooltip));
}

void Svg::text(Point at, std::string_view words, std::string_view classes, std::string_view anchor) {
  body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" text-anchor=\"{}\">{}</text>\n", at.x, at.y,
                       classes, anchor, escaped(words));
}

void Svg::upright_text(Point at, std::string_view words, std::string_view classes) {
  body_ += fmt::format(
      "<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" class=\"{}\" text-anchor=\"middle\">{}</text>\n", at.x,
      at.y, classes, escaped(words));
}

void Svg::slanted_text(Point at, std::string_view words, std::string_view classes) {
  body_ += fmt::format(
      "<text transform=\"translate({:.1f} {:.1f}) rotate(-35)\" class=\"{}\" text-anchor=\"end\">{}</text>\n", at.x,
      at.y, classes, escaped(words));
}

std::string Svg::finish() const {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" role=\"img\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
             "width=\"{0:.0f}\" height=\"{1:.0f}\">\n",
             width_, height_) +
         body_ + "</svg>\n";
}

double text_width(std::string_view words, double font_size) {
  return 0.56 * font_size * static_cast<double>(display_width(words));
}

}  // namespace attune::report
