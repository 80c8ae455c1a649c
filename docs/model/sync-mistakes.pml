/* Deliberate mistakes in sync.pml, as in finish-mistakes.pml. */

/* The checkpointer and the finalize queue sync the same open file at once, and one of them gets the report. */
#ifdef SYNCS_OVERLAP
#define LOCK(lock) skip
#define UNLOCK(lock) skip
#endif

/* A part whose sync has failed is synced again, and that is believed. */
#ifdef FAILED_SYNC_IS_REPEATED
#define IS_REFUSED(p) false
#endif

/* After a failed syncfs the next one is believed. */
#ifdef FAILED_SYNCFS_IS_FORGOTTEN
#define COUNT_FAILURE() skip
#define BREAK_LISTED(p) skip
#endif

/* A failed syncfs breaks the parts that it was called for, and no others. */
#ifdef FAILED_SYNCFS_BREAKS_ITS_PARTS_ONLY
#define COUNT_FAILURE() skip
#endif
