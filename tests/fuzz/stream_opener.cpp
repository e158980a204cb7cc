// stream_opener, text and tag in pieces by any kernel, against the message sealed as a whole.
#include <utility>

#include "tests/fuzz/aead.hpp"

namespace culvert::fuzz {
namespace {

// Opens `stream` piece by piece, the text to where it came from or through other memory; afterwards
// the text stands at the front of `stream`. Bytes of text.
std::size_t open_in_pieces(input& in, aead::stream_opener& opener, buffer& stream) {
    std::size_t taken = 0, written = 0;
    while (taken < stream.size()) {
        const std::size_t size = in.piece(stream.size() - taken);
        const auto piece = crypto::bytes(stream).subspan(taken, size);
        const std::size_t due = opener.output_size(size);
        const auto place = crypto::bytes(stream).subspan(written, due);
        if (due != 0) {
            const auto refused = opener.update(piece, place.first(due - 1));
            require(refused.result == status::short_output && refused.written == 0);
        }
        buffer apart(due);
        const bool in_place = in.flag();
        const auto done =
            in_place ? opener.update(piece, place) : opener.update(copy(piece), apart);
        require(done.result == status::ok && done.written == due);
        if (!in_place) std::copy(apart.begin(), apart.end(), place.begin());
        taken += size;
        written += due;
        require(taken == written + opener.held());
    }
    return written;
}

void run(input in) {
    const auto& kernel = in.kernel(crypto::aead_kernel_table());
    sealed_message m(in);
    buffer stream = m.sealed;
    stream.insert(stream.end(), m.tag.begin(), m.tag.end());
    const bool flipped = tamper(in, stream) || tamper(in, m.ad);
    const std::size_t cut = in.flag() ? in.up_to(stream.size()) : 0;
    stream.resize(stream.size() - cut);

    aead::stream_opener opener(m.key, m.nonce, kernel);
    add_ad(in, opener, m.ad);
    const std::size_t size = open_in_pieces(in, opener, stream);
    require(size == (stream.size() > 16 ? stream.size() - 16 : 0));
    require(std::move(opener).finish() == (!flipped && cut == 0));
    require(flipped ||
            std::equal(m.text.begin(), m.text.begin() + static_cast<long>(size), stream.begin()));
}

}  // namespace
}  // namespace culvert::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    culvert::fuzz::run({data, size});
    return 0;
}
