#include "bench/histogram.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

using namespace culvert::load;
using std::chrono::nanoseconds;

namespace {

// Times as they come in practice: many short ones and a long tail.
std::vector<std::int64_t> sample_of(std::size_t size, unsigned seed) {
    std::mt19937_64 generator(seed);
    std::lognormal_distribution<double> times(11, 2);  // median 60 µs
    std::vector<std::int64_t> sample(size);
    for (auto& time : sample) time = static_cast<std::int64_t>(times(generator));
    return sample;
}

std::int64_t exact_quantile(const std::vector<std::int64_t>& sorted, double q) {
    const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(sorted.size())));
    return sorted[std::max<std::size_t>(rank, 1) - 1];
}

void check_close(nanoseconds found, std::int64_t exact) {
    const double error = std::abs(static_cast<double>(found.count() - exact));
    CAPTURE(exact);
    CAPTURE(found.count());
    CHECK(error <= 0.004 * static_cast<double>(exact));
}

constexpr double shares[] = {0, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 1};

}  // namespace

TEST_SUITE("bench.histogram") {
    TEST_CASE("quantiles are within 0.4 % of the exact ones") {
        for (const unsigned seed : {1U, 2U, 3U}) {
            CAPTURE(seed);
            auto sample = sample_of(50'000, seed);
            const auto found = std::make_unique<histogram>();
            for (const auto time : sample) found->record(nanoseconds(time));
            std::sort(sample.begin(), sample.end());
            for (const double q : shares)
                check_close(found->quantile(q), exact_quantile(sample, q));
            CHECK(found->max().count() == sample.back());
            CHECK(found->count() == sample.size());
        }
    }

    TEST_CASE("every size of value keeps its precision") {
        for (std::int64_t value = 1; value > 0 && value < INT64_MAX / 3; value = value * 3 + 1) {
            const auto one = std::make_unique<histogram>();
            one->record(nanoseconds(value));
            one->record(nanoseconds(INT64_MAX));
            check_close(one->quantile(0.5), value);
            CHECK(one->max() == nanoseconds(INT64_MAX));
        }
    }

    TEST_CASE("short times are exact") {
        for (std::int64_t value = 0; value < 256; ++value) {
            const auto one = std::make_unique<histogram>();
            one->record(nanoseconds(value));
            one->record(nanoseconds(1'000'000));
            CHECK(one->quantile(0.5).count() == value);
        }
    }

    TEST_CASE("merged histograms are the histogram of everything") {
        auto sample = sample_of(20'000, 4);
        const auto whole = std::make_unique<histogram>();
        const auto first = std::make_unique<histogram>();
        const auto second = std::make_unique<histogram>();
        for (std::size_t i = 0; i < sample.size(); ++i) {
            whole->record(nanoseconds(sample[i]));
            (i % 3 == 0 ? first : second)->record(nanoseconds(sample[i]));
        }
        first->merge(*second);
        CHECK(first->count() == whole->count());
        CHECK(first->max() == whole->max());
        for (const double q : shares) CHECK(first->quantile(q) == whole->quantile(q));
    }

    TEST_CASE("an empty one says 0, a negative time counts as 0") {
        const auto one = std::make_unique<histogram>();
        CHECK(one->quantile(0.5) == nanoseconds(0));
        CHECK(one->max() == nanoseconds(0));
        one->record(nanoseconds(-5));
        CHECK(one->count() == 1);
        CHECK(one->quantile(1) == nanoseconds(0));
    }
}
