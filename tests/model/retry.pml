/* One application's stream and the sessions it may be said on: one that was made ahead of need,
   then a new one (PROTOCOL.md section 3, "A session made ahead of need"; client_session.cpp,
   kept_stream.cpp, server_session.cpp).

   Every session may be cut at any moment, with what is on its way. The server may be shutting
   down, may have no room, and its backend may fail. The application's stream is two pieces and an
   end; the service answers with one piece.

   What must hold: the bytes of a stream come to the service on one session only, from its first
   one and without a gap; a session that was told "not opened" has started nothing; whoever has
   started a backend twice has done so without giving one of the two a byte.

   -DMUTANT_…: a wrong client or server. */

#define SPARES 1
#define SESSIONS 2
#define LENGTH 2

#define NONE 0
#define OPEN 20
#define END 21
#define DATA 22        /* of the server */
#define NOT_OPENED 23  /* ALERT 6 */
#define OTHER_ALERT 24

/* Records 1 and 2 are the pieces of the stream. */
chan to_server[SESSIONS] = [2] of { byte };
chan to_client[SESSIONS] = [1] of { byte };
bool cut[SESSIONS]; /* the connection is gone, at both ends and with what was on its way */

byte starts;         /* backends of all sessions */
bool started[SESSIONS];
bool refused[SESSIONS];     /* the server has sent "not opened" */
byte served[SESSIONS];      /* the last piece that this session's backend has got */
byte with_bytes;     /* backends that have got a part of the stream */
byte empty_retries;  /* sessions given up without a word said on them */

proctype server(byte s) {
    byte record;
    bool stopping;
    /* W */
    do
    :: atomic { !stopping -> stopping = true } /* SIGTERM: from now on nothing is opened */
    :: stopping -> goto refuse
    :: atomic { to_server[s]?record ->
        assert(record == OPEN);
        record = NONE;
#ifndef MUTANT_OPENS_WHILE_STOPPING
        if
        :: stopping -> goto refuse
        :: else
        fi;
#endif
        break }
    :: cut[s] -> goto gone
    od;
    /* O: the backend, and what the client says. */
    atomic {
        assert(!refused[s]);
        started[s] = true;
        starts++;
        assert(starts <= 1 + empty_retries)
    }
#ifdef MUTANT_OPENS_WHILE_STOPPING
    if
    :: stopping -> goto refuse
    :: !stopping
    fi;
#endif
    do
    :: atomic { to_server[s]?record ->
        if
        :: record == END -> assert(served[s] == LENGTH)
        :: else ->
            assert(record == served[s] + 1); /* from the first one, without a gap */
            if
            :: served[s] == 0 -> with_bytes++; assert(with_bytes <= 1)
            :: else
            fi;
            served[s] = record
        fi;
        record = NONE }
    :: atomic { nfull(to_client[s]) && !cut[s] -> to_client[s]!DATA; goto gone }
    :: atomic { nfull(to_client[s]) && !cut[s] -> to_client[s]!OTHER_ALERT; goto gone }
    :: cut[s] -> goto gone
    od;
refuse:
    if
    :: atomic { nfull(to_client[s]) && !cut[s] ->
        refused[s] = true;
        to_client[s]!NOT_OPENED }
    :: cut[s]
    fi;
gone:
    do /* whatever else comes is read and thrown away */
    :: atomic { to_server[s]?record -> record = NONE }
    :: cut[s] -> break
    od
}

proctype client() {
    byte s;
    byte record;
    byte sent;      /* on this session */
    byte have;      /* of the application's stream, read so far and kept */
    bool sent_end;
session:
    atomic {
        if
        :: s == SESSIONS -> goto done /* a reset to the application */
        :: else
        fi;
        sent = 0;
        sent_end = false
    }
    if
    :: to_server[s]!OPEN
    :: cut[s] -> goto lost
    fi;
    do
    /* What was said on a session that came to nothing, and then what the application says. */
    :: atomic { sent < have && nfull(to_server[s]) && !cut[s] -> sent++; to_server[s]!sent }
    :: atomic { sent == have && have < LENGTH && nfull(to_server[s]) && !cut[s] ->
        have++;
        sent++;
        to_server[s]!sent }
    :: atomic { sent == LENGTH && !sent_end && nfull(to_server[s]) && !cut[s] ->
        sent_end = true;
        to_server[s]!END }
    :: atomic { to_client[s]?record ->
#ifdef REACH_SECOND
        assert(!(record == DATA && s == 1 && served[1] == LENGTH && empty_retries == 0));
#endif
        if
        :: record == NOT_OPENED -> record = NONE; goto not_opened
        :: else -> record = NONE; goto done
        fi }
    :: cut[s] -> goto lost
    od;
not_opened: /* a record that has verified: the server has started nothing */
    atomic {
        assert(!started[s]);
        cut[s] = true;
        s++;
#ifdef MUTANT_FORGETS_WHAT_WAS_SAID
        sent = have;
        if
        :: s < SESSIONS -> goto forgot
        :: else
        fi;
#endif
        goto session
    }
#ifdef MUTANT_FORGETS_WHAT_WAS_SAID
forgot:
    to_server[s]!OPEN;
    if
    :: atomic { have < LENGTH -> have++; to_server[s]!have }
    :: have == LENGTH -> to_server[s]!END
    fi;
    goto done;
#endif
lost: /* an end or a reset, which nobody has authenticated */
    atomic {
        if
#ifdef MUTANT_RETRIES_AFTER_LOSS
        :: s < SPARES -> empty_retries++; s++; goto session
#else
        :: s < SPARES && sent == 0 && !sent_end -> empty_retries++; s++; goto session
#endif
        :: else -> goto done
        fi
    }
done:
    atomic { cut[0] = true; cut[1] = true; s = 0 }
}

/* Cuts any connection at any moment; what is on its way may be lost or may have arrived. */
proctype attacker(byte s) {
    if
    :: atomic { cut[s] = true;
        if
        :: nempty(to_client[s]) -> to_client[s]?_
        :: true
        fi }
    :: true
    fi
}

init {
    atomic {
        run server(0);
        run server(1);
        run client();
        run attacker(0);
        run attacker(1);
    }
}
