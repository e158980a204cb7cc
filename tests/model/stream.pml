/* An open session from application to application: the records of both directions and every way
   to end (PROTOCOL.md sections 4 to 7), as proxy/relay does it: tunnel.cpp, tunnel_seal.cpp,
   tunnel_open.cpp, goodbye.cpp.

   app 0 <-plain-> daemon 0 <-tunnel-> daemon 1 <-plain-> app 1

   Every socket is TCP as it is: what was sent may be on its way for as long as it likes; a reset
   may destroy what has not been read; a close with bytes unread or still arriving becomes a reset.
   An attacker cuts, forges an end, changes a byte or lets the path go dark, once, at any moment,
   and FAULTS times an application aborts or a daemon is killed.

   What must hold: an application that reads an end has read every byte of a stream that the other
   one has ended; without a fault nobody ever sees a reset; whatever happens, everybody ends.

   -DWEBSOCKET: with Close frames. -DMUTANT_…: a wrong relay. */

#ifndef FAULTS
#define FAULTS 1
#endif
#ifndef LENGTH0
#define LENGTH0 2 /* pieces of the stream of application 0 */
#endif
#ifndef LENGTH1
#define LENGTH1 1
#endif
#ifndef PADS
#define PADS 1 /* keepalives, of either daemon */
#endif

#define length(i) ((i) == 0 -> LENGTH0 : LENGTH1)
#define far (1 - i)

/* Records: 1 … 9 are DATA with that piece of the stream. */
#define NONE 0
#define END 10
#define PAD 11
#define ALERT 12
#define CLOSE 13 /* the frame of a WebSocket */
#define BAD 14   /* its tag does not verify */

/* The plain sockets, by side. */
chan up[2] = [1] of { byte };   /* application to daemon */
chan down[2] = [1] of { byte }; /* daemon to application */
bool up_ended[2];               /* FIN, behind what is in the channel */
bool up_reset[2];
bool down_ended[2];
bool down_reset[2];

/* The tunnel, by the daemon that writes. */
chan tunnel[2] = [2] of { byte };
bool ended[2];   /* FIN, behind what is in the channel */
bool dark[2];    /* what this daemon writes gets no further */
bool changed[2]; /* a bit of the next record that arrives */
/* By the daemon whose socket it is. */
bool was_reset[2];
bool closed[2];

byte sent[2];
byte got[2];
bool saw_end[2];
bool faulty; /* something has happened that excuses a reset */
byte faults = FAULTS;
byte pads = PADS;

inline a_fault() {
    faults > 0 -> faults--;
    faulty = true
}

/* ---- the applications: they read, write and end in any order ---- */

proctype application(byte i) {
    byte piece;
    do
    :: atomic { sent[i] < length(i) && !down_reset[i] && nfull(up[i]) ->
        sent[i]++;
        up[i]!sent[i] }
    :: atomic { sent[i] == length(i) && !up_ended[i] && !down_reset[i] -> up_ended[i] = true }
    :: atomic { down[i]?piece ->
        assert(piece == got[i] + 1);
        got[i] = piece;
        piece = 0 }
    :: atomic { empty(down[i]) && down_ended[i] && !saw_end[i] ->
        saw_end[i] = true;
        assert(got[i] == length(far) && up_ended[far]) } /* an end is an end */
    :: atomic { down_reset[i] -> assert(faulty); break }
    :: saw_end[i] && up_ended[i] -> break
    :: atomic { a_fault(); up_reset[i] = true; break }
    od;
#ifdef REACH_CLEAN
    assert(!(saw_end[0] && up_ended[0] && saw_end[1] && up_ended[1]))
#endif
}

/* ---- a daemon ---- */

inline reset_plain() {
    if
    :: !plain_closed ->
#ifdef MUTANT_QUIET_FAILURE
        down_ended[i] = true;
#else
        down_reset[i] = true;
#endif
        plain_closed = true
    :: else
    fi
}

inline reset_tunnel() {
    closed[i] = true;
    if
    :: !dark[i] -> was_reset[far] = true
    :: else
    fi
}

inline end_writing() {
    if
    :: !dark[i] -> ended[i] = true
    :: else
    fi
}

/* What has come is taken out first; what had not come yet makes it a reset. */
inline close_tunnel() {
    closed[i] = true;
    end_writing();
    if
    :: nempty(tunnel[far]) && !dark[i] -> was_reset[far] = true
    :: true
    fi;
    empty_tunnel()
}

inline empty_tunnel() {
    do
    :: nempty(tunnel[far]) -> tunnel[far]?record
    :: empty(tunnel[far]) -> break
    od;
    record = NONE
}


/* Guards of a write of `writing`. */
#define write_fails (was_reset[i])
#define write_vanishes (!was_reset[i] && dark[i])
#define write_is_answered (!was_reset[i] && !dark[i] && closed[far])
#define write_goes (!was_reset[i] && !dark[i] && !closed[far] && nfull(tunnel[i]))

inline has_left() {
#ifdef WEBSOCKET
    if
    :: writing == CLOSE -> end_writing()
    :: else
    fi;
#endif
    writing = NONE
}

#define both_ended (sealed_end && opened_end)
#define nothing_comes (dark[far] && !ended[far] && empty(tunnel[far]))

proctype daemon(byte i) {
    byte writing;  /* the record that is on its way into the socket */
    byte opened;   /* the piece that has verified and is on its way to the application */
    byte record;
    bool sealed_end, opened_end, finished, plain_closed;

    do
    /* Plaintext to records: one after the other, the end last. */
#ifdef MUTANT_END_FIRST
    :: atomic { !sealed_end && writing == NONE && up_ended[i] -> writing = END; sealed_end = true }
#endif
    :: atomic { !sealed_end && writing == NONE && nempty(up[i]) -> up[i]?writing }
    :: atomic { !sealed_end && writing == NONE && empty(up[i]) && up_ended[i] ->
        writing = END;
        sealed_end = true }
    :: atomic { writing != NONE && write_fails -> goto lost }
    :: atomic { writing != NONE && write_vanishes -> has_left() }
    :: atomic { writing != NONE && write_is_answered -> was_reset[i] = true; has_left() }
    :: atomic { writing != NONE && write_goes -> tunnel[i]!writing; has_left() }
    /* A keepalive goes out at once or not at all, and never once both streams are through. */
#ifdef MUTANT_PAD_WAITS
    :: atomic { pads > 0 && !finished && writing == NONE -> writing = PAD; pads-- }
#else
    :: atomic { pads > 0 && !both_ended && writing == NONE && write_goes ->
        tunnel[i]!PAD;
        pads-- }
#endif

    /* Records to plaintext. After both ENDs nothing counts that still comes. */
    :: atomic { opened == NONE && nempty(tunnel[far]) ->
        tunnel[far]?record;
        if
        :: changed[far] && record != CLOSE -> record = BAD
        :: else
        fi;
        if
        :: both_ended ->
            if
            :: record == CLOSE -> record = NONE; goto carrier_ended
            :: else
            fi
        :: else ->
            if
#ifdef MUTANT_UNVERIFIED
            :: record == BAD -> opened = 9
#else
            :: record == BAD -> record = NONE; goto broken
#endif
            :: record == ALERT -> record = NONE; goto alerted
            :: record == CLOSE -> record = NONE; goto carrier_ended
            :: record == PAD
            :: record == END && !opened_end -> opened_end = true; down_ended[i] = true
            :: record < END && !opened_end -> opened = record
            :: record <= END && opened_end -> record = NONE; goto broken
            fi
        fi;
        record = NONE }
    :: atomic { opened == NONE && empty(tunnel[far]) && ended[far] -> goto carrier_ended }
    :: atomic { opened == NONE && was_reset[i] -> goto carrier_ended }
    :: atomic { opened != NONE && !up_reset[i] && nfull(down[i]) -> down[i]!opened; opened = NONE }

    /* The application has aborted: seen by a read, by a write, and by watching after its end. */
    :: atomic { up_reset[i] && !both_ended && ((writing == NONE) || opened != NONE) ->
        goto aborted }

    /* Both streams have left this end whole: the plain socket may close without a reset. */
#ifdef MUTANT_CLOSES_UNWRITTEN
    :: atomic { both_ended && !finished ->
        plain_closed = true; goto done }
#endif
#ifdef MUTANT_HALF_CLOSE_IS_CLOSE
    :: atomic { opened_end && !sealed_end && writing == NONE -> goto lost }
#endif
    :: atomic { both_ended && writing == NONE && !finished ->
        finished = true;
        plain_closed = true;
#ifdef MUTANT_NO_LINGER
        goto done;
#endif
#ifdef WEBSOCKET
        writing = CLOSE;
#else
        end_writing();
#endif
        }

#ifndef MUTANT_WAITS_FOR_EVER
    :: atomic { opened == NONE && nothing_comes ->
        if
        :: finished -> reset_tunnel(); goto gone
        :: else -> goto broken
        fi }
#endif
    :: atomic { a_fault(); goto killed }
    od;

carrier_ended: /* an end or a reset of the connection, which nobody has authenticated */
    atomic {
        if
        :: both_ended && (finished || writing == NONE) -> goto done
#ifdef MUTANT_EOF_IS_END
        :: !opened_end -> down_ended[i] = true; plain_closed = true; goto done
#endif
        :: else -> goto lost
        fi
    }
done:
    atomic { close_tunnel(); goto gone }
lost:
broken:
    atomic { reset_plain(); reset_tunnel(); goto gone }
alerted:
    atomic { reset_plain(); close_tunnel(); goto gone }
aborted:
    atomic {
        reset_plain();
        if
        :: writing != NONE -> reset_tunnel(); goto gone /* in the middle of a record */
        :: else -> writing = ALERT
        fi
    }
    /* The ALERT, and then everything is read to the end: for two seconds, whenever they pass. */
    do
    :: atomic { writing != NONE && write_fails -> break }
    :: atomic { writing != NONE && write_vanishes -> writing = NONE }
    :: atomic { writing != NONE && write_is_answered -> was_reset[i] = true; writing = NONE }
    :: atomic { writing != NONE && write_goes ->
        tunnel[i]!writing;
#ifdef WEBSOCKET
        writing = (writing == ALERT -> CLOSE : NONE);
#else
        writing = NONE;
#endif
        if
        :: writing == NONE -> end_writing()
        :: else
        fi }
    :: atomic { writing == NONE && nempty(tunnel[far]) ->
        tunnel[far]?record;
        if
        :: record == CLOSE -> record = NONE; break
        :: else -> record = NONE
        fi }
    :: atomic { writing == NONE && empty(tunnel[far]) && ended[far] -> break }
    :: was_reset[i] -> break
    :: break
    :: atomic { a_fault(); goto killed }
    od;
    atomic { close_tunnel(); goto gone }

killed: /* the kernel closes the sockets as they were armed */
    atomic {
#ifdef MUTANT_UNARMED
        if
        :: !plain_closed -> down_ended[i] = true; plain_closed = true
        :: else
        fi;
#else
        reset_plain();
#endif
        closed[i] = true;
        if
        :: nempty(tunnel[far]) -> reset_tunnel()
        :: empty(tunnel[far]) -> end_writing()
        fi;
        empty_tunnel()
    }
gone:
    skip
}

/* ---- the network ---- */

inline both_dark() {
    dark[0] = true;
    dark[1] = true
}

inline attack_begins() {
    faulty = true;
    if
    :: i = 0
    :: i = 1
    fi
}

proctype attacker() {
    byte i;
    if
    :: true /* today he only looks on */
    :: atomic { attack_begins(); was_reset[0] = true; was_reset[1] = true; both_dark() }
    :: atomic { attack_begins(); was_reset[i] = true; both_dark() }
    :: atomic { attack_begins(); dark[i] = true; ended[i] = true } /* an end of his own */
    :: atomic { attack_begins(); both_dark(); ended[0] = true; ended[1] = true }
    :: atomic { attack_begins(); changed[i] = true }
    :: atomic { attack_begins(); dark[i] = true }
    :: atomic { attack_begins(); both_dark() }
#ifdef WEBSOCKET
    /* a Close of his own */
    :: atomic { nfull(tunnel[0]) -> faulty = true; dark[0] = true; tunnel[0]!CLOSE }
    :: atomic { nfull(tunnel[1]) -> faulty = true; dark[1] = true; tunnel[1]!CLOSE }
#endif
    fi;
    i = 0
}

init {
    atomic {
        run application(0);
        run application(1);
        run daemon(0);
        run daemon(1);
        run attacker();
    }
}
