// A section while its lines are read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/check.hpp"
#include "config/reading.hpp"
#include "config/section.hpp"
#include "config/tables.hpp"

namespace culvert::config {

class open_section {
  public:
    // Adds a section of that name to `into`, with the defaults of its table. Until it is finished,
    // nothing else may be added there.
    open_section(section_kind kind, const std::string& name, section_place place, settings& into,
                 reading& context);
    open_section(const open_section&) = delete;
    open_section& operator=(const open_section&) = delete;

    // KEY = VALUE. A mistake is told to the context's report.
    void take(std::string_view body);

    // Says what the section lacks and what in it contradicts; adds where it listens.
    void finish(std::vector<listen_place>& listens);

  private:
    void bind(const std::string& name, settings& into);
    void apply_defaults() const;
    void unknown_key(const std::string& key);
    [[nodiscard]] bool may_stand(const std::string& key, bool repeatable);
    void error(std::string text) const { context_.found.error(context_.line, std::move(text)); }

    section_kind kind_;
    section_place place_;
    reading& context_;
    const daemon_settings* daemon_ = nullptr;  // the one of kind_
    server_settings* server_ = nullptr;
    client_settings* client_ = nullptr;
    option_table table_;
};

}  // namespace culvert::config
