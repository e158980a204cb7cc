/* The handshake of both ends, with an attacker for a network (PROTOCOL.md sections 3 and 7).

   Two clients, two connections of one server, and between them an attacker who carries every
   field, or does not: he drops, delays, cuts, repeats, swaps between connections and sends bytes
   of his own. A field is a token that says who made it; what a tag would show is asked of the
   tokens. A changed byte is a token of nobody (`other`). He holds no key.

   -DSTATIC: key pairs, with boxes B and C; else a psk. -DMUTANT_…: a wrong machine. */

#define NOBODY 9
#define SHUT 2 /* an inbox where nothing ever comes: what an end reads from after its deadline */

mtype = { box_a, box_bc, pad1, box_d, box_f, pad2, client_record, server_record, other, gone };
mtype = { st_a, st_b, st_p, st_f, st_w, st_s, st_d, st_g, st_q, st_o, st_x };

chan to_server[3] = [0] of { mtype, byte, byte }; /* what, whose, which record */
chan to_client[3] = [0] of { mtype, byte, byte };

/* What has been written, so that the attacker has it. */
bool said1[2];         /* message 1 of a client */
bool said2[2];         /* message 2 of a server's connection */
byte client_records[2];
byte server_records[2];
bool pad_first[2];     /* record 0 of this client is a PAD, OPEN is record 1 */

/* What each end holds; a pad that is not the sender's makes another transcript. */
byte client_of[2] = NOBODY; /* by connection of the server: whose box A it has opened */
byte server_of[2] = NOBODY; /* by client: which connection's box D it has opened */
bool pad1_true[2];
bool pad2_true[2];

mtype at_server[2] = st_a;
mtype at_client[2] = st_d;
bool proved[2];       /* the client has shown what the mode asks for before message 2 */
bool open_verified[2];
byte service[2];      /* what this connection of the server has opened: client number + 1 */
byte answers[2];      /* messages 2 for the message 1 of this client */
byte opens[2];        /* backends for this client */

/* Without -DLIVENESS a deadline may pass at any moment. With it they pass one by one, and what has
   expired hears nothing any more. */
#ifdef LIVENESS
#define ENDS 1 /* one client, one connection of the server */
bool server_expired[2];
bool client_expired[2];
#define gate(expired, me) (expired -> SHUT : me)
#define renew(deadline) deadline = false
#else
#define ENDS 2
#define server_expired always
#define client_expired always
#define gate(expired, me) me
#define renew(deadline) skip
#endif
bool always[2] = true;
bool late[2];         /* the time in this message 1 is over by the server's clock */
bool cached[2];       /* its salt is in the replay cache */

/* Both ends of a session have the same keys. */
#define same_keys(s, c) (client_of[s] == c && server_of[c] == s && pad1_true[s] && pad2_true[c])
#ifdef MUTANT_UNBOUND
#define genuine(s, c) (client_of[s] != NOBODY)
#else
#define genuine(s, c) same_keys(s, c)
#endif
#define is_open(c, n) (n == (pad_first[c] -> 1 : 0))

inline write_message2() {
    assert(proved[s]);                 /* silence to whoever has proved nothing */
    answers[client_of[s]]++;
    assert(answers[client_of[s]] <= 1) /* and to a replay */
    said2[s] = true;
}

inline connect_backend() {
    assert(open_verified[s]);
    opens[client_of[s]]++;
    assert(opens[client_of[s]] <= 1);
}

/* The next field for connection or client `me`, unless its deadline has passed. */
#define receive(inbox, expired, me) inbox[gate(expired, me)]?what, who, n

/* What has just been received: of no meaning between the steps. */
hidden mtype what;
hidden byte who;
hidden byte n;

proctype server(byte s) {
    /* A, B and P: whatever is wrong leads to S, and an end is answered with an end. */
    if
    :: atomic { receive(to_server, server_expired[s], s) ->
        if
        :: what == gone -> goto closed
        :: what == box_a && !late[who] && !cached[who] ->
#ifndef MUTANT_NO_CACHE
            cached[who] = true;
#endif
            client_of[s] = who
        :: else -> goto silent
        fi }
    :: server_expired[s] -> goto closed
    fi;
#if defined(STATIC) && !defined(MUTANT_ANSWERS_UNPROVED)
    at_server[s] = st_b;
    if
    :: atomic { receive(to_server, server_expired[s], s) ->
        if
        :: what == gone -> goto closed
        :: what == box_bc && who == client_of[s] -> proved[s] = true
        :: else -> goto silent
        fi }
    :: server_expired[s] -> goto closed
    fi;
#elif !defined(STATIC)
    proved[s] = true; /* who opened box A's key has the psk */
#endif
    at_server[s] = st_p;
    if
    :: atomic { receive(to_server, server_expired[s], s) ->
        if
        :: what == gone -> goto closed
        :: else -> pad1_true[s] = (what == pad1 && who == client_of[s]); write_message2()
        fi }
    :: server_expired[s] -> goto closed
    fi;
    at_server[s] = st_f;
#ifdef MUTANT_CONNECTS_EARLY
    connect_backend();
#endif
    /* F: record 0 by the handshake's deadline. */
    if
    :: atomic { receive(to_server, server_expired[s], s) ->
        if
        :: what == client_record && n == 0 && genuine(s, who) ->
            renew(server_expired[s]); /* from now on the rule for a dead peer */
            if
            :: is_open(who, n) -> service[s] = who + 1; goto opened
            :: else
            fi
        :: else -> goto closed /* reset */
        fi }
#ifndef MUTANT_NO_DEADLINE
    :: server_expired[s] -> goto closed
#endif
    fi;
    /* W */
    at_server[s] = st_w;
    if
    :: atomic { receive(to_server, server_expired[s], s) ->
        if
        :: what == client_record && n == 1 && genuine(s, who) && is_open(who, n) ->
            service[s] = who + 1;
            goto opened
        :: else -> goto closed
        fi }
    :: server_expired[s] -> goto closed
    fi;
opened:
    atomic {
        open_verified[s] = true;
        connect_backend();
        at_server[s] = st_o;
        server_records[s] = 1;
    }
end_open:
    if
    :: atomic { to_server[s]?what, who, n -> goto closed } /* what follows is stream.pml's */
    fi;
silent:
    at_server[s] = st_s;
#ifdef MUTANT_SPEAKS
    assert(proved[s]);
#endif
    do
#ifdef MUTANT_DRIP
    :: atomic { to_server[s]?what, who, n -> server_expired[s] = false }
#endif
    :: atomic { receive(to_server, server_expired[s], s) ->
        if
        :: what == gone -> goto closed
        :: else
        fi }
    :: server_expired[s] -> goto closed
    od;
closed:
    at_server[s] = st_x
}

proctype client(byte c) {
    said1[c] = true;
    if
    :: atomic { receive(to_client, client_expired[c], c) ->
        if /* the box's key holds the whole transcript: message 1 as this client wrote it */
        :: what == box_d && client_of[who] == c && pad1_true[who] -> server_of[c] = who
        :: else -> goto closed
        fi }
    :: client_expired[c] -> goto closed
    fi;
    at_client[c] = st_g;
    if
    :: atomic { receive(to_client, client_expired[c], c) ->
        if
        :: what == box_f && who == server_of[c]
        :: else -> goto closed
        fi }
    :: client_expired[c] -> goto closed
    fi;
    at_client[c] = st_q;
    if
    :: atomic { receive(to_client, client_expired[c], c) ->
        if
        :: what == gone -> goto closed
        :: else -> pad2_true[c] = (what == pad2 && who == server_of[c])
        fi }
    :: client_expired[c] -> goto closed
    fi;
    /* O: record 0 at once, OPEN or a PAD; then OPEN later. */
    if
    :: atomic { client_records[c] = 1; at_client[c] = st_o }
    :: atomic { pad_first[c] = true; client_records[c] = 1; at_client[c] = st_o };
        if
        :: client_records[c] = 2
        :: goto closed /* a session that nobody needed */
        fi
    fi;
    renew(client_expired[c]);
end_open:
    do
    :: atomic { receive(to_client, client_expired[c], c) ->
        if
        :: what == server_record && n == 0 && genuine(who, c) ->
            /* The server is at work for us: then it is at work on what we asked for. */
            assert(service[who] == c + 1);
#ifdef REACH_SESSION
            assert(false);
#endif
            goto heard
        :: else -> goto closed
        fi }
    :: client_expired[c] && at_server[server_of[c]] != st_o -> goto closed
    od;
heard:
end_heard:
    if
    :: atomic { to_client[c]?what, who, n -> goto closed }
    fi;
closed:
    at_client[c] = st_x
}

#define TO_SERVER_OF(s, c)                                          \
    :: to_server[s]!(said1[c] -> box_a : other), c, 0               \
    :: to_server[s]!(said1[c] -> box_bc : other), c, 0              \
    :: to_server[s]!(said1[c] -> pad1 : other), c, 0                \
    :: to_server[s]!(client_records[c] > 0 -> client_record : other), c, 0 \
    :: to_server[s]!(client_records[c] > 1 -> client_record : other), c, 1
#define TO_CLIENT_OF(c, s)                                          \
    :: to_client[c]!(said2[s] -> box_d : other), s, 0               \
    :: to_client[c]!(said2[s] -> box_f : other), s, 0               \
    :: to_client[c]!(said2[s] -> pad2 : other), s, 0                \
    :: to_client[c]!(server_records[s] > 0 -> server_record : other), s, 0

/* He may stop at any moment: then the deadlines must do. Bytes of the wrong kind, a box of the
   other direction say, are `other` to whoever gets them. */
proctype attacker() {
    do
    TO_SERVER_OF(0, 0)
    TO_CLIENT_OF(0, 0)
    :: to_server[0]!other, 0, 0
    :: to_server[0]!gone, 0, 0
    :: to_client[0]!other, 0, 0
    :: to_client[0]!gone, 0, 0
#if ENDS == 2
    TO_SERVER_OF(0, 1)
    TO_SERVER_OF(1, 0)
    TO_SERVER_OF(1, 1)
    TO_CLIENT_OF(0, 1)
    TO_CLIENT_OF(1, 0)
    TO_CLIENT_OF(1, 1)
    :: to_server[1]!other, 0, 0
    :: to_server[1]!gone, 0, 0
    :: to_client[1]!other, 0, 0
    :: to_client[1]!gone, 0, 0
#endif
    :: break
    od
}

/* Deadlines pass at any moment, but they do pass. A salt is forgotten when its time is over. */
#ifdef LIVENESS
proctype clock() {
end:
    do
    :: atomic { !server_expired[0] -> server_expired[0] = true }
    :: atomic { !client_expired[0] -> client_expired[0] = true }
    od
}
#endif

proctype time_of_day(byte c) {
    late[c] = true;
    cached[c] = false
}

#ifdef MUTANT_FORGETS
proctype forgetting(byte c) {
end:
    atomic { cached[c] -> cached[c] = false }
}
#endif

init {
    atomic {
        run server(0);
        run client(0);
#if ENDS == 2
        run server(1);
        run client(1);
        run time_of_day(0);
        run time_of_day(1);
#else
        run clock();
#endif
        run attacker();
#ifdef MUTANT_FORGETS
        run forgetting(0);
#endif
    }
}

#define server_rests (at_server[0] == st_x || at_server[0] == st_o)
#define client_rests (at_client[0] == st_x || (at_client[0] == st_o && at_server[0] == st_o))

#ifdef LIVENESS
ltl ends { <>[] (server_rests && client_rests) }
#endif
