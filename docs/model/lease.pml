/*
 * lease.pml: the lease of a node, its fence, the takeover of its jobs, and the commit whose outcome is unknown.
 *
 * Two nodes share a PostgreSQL server. Each has a thread that renews its lease and a thread that writes. Processes are paused
 * and killed, the server is away, its clock jumps, connections are lost while a commit is under way.
 *
 * A label in brackets, such as [N3], is a line of steps.txt.
 */

/* ---- Bounds. ---- */

#ifndef PAUSES
#define PAUSES 0           /* pauses of a process while its clock continues, as by SIGSTOP or a suspended machine */
#endif
#ifndef FREEZES
#define FREEZES 0          /* pauses in which the clock of the process stands still, as of a virtual machine */
#endif
#ifndef CRASHES
#define CRASHES 0          /* kills of a process */
#endif
#ifndef RESTARTS
#define RESTARTS 0         /* starts after a kill; a process that was replaced starts again anyway */
#endif
#ifndef OUTAGES
#define OUTAGES 0          /* times that the server is away */
#endif
#ifndef LOSSES
#define LOSSES 0           /* connections that are lost while a transaction is open or is being committed */
#endif
#ifndef JUMPS
#define JUMPS 0            /* jumps of the server's clock */
#endif
#ifndef JUMP
#define JUMP 20            /* ticks; negative: the clock is set back */
#endif
#ifndef RUNS
#define RUNS 0             /* runs of the job */
#endif
#ifndef POSTS
#define POSTS 0            /* writes of a client at each node */
#endif
#ifndef COPIES
#define COPIES 0           /* a second process of node 0, in a copy of its data folder */
#endif

/* Ticks: the real values are 10, 7, 10 and 14 seconds. */
#define LEASE 3            /* the server ends a lease this long after its last renewal */
#define STEADY 3           /* a node takes over only if the server was usable, without a jump, for this long */
#define LONGEST 4          /* no living node has a lease that ends later than this */

/* A mistake: the node continues for longer than the server keeps its lease. */
#ifdef PATIENCE_OUTLASTS_THE_LEASE
#define PATIENCE (LEASE + 1)
#else
#define PATIENCE 2         /* the node itself stops this long after it asked for that renewal */
#endif

#define NODES 2
#define PROCESSES (NODES + COPIES)
#define NODE(p) ((p) % NODES)

mtype = { off, watching, alive, replaced,        /* a process */
    idle, sent, renewed, refused, lost,          /* a renewal */
    none, open, committing, adrift,              /* a transaction; adrift: its process hears nothing of it any more */
    unanswered, stored, undone,                  /* its answer */
    post, admit, finishRun, take,                /* a write */
    unasked, asked, accepted, rejected, unsure,  /* the write of a client */
    queued, running, ended }                     /* the job */

/* ---- The server. ---- */

byte epoch[NODES] = 1;
bool hasLease[NODES] = true;
short rest[NODES] = LEASE;           /* ticks to the end of the lease by a clock that does not jump; at least -1 */
short setAt[NODES];                  /* the jump of the server's clock when the lease was set */
byte lastCommit[NODES];
mtype job = queued;
byte jobNode, jobRun;
byte rows[PROCESSES];                /* what clients wrote at each process */

short jump;                          /* of the server's clock, so far */
bool isUp = true;
byte lock;                           /* of the journal: 1 + the process whose transaction has it; 0: no process */
mtype transaction[PROCESSES] = none;
mtype content[PROCESSES] = none;     /* the write that is being committed, ... */
byte contentRun[PROCESSES];          /* ... and its run */

/* ---- The processes. ---- */

mtype life[PROCESSES] = alive;
bool isPaused[PROCESSES], isFrozen[PROCESSES];
byte ownEpoch[PROCESSES] = 1;
byte age[PROCESSES];                 /* ticks since it asked for the renewal that was answered last */
byte steady[PROCESSES];              /* ticks since the server was away, or its clock jumped, for all that the node knows */
short estimate[PROCESSES];           /* the jump of the server's clock that it knows of */
mtype renewal[PROCESSES] = idle;
byte asking[PROCESSES];              /* ticks since it asked */
short answer[PROCESSES];             /* the jump that the answer shows */
bool hasTried[PROCESSES];            /* to renew, since the last tick */

mtype write[PROCESSES] = none;
byte number[PROCESSES];              /* of its group commit */
byte doubtful[PROCESSES];            /* the group whose outcome is unknown; 0: there is none */
byte foundEpoch[PROCESSES], foundCommit[PROCESSES];
mtype reply[PROCESSES] = unanswered;
byte attended[PROCESSES];            /* the run of the job that this process attends to; 0: none */
mtype client[PROCESSES] = unasked;

bool isChanged;                      /* the lease of node 0 was renewed since the copy looked first */
byte watched;                        /* ticks since then */
#define me (PROCESSES - 1)           /* the copy */

/* ---- What only the properties use. ---- */

byte silence[NODES];                 /* ticks in which the server was up and the node did not renew */
byte orphaned;                       /* ticks in which a dead node was not replaced although another one lived */

byte pauses, freezes, crashes, restarts, outages, losses, jumps;
byte i;
/* The properties' names, as in finish.pml: always 0. */
byte livingNodeIsNotReplaced, holderIsNotReplaced, onlyTheOwnerWrites, writeIsStoredOnce, answerIsTrue, deadNodeIsReplaced;
#define HOLDS(property, condition) assert(property || (condition))

#define RUNS_NOW(p) (life[p] == alive && !isPaused[p])
/* [N1] A process that acts only while it holds its lease. */
#define HAS_LEASE(p) (age[p] < PATIENCE)
/* [N2] Whether a lease has ended: by the server's clock, and by the estimate of the node that looks. */
#define REST(n, clock) (rest[n] + setAt[n] - (clock))
#define HAS_ENDED(n, p) (hasLease[n] && (REST(n, jump) <= 0 && ENDED_BY_ESTIMATE(n, p) || IS_TOO_LONG(n, p)))
#define CAN_TAKE_OVER(p) (HAS_LEASE(p) && IS_STEADY(p) && !HAS_ENDED(NODE(p), p) && HAS_ENDED(1 - NODE(p), p))

/* A limit: a process whose clock stood still holds its lease for longer than the server. */
#ifdef CHECK_FROZEN_HOLDER
#define IS_FROZEN_CLOCK false
#else
#define IS_FROZEN_CLOCK (freezes > 0)
#endif
/* A limit: a process in a copy of a data folder starts just after the server's clock was set ahead. */
#ifdef CHECK_COPY_AND_JUMP
#define HAS_JUMPED false
#else
#define HAS_JUMPED (jumps > 0)
#endif

#define IS_ROW_LOCKED(p) (lock != 0 && content[lock - 1] == take && NODE(lock - 1) != NODE(p))
#define IS_FREE(p) (RUNS_NOW(p) && write[p] == none && reply[p] == unanswered && transaction[p] == none)

/* ---- What a deliberate mistake replaces. ---- */

#include "lease-mistakes.pml"        /* empty, unless a flag asks for one */

#ifndef IS_STEADY
#define IS_STEADY(p) (steady[p] >= STEADY)
#endif
#ifndef ENDED_BY_ESTIMATE
#define ENDED_BY_ESTIMATE(n, p) (REST(n, estimate[p]) <= 0)
#endif
#ifndef IS_TOO_LONG
#define IS_TOO_LONG(n, p) (REST(n, jump) > LONGEST && REST(n, estimate[p]) > LONGEST)
#endif
#ifndef CALM_AFTER_JUMP
#define CALM_AFTER_JUMP(p) steady[p] = 0
#endif
#ifndef CALM_AFTER_SILENCE
#define CALM_AFTER_SILENCE(p) steady[p] = (age[p] >= PATIENCE -> 0 : steady[p])
#endif
#ifndef MAY_RENEW
#define MAY_RENEW(p) (ownEpoch[p] == epoch[NODE(p)])
#endif
#ifndef AGE_AFTER_RENEWAL
#define AGE_AFTER_RENEWAL(p) asking[p]
#endif
#ifndef IS_THE_NODE
#define IS_THE_NODE(p) (foundEpoch[p] == ownEpoch[p])
#endif
#ifndef LOOK_EARLY
#define LOOK_EARLY(p) skip
#define LOOK(p) foundEpoch[p] = epoch[NODE(p)]; foundCommit[p] = lastCommit[NODE(p)]
#endif
#ifndef IS_STORED
#define IS_STORED(p) (doubtful[p] != 0 && foundCommit[p] == doubtful[p])
#endif
#ifndef IS_IN_DOUBT
#define IS_IN_DOUBT(p) (doubtful[p] != 0)
#endif
#ifndef ON_UNKNOWN
#define ON_UNKNOWN(p) skip
#endif
#ifndef IS_RUN
#define IS_RUN(p) (jobRun == contentRun[p])
#endif
#ifndef TAKE_OVER_RUNS
#define TAKE_OVER_RUNS(n) epoch[n]++; hasLease[n] = false
#endif
#ifndef HAS_FORMER
#define HAS_FORMER(n) (hasLease[n] && REST(n, jump) > 0)
#endif

/* ---- Time. ---- */

#define MAY_TICK(p) (!RUNS_NOW(p) || (hasTried[p] && !(write[p] == none && isUp && lock == 0 && CAN_TAKE_OVER(p))))
#define IS_ORPHANED(n) (!COPIES && hasLease[n] && life[n] == off && RUNS_NOW(1 - n) && isUp && lock == 0 && write[1 - n] == none \
    && HAS_LEASE(1 - n))

/* A process that runs renews its lease, and takes over what has ended, before much time passes. */
proctype Clock()
{
end:
    do
    :: d_step { MAY_TICK(0) && MAY_TICK(1) && (!COPIES || MAY_TICK(PROCESSES - 1)) ->
        orphaned = (IS_ORPHANED(0) || IS_ORPHANED(1) -> orphaned + 1 : 0);
        HOLDS(deadNodeIsReplaced, orphaned <= LEASE + STEADY + 1);
        for (i : 0 .. NODES - 1) {
            rest[i] = (rest[i] > -1 -> rest[i] - 1 : rest[i]);
            silence[i] = (isUp && silence[i] < LEASE -> silence[i] + 1 : silence[i])
        }
        for (i : 0 .. PROCESSES - 1) {
            age[i] = (age[i] < PATIENCE && !isFrozen[i] -> age[i] + 1 : age[i]);
            asking[i] = (asking[i] < PATIENCE && !isFrozen[i] && renewal[i] != idle -> asking[i] + 1 : asking[i]);
            steady[i] = (steady[i] < STEADY && !isFrozen[i] -> steady[i] + 1 : steady[i]);
            hasTried[i] = false
        }
        watched = (watched < LONGEST && life[PROCESSES - 1] == watching -> watched + 1 : watched);
        i = 0 }
    od
}

/* ---- Faults. ---- */

proctype Faults()
{
end:
    do
    :: d_step { isUp && outages < OUTAGES -> outages++; isUp = false; orphaned = 0 }
    /* A process that is not paused looks at the server every second: it notices the outage, and soon tries again. */
    :: d_step { !isUp ->
        isUp = true;
        for (i : 0 .. PROCESSES - 1) {
            steady[i] = (isPaused[i] -> steady[i] : 0);
            hasTried[i] = false
        }
        i = 0 }
    :: d_step { jumps < JUMPS -> jumps++; jump = JUMP; orphaned = 0 }
    od
}

/* What ends with a process: its memory and its open transaction, but not one that the server commits. */
inline clear(p)
{
    write[p] = none;
    attended[p] = 0;
    doubtful[p] = 0;
    client[p] = (client[p] == asked -> unsure : client[p]);
    renewal[p] = idle;
    asking[p] = 0;
    reply[p] = unanswered;
    lock = (transaction[p] == open -> 0 : lock);
    transaction[p] = (transaction[p] == open || transaction[p] == none -> none : adrift);
    hasTried[p] = false
}

/* [N3] A process becomes the node, with a new epoch, under the lock of the journal. Its former runs are queued again. */
inline register(p)
{
    epoch[NODE(p)]++;
    hasLease[NODE(p)] = true;
    rest[NODE(p)] = LEASE;
    setAt[NODE(p)] = jump;
    silence[NODE(p)] = 0;
    job = (job == running && jobNode == NODE(p) -> queued : job);
    life[p] = alive;
    ownEpoch[p] = epoch[NODE(p)];
    age[p] = 0;
    steady[p] = 0;
    estimate[p] = jump;
    reply[p] = unanswered
}

proctype Fate(byte p)
{
end:
    do
    :: d_step { RUNS_NOW(p) && pauses < PAUSES -> pauses++; isPaused[p] = true; orphaned = 0 }
    :: d_step { RUNS_NOW(p) && freezes < FREEZES -> freezes++; isPaused[p] = true; isFrozen[p] = true; orphaned = 0 }
    :: d_step { isPaused[p] -> isPaused[p] = false; isFrozen[p] = false }
    :: d_step { life[p] == alive && crashes < CRASHES ->
        crashes++;
        life[p] = off;
        isPaused[p] = false;
        isFrozen[p] = false;
        clear(p) }
    :: d_step { life[p] == off && p < NODES && restarts < RESTARTS && isUp && lock == 0 -> restarts++; register(p) }
    /* [N7] It begins again, or ends if its folder has a copy whose process is the node. */
    :: d_step { life[p] == replaced && !COPIES && isUp && lock == 0 -> register(p) }
    od
}

#if COPIES
/* [N4] A process in a copy of the folder watches the lease of the process that has the row. */
proctype Copy()
{
    do
    :: d_step { life[me] == off && isUp && lock == 0 && HAS_FORMER(0) -> life[me] = watching; isChanged = false; watched = 0 }
    :: d_step { life[me] == watching && isUp && isChanged -> life[me] = off } -> break
    :: d_step { life[me] != alive && !isChanged && isUp && lock == 0 && (!HAS_FORMER(0) || watched >= LONGEST) ->
        HOLDS(livingNodeIsNotReplaced, silence[0] > 1 || life[0] != alive || HAS_JUMPED);
        HOLDS(holderIsNotReplaced, life[0] != alive || !HAS_LEASE(0) || IS_FROZEN_CLOCK || HAS_JUMPED);
        register(me) } -> break
    od
}
#endif

/* ---- The connections of a process to the server. ---- */

/* What a transaction changes. */
inline apply(p)
{
    HOLDS(onlyTheOwnerWrites, ownEpoch[p] == epoch[NODE(p)] && hasLease[NODE(p)]);
    if
    :: content[p] == post ->
        rows[p]++;
        HOLDS(writeIsStoredOnce, rows[p] == 1)
    :: content[p] == admit && job == queued ->
        job = running;
        jobNode = NODE(p);
        jobRun++
    :: content[p] == finishRun && job == running && IS_RUN(p) ->
        HOLDS(onlyTheOwnerWrites, jobNode == NODE(p) && jobRun == contentRun[p]);
        job = (jobRun < RUNS -> queued : ended)
    :: content[p] == take ->
        HOLDS(livingNodeIsNotReplaced, silence[1 - NODE(p)] > 1);
        HOLDS(holderIsNotReplaced, life[1 - NODE(p)] != alive || !HAS_LEASE(1 - NODE(p)) || IS_FROZEN_CLOCK);
        TAKE_OVER_RUNS(1 - NODE(p));
        job = (job == running && jobNode == 1 - NODE(p) -> queued : job)
    :: else
    fi;
    lastCommit[NODE(p)] = number[p]
}

inline finish(p, result)
{
    lock = 0;
    reply[p] = (transaction[p] == adrift -> unanswered : result);
    transaction[p] = none;
    content[p] = none;
    contentRun[p] = 0
}

proctype Connections(byte p)
{
end:
    do
    /* [N5] The row is renewed if the epoch is still that of the process. A takeover that is being committed has locked it. */
    :: d_step { isUp && renewal[p] == sent && !IS_ROW_LOCKED(p) ->
        if
        :: MAY_RENEW(p) ->
            hasLease[NODE(p)] = true;
            rest[NODE(p)] = LEASE;
            setAt[NODE(p)] = jump;
            silence[NODE(p)] = 0;
            isChanged = isChanged || NODE(p) == 0 && COPIES > 0 && life[me] == watching;
            renewal[p] = renewed;
            answer[p] = jump
        :: else -> renewal[p] = refused
        fi }
    :: d_step { !isUp && (renewal[p] == sent || renewal[p] == renewed) -> renewal[p] = lost }
    /* The transaction is committed; the answer may be lost. */
    :: d_step { transaction[p] == committing || transaction[p] == adrift -> apply(p); finish(p, stored) }
    :: d_step { transaction[p] == committing && losses < LOSSES -> losses++; apply(p); finish(p, undone) }
    /* It is rolled back. The server ends one that is idle for long. */
    :: d_step { transaction[p] != none && (losses < LOSSES || transaction[p] == adrift) ->
        losses = (losses < LOSSES -> losses + 1 : losses);
        finish(p, undone) }
    :: d_step { transaction[p] == open && (!RUNS_NOW(p) || !isUp) -> finish(p, undone) }
    /* The connection of the process ends, and the server continues. */
    :: d_step { transaction[p] == committing && losses < LOSSES -> losses++; transaction[p] = adrift; reply[p] = undone }
    od
}

/* ---- The thread that renews the lease. ---- */

proctype Follower(byte p)
{
end:
    do
    :: d_step { RUNS_NOW(p) && renewal[p] == idle && !hasTried[p] -> renewal[p] = sent; asking[p] = 0 }
    /* [N6] The lease counts from when it was asked for. After a silence or a jump, the node takes over nothing for a while. */
    :: d_step { RUNS_NOW(p) && renewal[p] == renewed ->
        CALM_AFTER_SILENCE(p);
        if
        :: answer[p] != estimate[p] -> estimate[p] = answer[p]; CALM_AFTER_JUMP(p)
        :: else
        fi;
        age[p] = (AGE_AFTER_RENEWAL(p) < age[p] -> AGE_AFTER_RENEWAL(p) : age[p]);
        HOLDS(holderIsNotReplaced, !HAS_LEASE(p) || ownEpoch[p] == epoch[NODE(p)] || IS_FROZEN_CLOCK);
        asking[p] = 0;
        answer[p] = 0;
        hasTried[p] = true;
        renewal[p] = idle }
    :: d_step { RUNS_NOW(p) && renewal[p] == lost -> steady[p] = 0; asking[p] = 0; hasTried[p] = !isUp; renewal[p] = idle }
    /* [N7] Another process is the node. */
    :: d_step { RUNS_NOW(p) && renewal[p] == refused -> clear(p); life[p] = replaced }
    od
}

/* ---- The thread that writes. ---- */

/* The caller gets an error: its write was not made, or its outcome is unknown. */
inline giveUp(p)
{
    client[p] = (write[p] != post -> client[p] : (IS_IN_DOUBT(p) -> unsure : rejected));
    HOLDS(answerIsTrue, write[p] != post || client[p] != rejected || rows[p] == 0 && content[p] == none);
    doubtful[p] = 0;
    foundEpoch[p] = 0;
    foundCommit[p] = 0;
    write[p] = none
}

inline succeed(p)
{
    client[p] = (write[p] == post -> accepted : client[p]);
    HOLDS(answerIsTrue, write[p] != post || rows[p] == 1);
    attended[p] = (write[p] == admit && job == running && jobNode == NODE(p) && ownEpoch[p] == epoch[NODE(p)] -> jobRun : 
        (write[p] == finishRun -> 0 : attended[p]));
    doubtful[p] = 0;
    foundEpoch[p] = 0;
    foundCommit[p] = 0;
    write[p] = none
}

proctype Writer(byte p)
{
end:
    do
    :: d_step { IS_FREE(p) && HAS_LEASE(p) && client[p] == unasked && POSTS -> LOOK_EARLY(p); write[p] = post; client[p] = asked }
    :: d_step { IS_FREE(p) && HAS_LEASE(p) && job == queued && attended[p] == 0 && jobRun < RUNS ->
        LOOK_EARLY(p);
        write[p] = admit }
    :: d_step { IS_FREE(p) && HAS_LEASE(p) && attended[p] != 0 -> LOOK_EARLY(p); write[p] = finishRun }
    :: d_step { IS_FREE(p) && isUp && CAN_TAKE_OVER(p) -> LOOK_EARLY(p); write[p] = take }
    /* [N8] The journal is locked, also against an earlier transaction of this process; then the rows are read. */
    :: d_step { RUNS_NOW(p) && write[p] != none && reply[p] == unanswered && transaction[p] == none && isUp && lock == 0 ->
        lock = 1 + p;
        transaction[p] = open;
        number[p] = number[p] % 4 + 1;
        LOOK(p) }
    :: d_step { RUNS_NOW(p) && write[p] != none && transaction[p] == none && reply[p] == unanswered && !HAS_LEASE(p) ->
        giveUp(p) }
    :: d_step { RUNS_NOW(p) && write[p] != none && transaction[p] == open ->
        if
        :: !HAS_LEASE(p) -> finish(p, unanswered); giveUp(p)
        /* [N9] The epoch of another process fences this one. */
        :: else ->
            if
            :: !IS_THE_NODE(p) -> finish(p, unanswered); clear(p); reply[p] = unanswered; life[p] = replaced
            /* [N10] The former group of this process turns out to be stored. */
            :: else ->
                if
                :: IS_STORED(p) -> finish(p, unanswered); succeed(p)
                :: else ->
                    if
                    /* [N11] The takeover looks at the leases under the lock. */
                    :: write[p] == take && !CAN_TAKE_OVER(p) -> finish(p, unanswered); giveUp(p)
                    :: else ->
                        transaction[p] = committing;
                        content[p] = write[p];
                        contentRun[p] = attended[p];
                        doubtful[p] = number[p]
                    fi
                fi
            fi
        fi }
    :: d_step { RUNS_NOW(p) && reply[p] == stored -> reply[p] = unanswered; succeed(p) }
    :: d_step { RUNS_NOW(p) && reply[p] == undone -> reply[p] = unanswered; ON_UNKNOWN(p) }
    od
}

init
{
    atomic {
        if
        :: COPIES -> life[me] = off
        :: else
        fi;
        run Clock();
        run Faults();
        for (i : 0 .. PROCESSES - 1) {
            run Fate(i);
            run Connections(i);
            run Follower(i);
            run Writer(i)
        }
        i = 0;
#if COPIES
        run Copy()
#endif
    }
}
