/* Deliberate mistakes in lease.pml, as in finish-mistakes.pml. PATIENCE_OUTLASTS_THE_LEASE is among the bounds there. */

/* A node takes over as soon as it can reach the server again. */
#ifdef STEADY_TIME_IS_NOT_REQUIRED
#define IS_STEADY(p) true
#endif

/* A node that was stopped itself, and saw no fault of the server, takes over at once. */
#ifdef OWN_SILENCE_IS_NOT_COUNTED
#define CALM_AFTER_SILENCE(p) skip
#endif

/* A node takes over at once after a jump of the server's clock. */
#ifdef JUMP_IS_NOT_WAITED_OUT
#define CALM_AFTER_JUMP(p) skip
#endif

/* A lease has ended as soon as the server's clock says so. */
#ifdef ONE_CLOCK_DECIDES
#define ENDED_BY_ESTIMATE(n, p) true
#endif

/* A lease that ends later than that of any living node is waited for. */
#ifdef LEASE_OF_THE_FUTURE_IS_BELIEVED
#define IS_TOO_LONG(n, p) false
#endif

/* The lease counts from the answer to its renewal, which a stopped process reads late. */
#ifdef LEASE_COUNTS_FROM_THE_ANSWER
#define AGE_AFTER_RENEWAL(p) 0
#endif

/* A renewal does not look at the epoch. */
#ifdef RENEWAL_IGNORES_THE_EPOCH
#define MAY_RENEW(p) true
#endif

/* A commit trusts the clock of its process, and does not look at the epoch. */
#ifdef EPOCH_IS_NOT_CHECKED
#define IS_THE_NODE(p) true
#endif

/* The epoch is read before the lock, so a takeover can come between. */
#ifdef LOOK_BEFORE_THE_LOCK
#define LOOK_EARLY(p) foundEpoch[p] = epoch[NODE(p)]; foundCommit[p] = lastCommit[NODE(p)]
#define LOOK(p) skip
#define ON_UNKNOWN(p) LOOK_EARLY(p)
#endif

/* A takeover does not raise the epoch. */
#ifdef EPOCH_IS_NOT_RAISED
#define TAKE_OVER_RUNS(n) hasLease[n] = false
#endif

/* A group whose outcome is unknown runs again without a look at the last commit. */
#ifdef UNKNOWN_IS_REPEATED
#define IS_STORED(p) false
#endif

/* The caller of a group whose outcome is unknown gets a success. */
#ifdef UNKNOWN_IS_A_SUCCESS
#define ON_UNKNOWN(p) succeed(p)
#endif

/* The caller of a group whose outcome is unknown gets an error that says that nothing was stored. */
#ifdef UNKNOWN_IS_A_FAILURE
#define IS_IN_DOUBT(p) false
#endif

/* The end of a run counts for whatever run the job has. */
#ifdef RUNS_ARE_NOT_COUNTED
#define IS_RUN(p) true
#endif

/* A process in a copy of the data folder becomes the node at once. */
#ifdef COPY_REPLACES_AT_ONCE
#define HAS_FORMER(n) false
#endif
