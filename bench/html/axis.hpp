// From values to places on paper, and the values that are marked there.
#pragma once

#include <string>
#include <vector>

namespace culvert::load::html {

// So many digits at least, and no zeros behind the point: 0.123, 45.6, 1,234.
std::string short_number(double value, int digits = 3);

struct extent {
    double from;
    double to;
};

class axis {
  public:
    struct tick {
        double place;
        std::string name;
    };

    // From 0 to `highest` or a little more.
    static axis linear(double highest, extent paper);
    // From 0 to `last` exactly.
    static axis time(double last, extent paper);
    // Both above 0.
    static axis logarithmic(double lowest, double highest, extent paper);
    // Shares from 0 to `highest`, which is below 1: every further nine takes the same room.
    static axis tail(double highest, extent paper);

    // Values beyond the ends go to the ends.
    [[nodiscard]] double operator()(double value) const;
    [[nodiscard]] const std::vector<tick>& ticks() const noexcept { return ticks_; }
    [[nodiscard]] const extent& paper() const noexcept { return paper_; }

  private:
    using transform = double (*)(double);
    axis(transform scale, double low, double high, extent paper);
    void mark(double value, std::string name);

    transform scale_;
    double low_;  // transformed, as is high_
    double high_;
    extent paper_;
    std::vector<tick> ticks_;
};

}  // namespace culvert::load::html
