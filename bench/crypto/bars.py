"""What culvert's ciphers must reach, as ratios to peers of the same run."""


def _bar(name, value, bar, met):
    return {"name": name, "value": round(value, 3), "bar": bar, "met": met}


def at_least(name, value, bar):
    return _bar(name, value, bar, value >= bar) | {"sense": "at least"}


def at_most(name, value, bar):
    return _bar(name, value, bar, value <= bar) | {"sense": "at most"}


def _ipsec(run, size):
    """The better of ipsec-mb's two interfaces counts."""
    return min(run.slower_of_both(size, peer) for peer in ("ipsec-mb", "ipsec-mb direct"))


def _long(run, ipsec_64, openssl_64, ipsec_16, openssl_16, sodium_16):
    yield at_least("seal and open, 64 KiB, times libipsec-mb", _ipsec(run, 65536), ipsec_64)
    yield at_least("seal and open, 64 KiB, times OpenSSL", run.slower_of_both(65536, "openssl"),
                   openssl_64)
    yield at_least("seal and open, 16 KiB, times libipsec-mb", _ipsec(run, 16384), ipsec_16)
    yield at_least("seal and open, 16 KiB, times OpenSSL", run.slower_of_both(16384, "openssl"),
                   openssl_16)
    yield at_least("seal and open, 16 KiB, times libsodium", run.slower_of_both(16384, "libsodium"),
                   sodium_16)


def clang_19(run):
    return list(_long(run, 1.65, 2.0, 1.6, 2.0, 6))


def gcc_12(run):
    return [*_long(run, 1.5, 1.8, 1.45, 1.75, 5.5), *_aead(run), *_sponge(run)]


def _aead(run):
    has_avx2 = "culvert avx2" in run.rows["seal/65536"].contenders
    for size, name in ((64 * 1024, "64 KiB"), (16 * 1024, "16 KiB")) if has_avx2 else ():
        yield at_least(f"seal and open, {name}, AVX2 forced, times libsodium",
                       run.slower_of_both(size, "libsodium", "culvert avx2"), 2.2)
    for size, bar in ((64, .95), (100, .95), (256, .95), (1400, 1.1)):
        yield at_least(f"seal and open, {size:,} B, times libipsec-mb", _ipsec(run, size), bar)
    best = run.best("aead")
    small, large = run.rows["pieces/100"], run.rows["pieces/1400"]
    yield at_least("16 KiB opened in pieces of 100 B, times libipsec-mb's direct calls",
                   small.speed(best, "ipsec-mb direct"), 5)
    yield at_least("16 KiB opened in pieces of 100 B, times culvert's whole message",
                   small.speed(best, best + " whole"), .5)
    yield at_least("16 KiB opened in pieces of 1,400 B, times culvert's whole message",
                   large.speed(best, best + " whole"), .85)


def _sponge(run):
    best = run.best("keccak")
    yield at_least("Keccak-f, one state: SHAKE256 of 10,000 B, times OpenSSL",
                   run.rows["SHAKE256/10000"].speed(best, "openssl"), 1.12)
    for states, word, bar in ((8, "eight", 107), (4, "four", 210)):
        yield at_most(f"Keccak-f, {word} states, cycles a state",
                      run.rows[f"permute/{states}"].cycles(best) / states, bar)
    for size in (10, 100):
        row = run.rows[f"SHAKE256/{size}"]
        yield at_least(f"SHAKE256 of {size} B, times the faster of libgcrypt and OpenSSL",
                       min(row.speed(best, peer) for peer in ("libgcrypt", "openssl")), 1.1)
    row = run.rows["cSHAKE256/N,S,testdata"]
    yield at_most("cSHAKE256(N, S, testdata) to 64 B, state kept, ns beyond one permutation",
                  row.beyond("state kept", "one permutation"), 40)
    yield at_most("cSHAKE256(N, S, testdata) to 64 B, state kept, allocations",
                  row.counters("state kept")["allocations"], 0)
