"""Small wrong versions of the AEAD and its kernels: (what is wrong, file, text, wrong text)."""

FRONT = "crypto/chacha20poly1305.cpp"
PASS512 = "crypto/kernels/avx512_pass.cpp"
MAC512 = "crypto/kernels/avx512_poly1305.hpp"
PASS2 = "crypto/kernels/avx2_pass.cpp"

MUTANTS = [
    ("one byte too few held back for the tag", "crypto/stream_opener.cpp",
     "in_size - room : 0", "in_size - room + 1 : 0"),
    ("the bytes held are the first of the input, not the last", "crypto/stream_opener.cpp",
     "in.data() + from_in, tag_size", "in.data(), tag_size"),
    ("one byte above the limit", FRONT,
     "if (in.size() > remaining())", "if (in.size() > remaining() + 1)"),
    ("partial overlap admitted", FRONT,
     "if (overlap_partially(in, out.first(in.size()))) return status::overlap;", ""),
    ("no final reduction", FRONT, "detail::reduce(mac);", ""),
    ("the end of the additional data forgotten", FRONT,
     "work_.mac_from = text_at - 16;", ""),
    ("padding not zero", FRONT, "if (begun != 0) {", "if (begun > 16) {"),
    ("a full run authenticated without the additional data before it", FRONT,
     "kernel_->authenticate(work_.kernel, pending - 16, 1);", ""),
    ("a run left unauthenticated before key stream is made", FRONT,
     "if (pending != nullptr) kernel_->authenticate(work_.kernel, pending, run_macs);", ""),
    ("words carry into the next, rows", "crypto/kernels/avx512_rows.cpp",
     "_mm512_add_epi32(r.d[i], before.d[i])", "_mm512_add_epi64(r.d[i], before.d[i])"),
    ("a lane carries into the next, sets", PASS512,
     "s.d0 = _mm512_add_epi32(s.d0,", "s.d0 = _mm512_add_epi64(s.d0,"),
    ("the accumulator multiplied once too often", PASS512, "if (memory.fresh) --even_;", ""),
    ("2^132 taken for 2^130", MAC512, "total(_mm512_slli_epi64(s.high2, 10))",
     "total(_mm512_slli_epi64(s.high2, 8))"),
    ("the carry out of the top limb counted four times, not five", MAC512,
     "return _mm512_add_epi64(limb, _mm512_slli_epi64(limb, 2));",
     "return _mm512_slli_epi64(limb, 2);"),
    ("key stream behind a piece overwritten", "crypto/kernels/aead_avx512.cpp",
     "_mm512_mask_mov_epi8(before, mask, text)", "text"),
    ("a carry lost after the multiplication", "crypto/kernels/poly1305_mulx.hpp",
     r'\n\tadcq $0, %[h1]\n\tadcq $0, %[h2]"', r'\n\tadcq $0, %[h1]"'),
    ("the two chains joined by the wrong power", PASS2,
     "join_chains<5>(", "join_chains<4>("),
    ("the second set begins at the counter of the first", PASS2,
     "begin(y, m.y, cipher, 8);", "begin(y, m.y, cipher, 0);"),
]

# Quick ones first.
TESTS = ["kernel_selection", "aead_refusals", "stream_opener", "aead_differential", "aead",
         "chacha20", "poly1305"]
