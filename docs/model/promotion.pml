/*
 * promotion.pml: from the bytes of a part to the file in its place.
 *
 * A label in brackets, such as [P9], is a line of steps.txt, which names the Swift function that does
 * the step.
 *
 * Files are there twice: as programs see them, and as they are on disk. The kernel writes to disk what it likes, whenever
 * it likes; a sync makes it write. A kill takes the memory of the service. A power loss also takes what is not on disk.
 */

/* ---- Bounds. scripts/check models sets them with -D. ---- */

#ifndef CRASHES
#define CRASHES 1          /* kills and power losses */
#endif
#ifndef FAULTS
#define FAULTS 1           /* syncs and renames that fail */
#endif
#ifndef OTHERS
#define OTHERS 1           /* actions of other programs */
#endif
#ifndef RETRIES
#define RETRIES 1          /* retries of the job by its client */
#endif
#ifndef STOPS
#define STOPS 1            /* cancellations, and promises that the part expirer forgets */
#endif
#ifndef CONFLICT
#define CONFLICT rename    /* on_conflict of the destination: rename, refuse (error) or replace */
#endif

#ifndef CHECKPOINTS
#define CHECKPOINTS 1      /* 0: no file takes long enough for a checkpoint */
#endif

#define CHUNKS 2           /* times that bytes come to one part */
#define PARTS 4            /* part files that are there at once; the identifier of one that is gone is used again */
#define NAMES (2 + OTHERS) /* a, a (1), a (2), ... */

/* Where a part is. */
#define NOWHERE 0
#define IN_PARTS 1
#define AT(n) (2 + (n))

mtype = {
    queued, attempting, promoting, succeeded, ended,        /* the job; ended: failed or cancelled */
    dirty, safe, lost,                                      /* bytes; lost: wrong on disk, right in memory, and clean */
    none, down, recovering, working,                        /* the service */
    begun, writing, whole, copied, synced, planned, committed, taken, replanned, renamed, placed, failing, missing,
    rename, refuse, replace };

/* ---- Durable: the database. ---- */

mtype job = queued;
byte promise;                       /* 1 + the part that the job can go on from */
byte plannedPart, plannedName;      /* of a job that is promoting or has succeeded */

/* ---- Files as programs see them, and as they are on disk. ---- */

byte seen[PARTS];
byte onDisk[PARTS];
bool isDoubtful[PARTS];             /* a sync of the folder has failed: the rename is not written until there is another */
mtype bytes[PARTS] = safe;
bool isPublic[PARTS];
bool isPublicOnDisk[PARTS];
bool other[NAMES];                  /* a file of another program */
bool otherOnDisk[NAMES];

/* ---- Memory of the service. ---- */

mtype service = working;
mtype stage = none;                 /* of the attempt and its promotion */
byte part, name, copy;
byte chunks;
bool isCarriedOn;                   /* a promotion from before the start */
bool isBroken;                      /* a sync of the part has failed */
bool stops;                         /* the attempt is asked to stop */
byte checkpoint;                    /* 1 + a part that is synced and is to be promised */
byte dropped;                       /* 1 + a part that is promised no longer and is to be removed */

/* ---- History. ---- */

byte crashes, faults, others, retries, stopped;
bool isDisturbed;                   /* another program has replaced our file, or changed our part */
bool isReplaced;                    /* it did so after the file was brought to its place */
byte i;                      /* scratch, within one d_step */

/* The properties' names, as in finish.pml: always 0. */
byte successIsDurable, oneFile, noFileWithoutSuccess, othersAreLeftAlone, promiseIsKept, promiseIsDurable, jobEnds,
    fileIsPublic, failureKeepsThePart, promiseIsTakenBack;
#define HOLDS(property, condition) assert(property || (condition))

#define ANY_PART(p, x) (p(0, x) || p(1, x) || p(2, x) || p(3, x))
#define IS_AT(k, n) (seen[k] == AT(n))
#define IS_FREE(n) (!other[n] && !ANY_PART(IS_AT, n))
#define IS_PLACED(p) (seen[p] > IN_PARTS)
#define WORKING (service == working)
#define FETCHING (stage == writing || stage == whole)
#define IN_TIME (!isBroken && !stops && checkpoint == 0)

/* ---- What a deliberate mistake replaces. ---- */

#include "promotion-mistakes.pml"   /* empty, unless a flag asks for one */

#ifndef SYNC_PARTS_FOLDER
#define SYNC_PARTS_FOLDER() onDisk[part] = seen[part]
#endif
#ifndef SYNC_BEFORE_PROMISE
#define SYNC_BEFORE_PROMISE() syncBytes(part)
#endif
#ifndef SYNC_BEFORE_PROMOTION
#define SYNC_BEFORE_PROMOTION() syncBytes(part)
#endif
#ifndef NOTE_FAILED_SYNC
#define NOTE_FAILED_SYNC() isBroken = true
#endif
#ifndef RECORD_PROMOTION
#define RECORD_PROMOTION() job = promoting
#endif
#ifndef CAN_RENAME
#define CAN_RENAME() (IS_FREE(name) || CONFLICT == replace)
#endif
#ifndef SET_PERMISSIONS
#define SET_PERMISSIONS() isPublic[part] = true
#endif
#ifndef IS_THERE
#define IS_THERE() (seen[part] == AT(name))
#endif
#ifndef TAKE_BACK
#define TAKE_BACK() seen[part] = IN_PARTS; onDisk[part] = IN_PARTS
#endif
#ifndef SYNC_FOLDER
#define SYNC_FOLDER() syncFolder()
#endif
#ifndef AFTER_FAILED_FOLDER_SYNC
#define AFTER_FAILED_FOLDER_SYNC committed
#endif
#ifndef LOSE_PROMISE
#define LOSE_PROMISE() promise = (promise == 1 + part -> 0 : promise)
#endif
#ifndef KEEP_PART
#define KEEP_PART() onDisk[part] = IN_PARTS; promise = 1 + part
#endif
#ifndef IS_LEFT_OVER
#define IS_LEFT_OVER(p) (promise != 1 + p && !(job == promoting && plannedPart == p))
#endif
#ifndef CARRIES_ON
#define CARRIES_ON (job == promoting)
#endif
#ifndef CAN_STOP
#define CAN_STOP (stage == begun || FETCHING)
#endif
#ifndef BEFORE_FORGETTING
#define BEFORE_FORGETTING() skip
#endif

/* ---- Parts of steps. ---- */

/* What was lost stays lost, and no error says so. */
inline syncBytes(p) { bytes[p] = (bytes[p] == dirty -> safe : bytes[p]) }

inline syncFolder()
{
    for (i : 0 .. PARTS - 1) {
        if
        :: IS_PLACED(i) && !isDoubtful[i] -> onDisk[i] = seen[i]; isPublicOnDisk[i] = isPublic[i]
        :: else
        fi
    }
    for (i : 0 .. NAMES - 1) { otherOnDisk[i] = other[i] }
    i = 0
}

/* The first free name; without on_conflict rename it is always the one that was asked for. */
inline chooseName()
{
    name = 0;
    do
    :: CONFLICT == rename && !IS_FREE(name) -> name++
    :: else -> break
    od
}

inline makePart(p)
{
    p = 0;
    do
    :: seen[p] != NOWHERE || onDisk[p] != NOWHERE || promise == 1 + p || dropped == 1 + p || checkpoint == 1 + p -> p++
    :: else -> break
    od;
    seen[p] = IN_PARTS;
    bytes[p] = safe;            /* no bytes */
    isPublic[p] = false;
    isPublicOnDisk[p] = false;
    isDoubtful[p] = false
}

inline removePart(p)
{
    HOLDS(promiseIsKept, promise != 1 + p && !(job == promoting && plannedPart == p && seen[p] == IN_PARTS));
    if
    :: seen[p] == IN_PARTS -> seen[p] = NOWHERE; onDisk[p] = NOWHERE    /* if it came back, the next start would remove it */
    :: else
    fi
}

inline loseMemory()
{
    service = down;
    stage = none;
    part = 0;
    name = 0;
    copy = 0;
    chunks = 0;
    isCarriedOn = false;
    isBroken = false;
    stops = false;
    checkpoint = 0;
    dropped = 0
}

/* ---- The attempt. ---- */

proctype Attempt()
{
end:
    do
    /* [P1] Admitted. */
    :: d_step { WORKING && job == queued && stage == none && dropped == 0 ->
        job = attempting;
        stage = begun;
        isBroken = false;
        stops = false;
        chunks = 0 }
    /* [P2] It goes on from the promised part, cut back to the promise ... */
    :: d_step { stage == begun && promise > 0 && seen[promise - 1] == IN_PARTS ->
        part = promise - 1;
        bytes[part] = safe;
        stage = writing }
    /* [P3] ... or begins another part: then the promise is taken back first, and the file removed afterwards. */
    :: d_step { stage == begun ->
        HOLDS(promiseIsDurable, promise == 0 || seen[promise - 1] == IN_PARTS || isDisturbed);
        dropped = promise;
        promise = 0;
        makePart(part);
        stage = writing }

    /* Bytes come. */
    :: d_step { stage == writing && chunks < CHUNKS && !isBroken -> chunks++; bytes[part] = dirty }
    /* [P4] The checkpointer syncs the part and the folder of parts ... */
    :: d_step { CHECKPOINTS && stage == writing && bytes[part] == dirty && !isBroken && checkpoint == 0 ->
        SYNC_BEFORE_PROMISE();
        SYNC_PARTS_FOLDER();
        checkpoint = 1 + part }
    /* ... or the sync fails: the bytes since the last one are lost, and the kernel calls them clean; ... */
    :: d_step { CHECKPOINTS && stage == writing && bytes[part] == dirty && !isBroken && checkpoint == 0 && faults < FAULTS ->
        faults++;
        bytes[part] = lost;
        NOTE_FAILED_SYNC() }
    /* [P5] ... and the offset is committed, unless the attempt is over. */
    :: d_step { checkpoint > 0 ->
        if
        :: job == attempting && part == checkpoint - 1 ->
            HOLDS(promiseIsDurable, isDisturbed || (onDisk[part] == IN_PARTS && (bytes[part] == safe || chunks > 1)));
            promise = checkpoint
        :: else
        fi;
        checkpoint = 0 }
    /* [P6] Every byte is there, and the digests are right. They are computed from memory, whatever is on disk. */
    :: d_step { stage == writing && chunks > 0 && dropped == 0 -> stage = whole }

    /* [P7] After a failed sync the attempt ends. What was promised is copied to another part; ... */
    :: d_step { FETCHING && isBroken && checkpoint == 0 && dropped == 0 && promise == 1 + part ->
        makePart(copy);
        onDisk[copy] = IN_PARTS;
        stage = copied }
    :: d_step { stage == copied ->
        dropped = promise;
        promise = 1 + copy;
        job = queued;
        stage = none }
    /* ... without a promise, or when that cannot be copied, the job begins at 0. */
    :: d_step { FETCHING && isBroken && checkpoint == 0 && dropped == 0 && (promise != 1 + part || faults < FAULTS) ->
        faults = (promise == 1 + part -> faults + 1 : faults);
        dropped = 1 + part;
        promise = 0;
        job = queued;
        stage = none }
    /* [P8] It is cancelled: the promise is taken back with the state, then the file is removed. */
    :: d_step { stops && CAN_STOP && dropped == 0 && checkpoint == 0 ->
        dropped = (stage == begun -> promise : 1 + part);
        promise = 0;
        job = ended;
        stage = none }

    /* ---- The promotion. From here on a stop comes too late. ---- */

    /* [P9] The finalize queue syncs the part, or that fails. */
    :: d_step { stage == whole && IN_TIME -> SYNC_BEFORE_PROMOTION(); stage = synced }
    :: d_step { stage == whole && IN_TIME && bytes[part] == dirty && faults < FAULTS ->
        faults++;
        bytes[part] = lost;
        NOTE_FAILED_SYNC() }
    /* [P10] It chooses a free name, and sets the permissions of a finished file. */
    :: d_step { stage == synced -> chooseName(); isPublic[part] = true; stage = planned }
    /* [P11] The promotion is committed: which part, which name. */
    :: d_step { stage == planned || stage == replanned ->
        RECORD_PROMOTION();
        plannedPart = part;
        plannedName = name;
        stage = committed }

    /* [P12] The permissions are set once more, as a power loss may have undone that, and the part is renamed ... */
    :: d_step { stage == committed && seen[part] == IN_PARTS && CAN_RENAME() ->
        HOLDS(othersAreLeftAlone, !other[name] || CONFLICT == replace);
        other[name] = false;
        SET_PERMISSIONS();
        seen[part] = AT(name);
        isDoubtful[part] = false;
        isReplaced = false;
        for (i : 0 .. PARTS - 1) { HOLDS(oneFile, i == part || !IS_PLACED(i)) }
        i = 0;
        stage = renamed }
    /* ... or its name is taken, [P13] and with on_conflict rename another one is chosen ... */
    :: d_step { stage == committed && seen[part] == IN_PARTS && !CAN_RENAME() ->
        stage = (CONFLICT == rename -> taken : failing) }
    :: d_step { stage == taken -> chooseName(); stage = replanned }
    /* ... or the disk refuses ... */
    :: d_step { stage == committed && seen[part] == IN_PARTS && faults < FAULTS -> faults++; stage = failing }
    /* [P14] ... or the part is in its place already, and is taken back to be renamed once more; or it is gone. */
    :: d_step { stage == committed && seen[part] != IN_PARTS ->
        if
        :: IS_THERE() -> TAKE_BACK()
        :: else -> stage = missing
        fi }

    /* [P15] The folder is synced; a sync that fails is repeated after another rename. */
    :: d_step { stage == renamed -> SYNC_FOLDER(); stage = placed }
    :: d_step { stage == renamed && faults < FAULTS ->
        faults++;
        isDoubtful[part] = (onDisk[part] != seen[part]);
        stage = AFTER_FAILED_FOLDER_SYNC }
    /* [P16] Success: state, event and deliveries, and the promise is redeemed. */
    :: d_step { stage == placed ->
        HOLDS(successIsDurable, isReplaced || (onDisk[part] == AT(name) && bytes[part] == safe));
        HOLDS(fileIsPublic, isReplaced || (isPublic[part] && isPublicOnDisk[part]));
        job = succeeded;
        promise = 0;
        stage = none }

    /* [P17] The promotion has failed. What there is is promised, but [R4] not after a start. */
    :: d_step { stage == failing ->
        if
        :: isCarriedOn
        :: else -> KEEP_PART()
        fi;
/* A limit: the part of a promotion that fails after a start is not promised. */
#ifdef CHECK_FAILED_RECOVERY
        HOLDS(failureKeepsThePart, promise == 1 + part);
#endif
        job = ended;
        stage = none }
    /* [P18] The part is gone, or another program has changed it: the job fetches it again. */
    :: d_step { stage == missing ->
        LOSE_PROMISE();
        HOLDS(promiseIsTakenBack, promise != 1 + part);
        job = queued;
        stage = none }
    od
}

/* ---- Other processes. ---- */

proctype Client()
{
end:
    do
    /* [P19] Cancel: by way of the attempt, or at once. While the job is promoting it is refused. */
    :: d_step { WORKING && stopped < STOPS && job == attempting && !stops -> stopped++; stops = true }
    :: d_step { WORKING && stopped < STOPS && job == queued && stage == none && dropped == 0 ->
        stopped++;
        dropped = promise;
        promise = 0;
        job = ended }
    /* [P20] Retry. */
    :: d_step { WORKING && retries < RETRIES && job == ended && stage == none -> retries++; job = queued }
    od
}

proctype PartExpirer()
{
end:
    do
    /* [G1] The promise of a job that does not run is forgotten, ... */
    :: d_step { WORKING && stopped < STOPS && promise > 0 && (job == queued || job == ended) && dropped == 0 ->
        stopped++;
        BEFORE_FORGETTING();
        dropped = promise;
        promise = 0 }
    /* [G2] ... and then the file is removed. */
    :: d_step { dropped > 0 -> removePart(dropped - 1); dropped = 0 }
    od
}

/* Another program, and one of the names. */
proctype OtherProgram(byte n)
{
end:
    do
    /* It makes a file of its own. */
    :: d_step { others < OTHERS && IS_FREE(n) -> others++; other[n] = true }
    /* It replaces ours. */
    :: d_step { others < OTHERS && ANY_PART(IS_AT, n) ->
        others++;
        isDisturbed = true;
        isReplaced = true;
        for (i : 0 .. PARTS - 1) {
            if
            :: seen[i] == AT(n) -> seen[i] = NOWHERE; onDisk[i] = NOWHERE
            :: else
            fi
        }
        i = 0;
        other[n] = true;
        otherOnDisk[n] = true }
    /* It removes the part, or changes it so that it is none of ours any more. */
    :: d_step { others < OTHERS && n == 0 && stage != none && stage != begun && seen[part] == IN_PARTS ->
        others++;
        isDisturbed = true;
        seen[part] = NOWHERE;
        onDisk[part] = NOWHERE }
    od
}

/* The kernel writes a part's place, its permissions or its bytes. */
proctype Kernel(byte p)
{
end:
    do
    :: d_step { onDisk[p] != seen[p] && !isDoubtful[p] -> onDisk[p] = seen[p] }
    :: d_step { isPublicOnDisk[p] != isPublic[p] -> isPublicOnDisk[p] = isPublic[p] }
    :: d_step { bytes[p] == dirty -> bytes[p] = safe }
    od
}

proctype Crash()
{
end:
    do
    /* A kill. */
    :: d_step { service != down && crashes < CRASHES -> crashes++; loseMemory() }
    /* A power loss. */
    :: d_step { service != down && crashes < CRASHES ->
        crashes++;
        loseMemory();
        for (i : 0 .. PARTS - 1) {
            seen[i] = onDisk[i];
            isDoubtful[i] = false;
            isPublic[i] = isPublicOnDisk[i];
            bytes[i] = (bytes[i] == dirty -> lost : bytes[i])
        }
        for (i : 0 .. NAMES - 1) {
            if
            :: ANY_PART(IS_AT, i) -> other[i] = false; otherOnDisk[i] = false
            :: else -> other[i] = otherOnDisk[i]
            fi
        }
        i = 0 }
    od
}

proctype Recovery()
{
end:
    do
    /* [R1] What was under way is queued again. */
    :: d_step { service == down ->
        HOLDS(successIsDurable, job != succeeded || isReplaced
            || (seen[plannedPart] == AT(plannedName) && bytes[plannedPart] == safe));
        job = (job == attempting -> queued : job);
        service = recovering }
    /* [R2] Parts without a promise are removed, [R3] and a promotion is carried on. */
    :: d_step { service == recovering ->
        for (i : 0 .. PARTS - 1) {
            if
            :: seen[i] == IN_PARTS && IS_LEFT_OVER(i) -> removePart(i)
            :: else
            fi
        }
        i = 0;
        if
        :: CARRIES_ON ->
            part = plannedPart;
            name = plannedName;
            isCarriedOn = true;
            stage = committed
        :: else
        fi;
        service = working }
    od
}

/* ---- The end: nothing more can happen. ---- */

proctype Judge()
{
    byte p;
    timeout;
    HOLDS(jobEnds, job == succeeded || job == ended);
    for (p : 0 .. PARTS - 1) { HOLDS(noFileWithoutSuccess, job == succeeded || !IS_PLACED(p)) }
}

init
{
    byte n;
    atomic {
        run Attempt();
        run Client();
        run PartExpirer();
        for (n : 0 .. 1) { run OtherProgram(n) }
        for (n : 0 .. PARTS - 1) { run Kernel(n) }
        run Crash();
        run Recovery();
        run Judge()
    }
}
