/*
 * sync.pml: which bytes are called durable when the disk fails and two threads sync the same parts.
 *
 * promotion.pml takes a sync as one step. This model takes it apart. Linux keeps the error of a failed write until a sync
 * reports it, to each open file once; the pages are clean from then on. fdatasync reports the errors of its file, syncfs
 * those of all files. Of two syncs of one open file that overlap, one gets the report.
 *
 * A label in brackets, such as [S3], is a line of steps.txt.
 */

/* ---- Bounds. ---- */

#ifndef ERRORS
#define ERRORS 1           /* writes of the kernel that fail */
#endif
#ifndef ROUNDS
#define ROUNDS 2           /* rounds of the checkpointer; the finalize queue has one */
#endif

#define PARTS 2
#define CHUNKS 2           /* writes to each part */
#define C(p, c) ((p) * CHUNKS + (c))

mtype = { none, dirty, safe, lost };

#ifdef CHECK_FILES_ONLY
#define FILES_ONLY true
#else
#define FILES_ONLY false
#endif

/* ---- The kernel. ---- */

mtype chunk[PARTS * CHUNKS] = none;
byte errors[PARTS];                 /* failed writes of the file, ... */
byte reported[PARTS];               /* ... and those of them that the service's descriptor was told of */
byte allErrors, allReported;        /* the same of the file system */
byte failed;

/* ---- The service. ---- */

byte written[PARTS];                /* chunks that were handed to the kernel */
byte durable[PARTS];                /* chunks that are called durable */
bool isBroken[PARTS];               /* a sync has failed: no byte, no sync, no promotion any more */
byte failuresBefore[PARTS];         /* failed syncs of the file system before the oldest chunk that is not durable */
byte failures;                      /* failed syncs of the file system */
bool isPromoted[PARTS];
byte partLock[PARTS], systemLock;   /* 1 + the thread that syncs */

byte i;                      /* scratch, within one d_step */

/* The properties' names, as in finish.pml: always 0. */
byte promiseIsTrue, fileIsTrue;
#define HOLDS(property, condition) assert(property || (condition))

#define IS_PENDING(p) (written[p] != durable[p])
#define IS_DIRTY(p) (IS_PENDING(p) && !isBroken[p])
#define IS_WHOLE(p) (written[p] == CHUNKS && !isPromoted[p])
#define ARE_NOT_DIRTY(p, n) ((n < 1 || chunk[C(p, 0)] != dirty) && (n < 2 || chunk[C(p, 1)] != dirty))
#define ARE_SAFE(p, n) ((n < 1 || chunk[C(p, 0)] == safe) && (n < 2 || chunk[C(p, 1)] == safe))

/* ---- What a deliberate mistake replaces. ---- */

#include "sync-mistakes.pml"        /* empty, unless a flag asks for one */

#ifndef LOCK
#define LOCK(lock) d_step { lock == 0 -> lock = 1 + me }
#define UNLOCK(lock) lock = 0
#endif
#ifndef IS_REFUSED
#define IS_REFUSED(p) isBroken[p]
#endif
#ifndef COUNT_FAILURE
#define COUNT_FAILURE() failures++
#endif
#ifndef BREAK_LISTED
#define BREAK_LISTED(p) isBroken[p] = true
#endif

/* ---- The kernel. ---- */

/* It writes what is dirty of one part, or fails to. */
proctype Kernel(byte p)
{
end:
    do
    :: d_step { chunk[C(p, 0)] == dirty || chunk[C(p, 1)] == dirty ->
        for (i : 0 .. CHUNKS - 1) { chunk[C(p, i)] = (chunk[C(p, i)] == dirty -> safe : chunk[C(p, i)]) }
        i = 0 }
    :: d_step { failed < ERRORS && (chunk[C(p, 0)] == dirty || chunk[C(p, 1)] == dirty) ->
        failed++;
        errors[p]++;
        allErrors++;
        for (i : 0 .. CHUNKS - 1) { chunk[C(p, i)] = (chunk[C(p, i)] == dirty -> lost : chunk[C(p, i)]) }
        i = 0 }
    od
}

/* ---- The service. ---- */

/* The disk queue of one part: a chunk is written at a time. */
proctype Lane(byte p)
{
    byte before;
end:
    do
    :: written[p] < CHUNKS && !isBroken[p] ->
        /* [S1] Which failed syncs of the file system the chunk comes after. */
        before = failures;
        d_step {
            failuresBefore[p] = (IS_PENDING(p) -> failuresBefore[p] : before);
            before = 0 };
        /* [S2] The write; then it is noted. */
        if
        :: isBroken[p]
        :: else ->
            chunk[C(p, written[p])] = dirty;
            written[p]++
        fi
    od
}

/* [S3] A sync has succeeded: what was written before it is durable, unless another sync has failed since that was written. */
inline noteDurable(p)
{
    seen = failures;
    d_step {
        isBroken[p] = IS_REFUSED(p) || (IS_PENDING(p) && failuresBefore[p] != seen);
        isDone[p] = !isBroken[p];
        durable[p] = (isDone[p] && count[p] > durable[p] -> count[p] : durable[p]);
        seen = 0 }
}

/* [S4] fdatasync. */
inline syncPart(p)
{
    LOCK(partLock[p]);
    if
    :: IS_REFUSED(p)
    :: else ->
        count[p] = written[p];
        ARE_NOT_DIRTY(p, count[p]);         /* it waits for what was written, */
        d_step { isError = (reported[p] != errors[p]); reported[p] = errors[p] };       /* and takes the report */
        if
        :: isError -> isError = false; isBroken[p] = true
        :: else -> noteDurable(p)
        fi
    fi;
    UNLOCK(partLock[p])
}

/* [S5] syncfs, for as many parts as are listed. */
inline syncFileSystem()
{
    LOCK(systemLock);
    d_step { count[0] = written[0]; count[1] = written[1] };
    ARE_NOT_DIRTY(0, count[0]) && ARE_NOT_DIRTY(1, count[1]);
    d_step { isError = (allReported != allErrors); allReported = allErrors };
    if
    :: isError -> COUNT_FAILURE()
    :: else
    fi;
    UNLOCK(systemLock);
    if
    :: isError && isListed[0] -> BREAK_LISTED(0)
    :: !isError && isListed[0] -> noteDurable(0)
    :: !isListed[0]
    fi;
    if
    :: isError && isListed[1] -> BREAK_LISTED(1)
    :: !isError && isListed[1] -> noteDurable(1)
    :: !isListed[1]
    fi;
    isError = false
}

/* 0: the checkpointer promises what could be synced. [S6] 1: the finalize queue makes a file of it. [S7] */
proctype Syncer(byte me)
{
    byte count[PARTS], seen, rounds;
    bool isListed[PARTS], isDone[PARTS], isError;
end:
    do
    :: d_step { rounds < (me == 0 -> ROUNDS : 1) && (me == 0 -> IS_DIRTY(0) || IS_DIRTY(1) : IS_WHOLE(0) || IS_WHOLE(1)) ->
            rounds++;
            isListed[0] = (me == 0 -> IS_DIRTY(0) : IS_WHOLE(0));
            isListed[1] = (me == 0 -> IS_DIRTY(1) : IS_WHOLE(1)) };
        if
        :: syncFileSystem()
        :: if
            :: isListed[0] -> syncPart(0)
            :: else
            fi;
            if
            :: isListed[1] -> syncPart(1)
            :: else
            fi
        fi;
        d_step {
            for (i : 0 .. PARTS - 1) {
                if
                :: isDone[i] && me == 0 -> HOLDS(promiseIsTrue, ARE_SAFE(i, count[i]) || FILES_ONLY)
                :: isDone[i] && me == 1 -> HOLDS(fileIsTrue, ARE_SAFE(i, CHUNKS)); isPromoted[i] = true
                :: else
                fi;
                isListed[i] = false;
                isDone[i] = false;
                count[i] = 0
            }
            i = 0 }
    od
}

init
{
    atomic {
        run Kernel(0);
        run Kernel(1);
        run Lane(0);
        run Lane(1);
        run Syncer(0);
        run Syncer(1)
    }
}
