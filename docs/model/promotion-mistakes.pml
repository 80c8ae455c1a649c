/* Deliberate mistakes in promotion.pml, as in finish-mistakes.pml. */

/* The checkpointer promises bytes that are not synced. */
#ifdef PROMISE_BEFORE_THE_SYNC
#define SYNC_BEFORE_PROMISE() skip
#endif

/* The folder of parts is never synced, so that a promised part can lose its name. */
#ifdef PROMISE_WITHOUT_THE_NAME
#define SYNC_PARTS_FOLDER() skip
#endif

/* After a failed sync the attempt goes on, and the next sync is believed. */
#ifdef FAILED_SYNC_IS_BELIEVED
#define NOTE_FAILED_SYNC() skip
#endif

/* The promotion is committed before the part is synced. */
#ifdef PROMOTE_BEFORE_THE_SYNC
#define SYNC_BEFORE_PROMOTION() skip
#endif

/* A part that is gone stays promised. */
#ifdef LOST_PART_STAYS_PROMISED
#define LOSE_PROMISE() skip
#endif

/* The part is renamed without a committed promotion. */
#ifdef RENAME_WITHOUT_A_RECORD
#define RECORD_PROMOTION() skip
#endif

/* The rename replaces whatever has the name. */
#ifdef RENAME_OVER_OTHERS
#define CAN_RENAME() true
#endif

/* The permissions are set once, before the promotion is committed. */
#ifdef PERMISSIONS_ARE_SET_ONCE
#define SET_PERMISSIONS() skip
#endif

/* Success is committed before the folder is synced. */
#ifdef SUCCESS_BEFORE_THE_FOLDER
#define SYNC_FOLDER() skip
#endif

/* After a failed sync of the folder the job fails, with its file in place. */
#ifdef FAIL_AFTER_THE_RENAME
#define AFTER_FAILED_FOLDER_SYNC failing
#define KEEP_PART() promise = 1 + part
#endif

/* After a failed sync of the folder it is synced again, without another rename. */
#ifdef FOLDER_IS_SYNCED_AGAIN
#define AFTER_FAILED_FOLDER_SYNC renamed
#endif

/* After a start, a part that is missing is not looked for at its destination. */
#ifdef MISSING_PART_IS_FETCHED_AGAIN
#define IS_THERE() false
#endif

/* After a start, any file at the destination is taken for ours. */
#ifdef ANY_FILE_IS_OURS
#define IS_THERE() (seen[part] == AT(name) || other[name])
#define TAKE_BACK() stage = (seen[part] == AT(name) -> stage : renamed); isReplaced = false
#endif

/* The start removes every part that is not resume data, those of committed promotions included. */
#ifdef SWEEP_FORGETS_PROMOTIONS
#define IS_LEFT_OVER(p) (promise != 1 + p)
#endif

/* The start leaves a promotion as it is. */
#ifdef PROMOTION_IS_NOT_CARRIED_ON
#define CARRIES_ON false
#endif

/* A cancellation is carried out after the promotion is committed. */
#ifdef STOP_WHILE_PROMOTING
#define CAN_STOP (stage == begun || FETCHING || stage == committed || stage == renamed || stage == placed)
#endif

/* The part expirer removes the file first and forgets the promise afterwards. */
#ifdef REMOVE_BEFORE_FORGETTING
#define BEFORE_FORGETTING() removePart(promise - 1)
#endif

/* The part is renamed back into the folder of parts, and what is decided next is committed before that is synced. */
#ifdef TAKE_BACK_IS_NOT_SYNCED
#define TAKE_BACK() seen[part] = IN_PARTS
#define KEEP_PART() promise = 1 + part
#endif
