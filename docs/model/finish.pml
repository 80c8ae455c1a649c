/*
 * finish.pml: a session's batches, the finish, the outbox, the barrier and the acknowledgement.
 *
 * A label in brackets, such as [B3], is a line of steps.txt, which names the Swift function that does
 * the step. Nothing here depends on a name in the Swift sources.
 *
 * Every step is one guarded command. A step that commits is one SQLite transaction and so one d_step; a crash can fall
 * between any two steps. Durable variables survive a crash, memory does not.
 */

/* ---- Bounds. scripts/check models sets them with -D. ---- */

#ifndef JOBS
#define JOBS 2             /* jobs that clients submit to the one session */
#endif
#ifndef HOOKS
#define HOOKS 1            /* webhooks: number 0 wants every event, the others only session.finished */
#endif
#ifndef RETRIES
#define RETRIES 0          /* retries of ended jobs */
#endif
#ifndef TRIES
#define TRIES 2            /* attempts in the retry schedule of a delivery */
#endif
#ifndef CRASHES
#define CRASHES 1          /* crashes of the service; the consumer may crash at every attempt */
#endif
#ifndef FAULTS
#define FAULTS 0           /* commits of an attempt's outcome that the disk refuses */
#endif
#ifndef GONE
#define GONE 0             /* answers 410, each of which disables a webhook */
#endif
#ifndef REDELIVERIES
#define REDELIVERIES 0     /* requests to send a delivery again */
#endif
#ifndef CALLS
#define CALLS 0            /* calls that acknowledge everything so far */
#endif

#define BATCHES (JOBS + RETRIES)
#define EVENTS (2 * BATCHES)    /* one end for each run of a job, and at most as many finishes */
#define D(w, e) ((w) * EVENTS + (e))
#if JOBS + RETRIES > 4
#error ANY looks at the first seven events
#endif

mtype = { none,
    outstanding, ended,                              /* a job; none: not submitted yet */
    open, due, finished, acknowledged,               /* a batch; none: not begun */
    pending, exhausted, cancelled,                   /* a delivery, which can also be acknowledged; none: not addressed */
    idle, chosen, posted, taken, accepted, failed }; /* an attempt to deliver */

/* ---- Durable: written by a commit. ---- */

mtype job[JOBS] = none;
byte batchOf[JOBS];
mtype batch[BATCHES] = none;
byte batches;                       /* how many were begun; only the last one takes jobs */
byte owed[BATCHES];                 /* outstanding jobs of the batch */
byte finishOf[BATCHES];             /* its session.finished */
byte events;                        /* length of the journal */
bool isFinish[EVENTS];
mtype delivery[HOOKS * EVENTS] = none;
byte tries[HOOKS * EVENTS];
byte requests[HOOKS * EVENTS];      /* requests to send it again */
bool isAccepted[HOOKS * EVENTS];    /* the webhook has answered 2xx at some time */
bool disabled[HOOKS];

/* ---- The wall clock, which goes on while the service is down. ---- */

bool delayIsOver;                   /* the stored due time of the current batch has passed */

/* ---- Memory of the service. ---- */

bool up = true;
mtype attempt[HOOKS * EVENTS] = idle;
byte settles[HOOKS * EVENTS];       /* the request that the attempt settles: `requests` when it was chosen */

/* ---- The consumer's own durable records. ---- */

byte worked[HOOKS * EVENTS];        /* how often it did the work of an event */

/* ---- History, for the properties only. ---- */

bool told[JOBS];                    /* the client was answered 201 */
byte finishes[BATCHES];             /* session.finished events of the batch */
byte addressed[BATCHES];            /* webhooks that were enabled when it was appended, as bits */
bool wasCalled[BATCHES];            /* a call acknowledged it */
bool wasSettled[HOOKS * EVENTS];    /* acknowledged or given up at some time */
byte acknowledgements[HOOKS * EVENTS];
byte acceptances[HOOKS * EVENTS];   /* recorded 2xx */
bool isAwaited[HOOKS * EVENTS];     /* requested again, and not posted since */
byte crashes, faults, gone, redeliveries, calls, retries;

byte h, i, remaining;        /* scratch, within one d_step */

/* Spin's message repeats the condition of a failed assertion, and so the property's name. The names are always 0. */
byte nothingIsLost, noSecondFinish, noEarlyFinish, barrierIsKept, takenBeforeAcknowledged, acknowledgedOnce,
    oneWebhookID, batchFollowsWebhooks, askedAgainIsSentAgain;
#define HOLDS(property, condition) assert(property || (condition))

#define CURRENT (batches - 1)
#define TAKES_JOBS (batches > 0 && (batch[CURRENT] == open || batch[CURRENT] == due))
#define WANTS(w, finish) ((w) == 0 || (finish))

/* For some event n that is earlier than e. */
#define ANY(p, w, e) (p(w, e, 0) || p(w, e, 1) || p(w, e, 2) || p(w, e, 3) || p(w, e, 4) || p(w, e, 5) || p(w, e, 6))
#define IS_AHEAD(w, e, n) ((n) < (e) && delivery[D(w, n)] == pending)
#define IS_UNSETTLED(w, e, n) (IS_AHEAD(w, e, n) && !wasSettled[D(w, n)])

#define HAS_TAKEN(w, e) (acceptances[D(w, e)] > 0)     /* at some time: it may have refused a repetition since */

/* ---- What a deliberate mistake replaces. ---- */

#include "finish-mistakes.pml"      /* empty, unless a flag asks for one */

#ifndef HELD_BACK
#define HELD_BACK(w, e) (isFinish[e] && ANY(IS_AHEAD, w, e))
#endif
#ifndef REOPEN
#define REOPEN() batch[CURRENT] = open; delayIsOver = false
#endif
#ifndef REJOIN
#define REJOIN(j) join(j)
#endif
#ifndef ALL_TOOK
#define ALL_TOOK(remaining) (remaining == 0)
#endif
#ifndef ON_SENDING
#define ON_SENDING(d) skip
#endif
#ifndef SETTLES
#define SETTLES(d) (settles[d] == requests[d])
#endif
#ifndef IS_OPEN
#define IS_OPEN(d) (!isAccepted[d])
#endif
#ifndef IS_NEW
#define IS_NEW(d) (delivery[d] != acknowledged)
#endif
#ifndef AFTER_RECORD
#define AFTER_RECORD idle
#endif
#ifndef KNOWS
#define KNOWS(d) (worked[d] > 0)
#endif
#ifndef LOOKS_AT_BATCH
#define LOOKS_AT_BATCH() true
#endif
#ifndef LOOKS_AT_DELIVERY
#define LOOKS_AT_DELIVERY(d) true
#endif
#ifndef FORGET_MORE
#define FORGET_MORE() skip
#endif

/* ---- Parts of transactions. ---- */

/* [E1] A delivery for each enabled webhook that wants the event. */
inline address(e, finish)
{
    for (h : 0 .. HOOKS - 1) {
        if
        :: !disabled[h] && WANTS(h, finish) -> delivery[D(h, e)] = pending
        :: else
        fi
    }
    h = 0
}

/* [E2] The next number of the journal, and the deliveries. */
inline append(finish)
{
    isFinish[events] = finish;
    address(events, finish);
    events++
}

/* [B1] The job joins the batch that takes jobs, or begins one. A batch that was due is open again. */
inline join(j)
{
    if
    :: TAKES_JOBS
    :: else -> batches++
    fi;
    REOPEN();
    owed[CURRENT]++;
    batchOf[j] = CURRENT
}

/* [B2] The last job of the batch sets the due time. */
inline leave(j)
{
    owed[batchOf[j]]--;
    if
    :: owed[batchOf[j]] == 0 -> batch[batchOf[j]] = due; delayIsOver = false
    :: else
    fi
}

inline noteFinish(b)
{
    finishes[b]++;
    HOLDS(noSecondFinish, finishes[b] == 1);
    HOLDS(noEarlyFinish, owed[b] == 0);
    for (h : 0 .. HOOKS - 1) {
        if
        :: !disabled[h] -> addressed[b] = addressed[b] | (1 << h)
        :: else
        fi
    }
    h = 0
}

inline acknowledge(d)
{
    acceptances[d]++;
    isAccepted[d] = true;
    if
    :: IS_NEW(d) && SETTLES(d) -> delivery[d] = acknowledged; acknowledgements[d]++
    :: else
    fi;
    wasSettled[d] = true;
    HOLDS(takenBeforeAcknowledged, worked[d] > 0);
    HOLDS(acknowledgedOnce, acknowledgements[d] <= 1 + requests[d])
}

/* [A1] The batch is acknowledged when no delivery of its finish remains that is not. */
inline acknowledgeFinish(e)
{
    remaining = 0;
    for (h : 0 .. HOOKS - 1) {
        if
        :: delivery[D(h, e)] != none && IS_OPEN(D(h, e)) -> remaining++
        :: else
        fi
    }
    for (i : 0 .. BATCHES - 1) {
        if
        :: ALL_TOOK(remaining) && batch[i] == finished && finishOf[i] == e -> batch[i] = acknowledged
        :: else
        fi
    }
    remaining = 0;
    h = 0;
    i = 0
}

/* ---- Clients and jobs. ---- */

#define MISTAKEN_PROCESSES
#include "finish-mistakes.pml"

#ifndef ANSWER_BEFORE_COMMIT
/* A client submits one job, and asks again with the same Idempotency-Key until it is answered. */
proctype Client(byte j)
{
end:
    do
    /* [J1] The row and its place in a batch are one transaction. */
    :: d_step { up && job[j] == none -> join(j); job[j] = outstanding }
    /* Then it is answered. */
    :: d_step { up && job[j] != none && !told[j] -> told[j] = true }
    od
}
#endif

proctype Job(byte j)
{
end:
    do
    /* [J2] Its run ends: state, event, deliveries and batch are one transaction. */
    :: d_step { up && job[j] == outstanding -> job[j] = ended; append(false); leave(j) }
    /* [J3] It is retried: in its own batch while that takes jobs, else in the next one. */
    :: d_step { up && job[j] == ended && retries < RETRIES -> retries++; job[j] = outstanding; REJOIN(j) }
    od
}

#if CALLS
/* [A2] A client acknowledges every finish so far. */
proctype Call()
{
end:
    do
    :: d_step { up && calls < CALLS && events > 0 ->
        calls++;
        for (i : 0 .. BATCHES - 1) {
            if
            :: batch[i] == finished -> batch[i] = acknowledged; wasCalled[i] = true
            :: else
            fi
        }
        i = 0 }
    od
}
#endif

/* ---- The service. ---- */

proctype Clock()
{
end:
    do
    :: d_step { batches > 0 && batch[CURRENT] == due && !delayIsOver -> delayIsOver = true }
    od
}

#if !defined(FINISH_WITHOUT_RECHECK) && !defined(FINISH_THEN_DELIVERIES) && !defined(FINISH_THEN_BATCH)
proctype Keeper()
{
end:
    do
    /* [B3] One transaction reads which batch is due, appends its finish with the deliveries, and closes the batch. */
    :: d_step { up && batches > 0 && batch[CURRENT] == due && delayIsOver && LOOKS_AT_BATCH() ->
        noteFinish(CURRENT);
        finishOf[CURRENT] = events;
        append(true);
        batch[CURRENT] = finished }
    od
}
#endif

/* One delivery: the endpoint worker's attempts, the consumer, and the commit that records each attempt. */
proctype Delivery(byte w, e)
{
    byte d = D(w, e);
end:
    do
    /* [D1] The endpoint worker reads in a snapshot what is due. A finish is due only as the first that is pending. */
    :: d_step { up && attempt[d] == idle && delivery[d] == pending && !HELD_BACK(w, e) && LOOKS_AT_DELIVERY(d) ->
        settles[d] = requests[d];
        attempt[d] = chosen }
    /* [D2] It posts. */
    :: d_step { attempt[d] == chosen ->
        HOLDS(barrierIsKept, !isFinish[e] || !ANY(IS_UNSETTLED, w, e));
        isAwaited[d] = false;
        ON_SENDING(d);
        attempt[d] = posted }

    /* The consumer takes it: it does the work, unless it knows the webhook-id already. */
    :: d_step { attempt[d] == posted ->
        if
        :: KNOWS(d)
        :: else -> worked[d]++
        fi;
        HOLDS(oneWebhookID, worked[d] == 1);
        attempt[d] = taken }
    /* It is down, or answers with an error. */
    :: d_step { attempt[d] == posted -> attempt[d] = failed }
    /* Its 2xx arrives. */
    :: d_step { attempt[d] == taken -> attempt[d] = accepted }
    /* It crashes after the work and before the 2xx. */
    :: d_step { attempt[d] == taken -> attempt[d] = failed }

    /* [D3] 2xx: the delivery, and the batch of a finish, in one transaction. */
    :: d_step { up && attempt[d] == accepted ->
        attempt[d] = AFTER_RECORD;
        acknowledge(d);
        HOLDS(askedAgainIsSentAgain, delivery[d] == pending || !isAwaited[d]);
        if
        :: isFinish[e] -> acknowledgeFinish(e)
        :: else
        fi }
    /* [D4] Anything else: the next try of the schedule, or none. */
    :: d_step { up && attempt[d] == failed ->
        attempt[d] = idle;
        if
        :: delivery[d] == pending && SETTLES(d) ->
            tries[d]++;
            if
            :: tries[d] >= TRIES -> delivery[d] = exhausted; wasSettled[d] = true
            :: else
            fi
        :: else
        fi;
        HOLDS(askedAgainIsSentAgain, delivery[d] == pending || !isAwaited[d]) }
#if GONE
    /* [D5] 410: the webhook is disabled, and everything on its way to it is withdrawn. */
    :: d_step { up && attempt[d] == failed && gone < GONE && !disabled[w] ->
        gone++;
        attempt[d] = idle;
        disabled[w] = true;
        for (i : 0 .. EVENTS - 1) {
            if
            :: delivery[D(w, i)] == pending -> delivery[D(w, i)] = cancelled; wasSettled[D(w, i)] = true
            :: else
            fi
        }
        i = 0 }
#endif
#if FAULTS
    /* [D6] The commit of the outcome fails: the attempt is forgotten and made again. */
    :: d_step { up && faults < FAULTS && (attempt[d] == accepted || attempt[d] == failed) ->
        faults++;
        attempt[d] = idle }
#endif
#if REDELIVERIES
    /* [D7] It is to be sent again, whatever became of it. A webhook that was disabled is enabled before. */
    :: d_step { up && redeliveries < REDELIVERIES && delivery[d] != none ->
        redeliveries++;
        disabled[w] = false;
        delivery[d] = pending;
        tries[d] = 0;
        requests[d]++;
        isAwaited[d] = true }
#endif
    od
}

proctype Crash()
{
end:
    do
    /* At any moment: nothing is left but what is committed. */
    :: d_step { up && crashes < CRASHES ->
        crashes++;
        up = false;
        for (i : 0 .. HOOKS * EVENTS - 1) { attempt[i] = idle }
        FORGET_MORE();
        i = 0 }
    /* [R0] The start. What is due is read from the database, so nothing is to be restored. */
    :: d_step { !up -> up = true }
    od
}

/* ---- The end: nothing more can happen. ---- */

proctype Judge()
{
    byte b, w;
    timeout;
    for (b : 0 .. JOBS - 1) {
        HOLDS(nothingIsLost, told[b] && job[b] == ended)
    }
    for (b : 0 .. BATCHES - 1) {
        if
        :: batch[b] == none
        :: else ->

            HOLDS(nothingIsLost, batch[b] == finished || batch[b] == acknowledged);
            HOLDS(noSecondFinish, finishes[b] == 1);

            for (w : 0 .. HOOKS - 1) {
                if
                :: addressed[b] & (1 << w) ->
                    HOLDS(nothingIsLost, delivery[D(w, finishOf[b])] != none && delivery[D(w, finishOf[b])] != pending)
                :: else
                fi
            }

            if
            :: wasCalled[b] -> HOLDS(batchFollowsWebhooks, batch[b] == acknowledged)
            :: else ->
                remaining = 0;
                for (w : 0 .. HOOKS - 1) {
                    if
                    :: addressed[b] & (1 << w) ->
                        HOLDS(batchFollowsWebhooks, batch[b] == finished || HAS_TAKEN(w, finishOf[b]));
                        remaining = remaining + !HAS_TAKEN(w, finishOf[b])
                    :: else
                    fi
                }
                HOLDS(batchFollowsWebhooks, batch[b] == acknowledged || addressed[b] == 0 || remaining > 0)
            fi
        fi
    }
}

init
{
    byte n, e;
    atomic {
        for (n : 0 .. JOBS - 1) { run Client(n); run Job(n) }
        for (n : 0 .. HOOKS - 1) {
            for (e : 0 .. EVENTS - 1) { run Delivery(n, e) }
        }
        run Clock();
        run Keeper();
#if CALLS
        run Call();
#endif
        run Crash();
        run Judge()
    }
}
