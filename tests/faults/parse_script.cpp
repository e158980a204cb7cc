#include <algorithm>
#include <array>
#include <charconv>

#include "tests/faults/script.hpp"

namespace culvert::faults {
namespace {

struct wrong {
    std::string what;
};

[[noreturn]] void refuse(std::string_view what, std::string_view where) {
    throw wrong{std::string(what) + ": '" + std::string(where) + "'"};
}

// The next word up to `separator`; it and the separator leave `text`.
std::string_view take_word(std::string_view& text, char separator) {
    const std::size_t end = text.find(separator);
    const std::string_view word = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    return word;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

std::uint64_t number(std::string_view text, std::uint64_t least, std::uint64_t most) {
    std::uint64_t value = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = ec == std::errc() && end == text.data() + text.size();
    const bool canonical = whole && (text.size() == 1 || text.front() != '0');
    if (!canonical || value < least || value > most) refuse("no number in range", text);
    return value;
}

milliseconds pause(std::string_view text) {
    if (!text.ends_with("ms")) refuse("no time in ms", text);
    text.remove_suffix(2);
    return milliseconds(number(text, 0, longest_pause.count()));
}

// A word of a part: its name, what stands between, and the rest.
struct item {
    std::string_view word;
    std::string_view name;
    char sign = ' ';  // '=', '@', or ' ' when there is nothing behind the name
    std::string_view rest;

    explicit item(std::string_view from) : word(from), name(from) {
        const std::size_t end = from.find_first_of("=@");
        if (end == std::string_view::npos) return;
        name = from.substr(0, end);
        sign = from[end];
        rest = from.substr(end + 1);
    }
    [[nodiscard]] bool is(std::string_view wanted, char with) const {
        return name == wanted && sign == with;
    }
};

template <class Value>
void set_once(std::optional<Value>& into, Value value, const item& from) {
    if (into) refuse("said twice", from.word);
    into = value;
}

class application_reader {
  public:
    void take(const item& from) {
        if (from.is("send", '='))
            set_once(send_, number(from.rest, 0, most_bytes), from);
        else if (from.is("piece", '='))
            set_once(piece_, number(from.rest, 1, longest_span), from);
        else if (from.is("read", '='))
            set_once(read_, number(from.rest, 1, longest_span), from);
        else if (from.is("rest", '='))
            set_once(rest_, pause(from.rest), from);
        else if (from.is("late", ' '))
            set_once(end_, ending::late, from);
        else if (from.is("reply", ' '))
            set_once(end_, ending::reply, from);
        else if (from.is("reset", '@') || from.is("close", '@'))
            set_once(leaves_, leaves(from), from);
        else
            refuse("unknown to an application", from.word);
    }
    [[nodiscard]] application_script made() const {
        application_script out;
        out.send = send_.value_or(out.send);
        out.piece = piece_.value_or(out.piece);
        out.read = read_.value_or(out.read);
        out.rest = rest_.value_or(out.rest);
        out.end = end_.value_or(out.end);
        out.leaves = leaves_;
        if (leaves_ && leaves_->at > out.send) throw wrong{"it leaves after more than it sends"};
        return out;
    }

  private:
    static departure leaves(const item& from) {
        const auto how = from.name == "reset" ? leaving::reset : leaving::close;
        return {how, number(from.rest, 0, most_bytes)};
    }

    std::optional<std::uint64_t> send_, piece_, read_;
    std::optional<milliseconds> rest_;
    std::optional<ending> end_;
    std::optional<departure> leaves_;
};

std::optional<edit_kind> edit_named(std::string_view name) {
    for (const auto kind : {edit_kind::flip, edit_kind::drop, edit_kind::repeat, edit_kind::swap}) {
        if (name == text_of(kind)) return kind;
    }
    return std::nullopt;
}

std::optional<fate> fate_named(std::string_view name) {
    for (const auto how : {fate::cut, fate::reset, fate::truncate, fate::dark}) {
        if (name == text_of(how)) return how;
    }
    return std::nullopt;
}

class path_reader {
  public:
    void take(const item& from) {
        if (from.is("delay", '='))
            set_once(delay_, pause(from.rest), from);
        else if (from.is("split", '='))
            take_segments(segments::up_to, from);
        else if (from.is("trickle", '='))
            take_segments(segments::exactly, from);
        else if (const auto kind = edit_named(from.name); kind && from.sign == '@')
            take_edit(*kind, from);
        else if (const auto how = fate_named(from.name); how && from.sign == '@')
            set_once(end_, path_end{*how, number(from.rest, 0, most_bytes)}, from);
        else
            refuse("unknown to a path", from.word);
    }
    [[nodiscard]] path_script made() && {
        path_script out;
        out.delay = delay_.value_or(out.delay);
        out.segments = segments_.value_or(out.segments);
        out.segment = segment_;
        out.edits = std::move(edits_);
        out.end = end_;
        return out;
    }

  private:
    void take_segments(segments how, const item& from) {
        set_once(segments_, how, from);
        segment_ = number(from.rest, 1, longest_span);
    }

    void take_edit(edit_kind kind, const item& from) {
        const char separator = kind == edit_kind::flip ? '.' : '+';
        if (from.rest.find(separator) == std::string_view::npos) refuse("incomplete", from.word);
        std::string_view rest = from.rest;
        edit made;
        made.kind = kind;
        made.at = number(take_word(rest, separator), 0, most_bytes);
        if (kind == edit_kind::flip)
            made.bit = static_cast<unsigned>(number(rest, 0, 7));
        else
            made.length = number(rest, 1, longest_span);
        if (edits_.size() == most_edits) refuse("too many edits", from.word);
        if (!edits_.empty() && made.at < edits_.back().at + edits_.back().reach())
            refuse("reaches into the edit before it", from.word);
        edits_.push_back(made);
    }

    std::optional<milliseconds> delay_;
    std::optional<segments> segments_;
    std::uint64_t segment_ = 0;
    std::vector<edit> edits_;
    std::optional<path_end> end_;
};

class script_reader {
  public:
    void take_part(std::string_view part) {
        const std::string_view name = take_word(part, ' ');
        if (name == "app")
            read_into(app_, part, name);
        else if (name == "service")
            read_into(service_, part, name);
        else if (name == "up")
            read_into(up_, part, name);
        else if (name == "down")
            read_into(down_, part, name);
        else
            refuse("no such part", name);
    }
    [[nodiscard]] script made() && {
        script out{app_.made(), service_.made(), std::move(up_).made(), std::move(down_).made()};
        if (out.app.end != ending::at_once && out.service.end != ending::at_once)
            throw wrong{"both applications wait for the other's end"};
        return out;
    }

  private:
    template <class Reader>
    void read_into(Reader& reader, std::string_view items, std::string_view name) {
        if (std::find(read_.begin(), read_.end(), name) != read_.end()) refuse("said twice", name);
        read_.push_back(name);
        while (!items.empty()) {
            const std::string_view word = take_word(items, ' ');
            if (!word.empty()) reader.take(item(word));
        }
    }

    application_reader app_, service_;
    path_reader up_, down_;
    std::vector<std::string_view> read_;  // names of the parts that have come
};

}  // namespace

std::optional<script> parse_script(std::string_view text, std::string* mistake) {
    try {
        script_reader reader;
        while (!text.empty()) reader.take_part(trimmed(take_word(text, ';')));
        return std::move(reader).made();
    } catch (const wrong& why) {
        if (mistake != nullptr) *mistake = why.what;
        return std::nullopt;
    }
}

}  // namespace culvert::faults
