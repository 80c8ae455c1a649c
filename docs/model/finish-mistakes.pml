/*
 * Deliberate mistakes in finish.pml, each behind a flag of its own. scripts/check models proves that the properties catch
 * every one of them. Each replaces a condition, a step or a process of the model; without a flag this file is empty.
 * It is included twice: for the conditions and steps first, then for the processes.
 */

#ifndef MISTAKEN_PROCESSES

/* The finish is sent although earlier events are on their way. */
#ifdef FINISH_AHEAD_OF_EVENTS
#define HELD_BACK(w, e) false
#endif

/* The finish is sent as soon as every earlier event is posted, acknowledged or not. */
#ifdef FINISH_BEHIND_POSTED_EVENTS
#define IS_UNPOSTED(w, e, n) (IS_AHEAD(w, e, n) && attempt[D(w, n)] == idle)
#define HELD_BACK(w, e) (isFinish[e] && ANY(IS_UNPOSTED, w, e))
#endif

/* A job joins a batch that is due, and the batch stays due. */
#ifdef JOIN_LEAVES_BATCH_DUE
#define REOPEN() batch[CURRENT] = (batch[CURRENT] == due -> due : open)
#endif

/* A retried job goes back to the batch that has finished without it. */
#ifdef RETRY_IN_THE_OLD_BATCH
#define REJOIN(j) batch[batchOf[j]] = open; owed[batchOf[j]]++
#endif

/* The first 2xx acknowledges the batch, whatever becomes of the other webhooks. */
#ifdef ANY_WEBHOOK_ACKNOWLEDGES
#define ALL_TOOK(remaining) true
#endif

/* An attempt settles also the request that came while it was under way. */
#ifdef ANY_ATTEMPT_SETTLES
#define SETTLES(d) true
#endif

/* A repetition that the webhook refuses takes back that it has accepted the finish. */
#ifdef LAST_OUTCOME_COUNTS
#define IS_OPEN(d) (delivery[d] != acknowledged)
#endif

/* A delivery is recorded as acknowledged when it is posted, before the answer. */
#ifdef ACKNOWLEDGE_ON_SENDING
#define ON_SENDING(d) acknowledge(d)
#endif

/* What is acknowledged is posted again, and acknowledged again. */
#ifdef ACKNOWLEDGE_AGAIN
#define AFTER_RECORD chosen
#define IS_NEW(d) true
#endif

/* After a restart a delivery is sent under another webhook-id. */
#ifdef ANOTHER_ID_AFTER_A_RESTART
#define KNOWS(d) (worked[d] > 0 && crashes == 0)
#endif

/* The start does not look for batches that became due before. */
#ifdef DUE_TIME_IN_MEMORY
bool isOverlooked;
#define LOOKS_AT_BATCH() (!isOverlooked)
#define FORGET_MORE() isOverlooked = (batches > 0 && batch[CURRENT] == due)
#endif

/* The start does not look for deliveries that were pending before. */
#ifdef OUTBOX_IN_MEMORY
bool isOverlooked[HOOKS * EVENTS];
#define LOOKS_AT_DELIVERY(d) (!isOverlooked[d])
#define FORGET_MORE() for (i : 0 .. HOOKS * EVENTS - 1) { isOverlooked[i] = (delivery[i] == pending) }
#endif

#ifdef ANSWER_BEFORE_COMMIT
bool isInMemory[JOBS];
#define FORGET_MORE() for (i : 0 .. JOBS - 1) { isInMemory[i] = false }
#endif

#ifdef FINISH_WITHOUT_RECHECK
bool isRead;
#define FORGET_MORE() isRead = false
#endif

#if defined(FINISH_THEN_DELIVERIES) || defined(FINISH_THEN_BATCH)
byte halfDone;          /* 1 + the batch */
#define FORGET_MORE() halfDone = 0
#endif

#else

/* The client is answered before the job is committed. */
#ifdef ANSWER_BEFORE_COMMIT
proctype Client(byte j)
{
end:
    do
    :: d_step { up && !told[j] -> told[j] = true; isInMemory[j] = true }
    :: d_step { up && isInMemory[j] -> isInMemory[j] = false; join(j); job[j] = outstanding }
    od
}
#endif

/* The keeper reads that a batch is due, and finishes it later without asking again. */
#ifdef FINISH_WITHOUT_RECHECK
proctype Keeper()
{
end:
    do
    :: d_step { up && batches > 0 && batch[CURRENT] == due && delayIsOver && !isRead -> isRead = true }
    :: d_step { up && isRead ->
        isRead = false;
        noteFinish(CURRENT);
        finishOf[CURRENT] = events;
        append(true);
        batch[CURRENT] = finished }
    od
}
#endif

/* The finish and its deliveries are two transactions. */
#ifdef FINISH_THEN_DELIVERIES
proctype Keeper()
{
end:
    do
    :: d_step { up && batches > 0 && batch[CURRENT] == due && delayIsOver && halfDone == 0 ->
        halfDone = 1 + CURRENT;
        noteFinish(CURRENT);
        finishOf[CURRENT] = events;
        isFinish[events] = true;
        events++;
        batch[CURRENT] = finished }
    :: d_step { up && halfDone > 0 -> address(finishOf[halfDone - 1], true); halfDone = 0 }
    od
}
#endif

/* The finish and the batch's own state are two transactions. */
#ifdef FINISH_THEN_BATCH
proctype Keeper()
{
end:
    do
    :: d_step { up && batches > 0 && batch[CURRENT] == due && delayIsOver && halfDone == 0 ->
        halfDone = 1 + CURRENT;
        noteFinish(CURRENT);
        finishOf[CURRENT] = events;
        append(true) }
    :: d_step { up && halfDone > 0 -> batch[halfDone - 1] = finished; halfDone = 0 }
    od
}
#endif

#endif
