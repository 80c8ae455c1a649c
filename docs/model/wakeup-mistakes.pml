/* Deliberate mistakes in wakeup.pml, as in finish-mistakes.pml. */

/* A ring while no task waits is lost. */
#ifdef RING_IS_NOT_KEPT
#define KEEP_RING(a) skip
#endif

/* The endpoint worker comes back, and the dispatcher does not look again. */
#ifdef COURIER_RETURNS_SILENTLY
#define RING_AT_THE_END() skip
#endif

/* The dispatcher and the batch keeper wait for rings only. */
#ifdef WAIT_WITHOUT_A_DEADLINE
#define SET_TIMER(a, is) skip
#endif

/* The endpoint worker takes what is pending, also what it is posting already. */
#ifdef UNDER_WAY_IS_TAKEN_AGAIN
#define IS_TAKEN(d) false
#endif

/* The writer rings before the commit instead of after it. */
#ifdef RING_BEFORE_THE_COMMIT
#define RING_FIRST(a) d_step { ring(a) };
#define COMMITTED(a) skip
#endif
