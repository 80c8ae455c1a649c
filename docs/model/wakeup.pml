/*
 * wakeup.pml: how sleeping tasks are woken: alarms, the dispatcher, the endpoint worker of one webhook, the batch finisher.
 *
 * finish.pml lets a step happen as soon as it is possible. This model shows that the program really takes it: no ring is
 * lost between a look and a wait, no delivery is posted twice at once, and nothing spins.
 *
 * A label in brackets, such as [K2], is a line of steps.txt.
 */

#ifndef DELIVERIES
#define DELIVERIES 3       /* the last one is a finish: it is held back by the others */
#endif
#ifndef AT_ONCE
#define AT_ONCE 2          /* attempts under way to one webhook */
#endif
#ifndef TRIES
#define TRIES 2            /* attempts in the retry schedule */
#endif
#ifndef FAULTS
#define FAULTS 1           /* reads of the outbox and commits of an attempt that fail */
#endif
#ifndef ENDS
#define ENDS 0             /* how often the batch's last job ends, with another job joining between */
#endif

mtype = { none, later, due, settled,    /* a delivery, or a batch: not there, its time is to come, has come, it is over */
    quiet, rung, waited };              /* an alarm */

/* ---- The database. ---- */

mtype delivery[DELIVERIES] = none;
byte tries[DELIVERIES];
mtype batch = none;

/* ---- Memory. ---- */

#define DISPATCH 0
#define MORE 1
#define FINISH 2
mtype alarm[3] = quiet;
bool hasTimer[3];                   /* a task waits with a deadline */
bool isTimed[DELIVERIES];           /* its time is among those that the dispatcher's deadline is the first of */

bool isTimedAnyway;                 /* the deadline is in a second: the database could not be read */

bool isRinging[3];                  /* the writer has committed and has not rung yet */
bool isOut;                         /* the endpoint worker */
bool isUnderWay[DELIVERIES];        /* to the endpoint worker's knowledge */
bool hasEnded[DELIVERIES];          /* and the endpoint worker has not noticed yet */
byte posts[DELIVERIES];             /* posts of it that really are under way */

byte faults, ends;
byte i, count;
byte nothingIsSleptOver, neverPostedTwiceAtOnce;         /* the properties' names, as in finish.pml: always 0 */
#define HOLDS(property, condition) assert(property || (condition))

#define IS_FREE (!isRinging[DISPATCH] && !isRinging[FINISH])    /* the writer: it rings before the next commit */
#define ALL_BEFORE_SETTLED ((delivery[0] == settled || DELIVERIES == 1) && (DELIVERIES < 3 || delivery[1] == settled))
#define ANY_UNDER_WAY (isUnderWay[0] || (DELIVERIES > 1 && isUnderWay[1]) || (DELIVERIES > 2 && isUnderWay[2]))
#define IS_DUE(d) (delivery[d] == due && (d < DELIVERIES - 1 || ALL_BEFORE_SETTLED))

#include "wakeup-mistakes.pml"      /* empty, unless a flag asks for one */

#ifndef KEEP_RING
#define KEEP_RING(a) alarm[a] = rung
#endif
#ifndef RING_AT_THE_END
#define RING_AT_THE_END() ring(DISPATCH)
#endif
#ifndef SET_TIMER
#define SET_TIMER(a, is) hasTimer[a] = is
#endif
#ifndef IS_TAKEN
#define IS_TAKEN(d) isUnderWay[d]
#endif
#ifndef COMMITTED
#define COMMITTED(a) isRinging[a] = true
#endif
#ifndef RING_FIRST
#define RING_FIRST(a)
#endif

/* [K1] A ring while no task waits is kept. */
inline ring(a)
{
    if
    :: alarm[a] == waited -> alarm[a] = quiet
    :: else -> KEEP_RING(a)
    fi
}

/* [K2] Returns at a ring, one that was kept included, or when the deadline has come. */
inline await(a)
{
    if
    :: d_step { alarm[a] == rung -> alarm[a] = quiet }
    :: d_step { alarm[a] == quiet -> alarm[a] = waited };
endWaits:
        alarm[a] != waited
    fi;
    hasTimer[a] = false
}

/* ---- Work. ---- */

/* [E2] An event is committed with its delivery. */
proctype Delivery(byte d)
{
    RING_FIRST(DISPATCH)
    d_step { IS_FREE && (d == 0 || delivery[d - 1] != none) -> delivery[d] = due; COMMITTED(DISPATCH) };
end:
    do
    /* Time passes: the next try is due. */
    :: d_step { delivery[d] == later -> delivery[d] = due }
    /* [D3] [D4] The attempt ends: acknowledged, given up or put off, by a commit. */
    :: d_step { posts[d] > 0 && !hasEnded[d] && IS_FREE ->
        posts[d]--;
        tries[d]++;
        delivery[d] = (tries[d] < TRIES -> later : settled);
        hasEnded[d] = true;
        COMMITTED(DISPATCH) }
    :: d_step { posts[d] > 0 && !hasEnded[d] && IS_FREE ->
        posts[d]--;
        delivery[d] = settled;
        hasEnded[d] = true;
        COMMITTED(DISPATCH) }
    /* [D6] The commit fails. */
    :: d_step { posts[d] > 0 && !hasEnded[d] && faults < FAULTS -> faults++; posts[d]--; hasEnded[d] = true }
    od
}

/* [K3] The writer rings after the commit, and before the next one. The task that asked for the commit may be ahead of it. */
proctype Writer()
{
end:
    do
    :: d_step { isRinging[DISPATCH] -> isRinging[DISPATCH] = false; ring(DISPATCH) }
    :: d_step { isRinging[FINISH] -> isRinging[FINISH] = false; ring(FINISH) }
    od
}

/* The deadline of a wait has come. */
proctype Timer()
{
end:
    do
    :: d_step { hasTimer[DISPATCH] && (isTimedAnyway
            || (isTimed[0] && delivery[0] != later)
            || (DELIVERIES > 1 && isTimed[1] && delivery[1] != later)
            || (DELIVERIES > 2 && isTimed[2] && delivery[2] != later)) ->
        hasTimer[DISPATCH] = false;
        isTimedAnyway = false;
        ring(DISPATCH) }
    :: d_step { hasTimer[FINISH] && batch == due -> hasTimer[FINISH] = false; ring(FINISH) }
    od
}

/* ---- Deliveries. ---- */

proctype Dispatcher()
{
    bool isAnyDue, isAnyLater;
end:
    do
    :: if
        /* [K4] A snapshot: is something due, and when is the next? */
        :: d_step {
            isAnyDue = false;
            isAnyLater = false;
            for (i : 0 .. DELIVERIES - 1) {
                isAnyDue = isAnyDue || IS_DUE(i);
                isTimed[i] = (delivery[i] == later);
                isAnyLater = isAnyLater || isTimed[i]
            }
            i = 0 }
        /* It cannot be read: again in a second. */
        :: d_step { faults < FAULTS -> faults++; isAnyDue = false; isAnyLater = true; isTimedAnyway = true }
        fi;
        /* [K5] An endpoint worker is sent, or the one that is out is rung. */
        if
        :: d_step { isAnyDue && isOut -> ring(MORE) }
        :: d_step { isAnyDue && !isOut -> isOut = true; alarm[MORE] = quiet }
        :: !isAnyDue
        fi;
        SET_TIMER(DISPATCH, isAnyLater);
        await(DISPATCH)
    od
}

proctype EndpointWorker()
{
end:
    do
    :: isOut ->
        do
        :: /* [D1] A snapshot of what is due, without those under way, as many as there is room for. */
            if
            :: d_step {
                count = 0;
                for (i : 0 .. DELIVERIES - 1) { count = count + isUnderWay[i] }
                for (i : 0 .. DELIVERIES - 1) {
                    if
                    :: IS_DUE(i) && !IS_TAKEN(i) && count < AT_ONCE ->
                        count++;
                        isUnderWay[i] = true;
                        posts[i]++;
                        HOLDS(neverPostedTwiceAtOnce, posts[i] == 1)
                    :: else
                    fi
                }
                count = 0;
                i = 0 }
            :: d_step { faults < FAULTS -> faults++ }
            fi;
            if
            :: ANY_UNDER_WAY ->
                /* [K6] The end of an attempt, or a ring. */
                if
                :: d_step { hasEnded[0] -> hasEnded[0] = false; isUnderWay[0] = false }
                :: d_step { DELIVERIES > 1 && hasEnded[1] -> hasEnded[1] = false; isUnderWay[1] = false }
                :: d_step { DELIVERIES > 2 && hasEnded[2] -> hasEnded[2] = false; isUnderWay[2] = false }
                :: d_step { alarm[MORE] == rung -> alarm[MORE] = quiet }
                fi
            :: !ANY_UNDER_WAY -> break
            fi
        od;
        /* [K7] Back: a ring for it may have come too late, so the dispatcher looks again. */
        isOut = false;
        d_step { RING_AT_THE_END() }
    od
}

/* ---- Batches. ---- */

#if ENDS
/* [B1] [B2] Jobs end and join. */
proctype Jobs()
{
end:
    do
    :: d_step { IS_FREE && batch == none && ends < ENDS -> ends++; batch = later; COMMITTED(FINISH) }
    :: d_step { IS_FREE && (batch == later || batch == due) && ends < ENDS -> batch = none }
    :: d_step { batch == later -> batch = due }
    od
}

proctype Keeper()
{
    bool isLater;
end:
    do
    /* [B3] */
    :: d_step { IS_FREE ->
            if
            :: batch == due -> batch = settled
            :: else
            fi };
        /* [K8] When will the next one be due? */
        isLater = (batch == later || batch == due);
        SET_TIMER(FINISH, isLater);
        await(FINISH)
    od
}
#endif

/* When nothing more can happen, nothing that was due is left. */
proctype Judge()
{
    byte d;
    timeout;
#if ENDS
    HOLDS(nothingIsSleptOver, batch == settled)
#else
    for (d : 0 .. DELIVERIES - 1) { HOLDS(nothingIsSleptOver, delivery[d] == settled) }
#endif
}

init
{
    byte n;
    atomic {
        run Writer();
        run Timer();
#if ENDS
        run Jobs();
        run Keeper();
#else
        for (n : 0 .. DELIVERIES - 1) { run Delivery(n) }
        run Dispatcher();
        run EndpointWorker();
#endif
        run Judge()
    }
}
